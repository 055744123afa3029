#include <tuple>

#include "answer_text.h"
#include "daemon_client.h"
#include "flag_values.h"
#include "kron/base/rfc3339.h"
#include "lines.h"
#include "operate_verbs.h"
#include "why_text.h"

namespace kron::cli {

int show_why(const WhyOptions& options) {
  Target target("jobs");
  target.segment(options.name).segment("why");
  for (const auto& [name, flag, text] :
       {std::tuple("at", "--at", &options.at), {"period", "--period", &options.period}}) {
    if (text->empty()) continue;
    const Result<Instant> time = time_flag(*text, flag);
    if (!time) return refuse("why", time.error(), options.json);
    target.parameter(name, rfc3339(*time));
  }
  auto client = DaemonClient::open(options);
  const auto body = client ? client->get(target) : fail(client.error());
  return answered("why", options.json, body, [&](const Node& answer) {
    const auto now = parse_rfc3339(text_in(answer, "now"));
    print_why(answer, now ? screen_times(options.times, *now) : screen_times(options.times));
  });
}

}  // namespace kron::cli
