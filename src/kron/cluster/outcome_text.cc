#include "kron/cluster/outcome_text.h"

#include "kron/base/rfc3339.h"
#include "kron/json/run_usage.h"
#include "kron/json/writer.h"

namespace kron::cluster {
namespace {

void say(JsonWriter& out, std::string_view name, std::string_view text) {
  if (!text.empty()) out.member(name, text);
}

}  // namespace

std::string print(const OutcomeText& outcome) {
  JsonWriter out;
  out.begin_map()
      .member("job", outcome.job)
      .member("host", outcome.host)
      .member("state", outcome.is_running ? "running" : "ended")
      .member("outcome", outcome.outcome ? name_of(*outcome.outcome) : kPassedOverWord);
  say(out, "reason", name_of(outcome.reason));
  say(out, "clause", outcome.clause);
  say(out, "detail", outcome.detail);
  out.member("trigger", name_of(outcome.trigger));
  if (outcome.period) out.member("periodId", rfc3339(*outcome.period));
  if (outcome.chosen) out.member("chosenTime", rfc3339(*outcome.chosen));
  say(out, "runId", outcome.run_id);
  if (!outcome.is_running && outcome.outcome == Outcome::executed) {
    out.key("exitCode");
    if (outcome.exit_code) {
      out.integer(*outcome.exit_code);
    } else {
      out.null();
    }
  }
  if (outcome.failed) out.key("failed").boolean(*outcome.failed);
  if (outcome.attempts) out.key("attempts").integer(*outcome.attempts);
  if (outcome.output_bytes) out.key("outputBytes").integer(static_cast<std::int64_t>(*outcome.output_bytes));
  if (outcome.used) write_usage(out, *outcome.used);
  if (outcome.passed_over) {
    out.key("passedOver").begin_map().key("count").integer(static_cast<std::int64_t>(outcome.passed_over->count));
    out.member("first", rfc3339(outcome.passed_over->first)).member("last", rfc3339(outcome.passed_over->last));
    out.end_map();
  }
  out.end_map();
  return out.take();
}

std::string lost_writes_text(std::string_view host, std::uint64_t seen) {
  JsonWriter out;
  out.begin_map()
      .member("event", "lost_writes")
      .member("host", host)
      .key("seen")
      .integer(static_cast<std::int64_t>(seen));
  out.end_map();
  return out.take();
}

}  // namespace kron::cluster
