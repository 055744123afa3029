#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kron/json/decide_request.h"

// A request that is accepted must be decided inside its window, and its logged form must give the same answer. One that
// is not must give an error object that is JSON itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static kron::ZoneDatabase zones;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const kron::Result<kron::DecideRequest> request = kron::parse_decide_request(text, zones);
  if (!request) {
    if (!kron::parse_json(error_json(request.error()))) std::abort();
    return 0;
  }
  const kron::Decision decision = decide(request->job, request->nominal);
  if (decision.chosen && (*decision.chosen < decision.window.start || *decision.chosen > decision.window.end)) {
    std::abort();
  }
  const std::string answer = decision_json(request->job, decision);
  if (!kron::parse_json(answer)) std::abort();
  const auto again = kron::parse_decide_request(decide_request_json(request->job, request->nominal), zones);
  if (!again || decision_json(again->job, decide(again->job, again->nominal)) != answer) std::abort();
  return 0;
}
