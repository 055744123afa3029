#include "kron/json/decide_request.h"
#include "lines.h"
#include "verbs.h"

namespace kron::cli {

int decide_lines() {
  ZoneDatabase zones;
  return answer_lines([&](std::string_view line) -> Result<std::string> {
    const Result<DecideRequest> request = parse_decide_request(line, zones);
    if (!request) return fail(request.error());
    return decision_json(request->job, decide(request->job, request->nominal));
  });
}

}  // namespace kron::cli
