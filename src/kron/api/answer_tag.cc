#include "kron/api/answer_tag.h"

namespace kron::api {

// Everything that a list of jobs tells changes with an event: starts, ends, outcomes, pauses. Their ids grow from one
// krond to the next.
std::string tag_of_jobs(Parts& parts, const Call& call, Seconds slot) {
  const std::int64_t number = epoch_seconds(now(parts.clock)) / slot.count();
  return std::to_string(parts.scheduler.generation()) + "-" + std::to_string(parts.events.last_id()) + "-" +
         std::to_string(number) + "-" + std::to_string(call.request.principal.permissions);
}

}  // namespace kron::api
