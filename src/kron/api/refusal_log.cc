#include "kron/api/refusal_log.h"

#include <utility>

namespace kron::api {

std::optional<std::int64_t> RefusalLog::to_tell(Kind& kind) {
  const std::lock_guard lock(mutex_);
  ++kind.untold;
  const Nanoseconds present = clock_.monotonic();
  if (kind.told && present - *kind.told < Seconds(1)) return std::nullopt;
  kind.told = present;
  return std::exchange(kind.untold, 0);
}

void RefusalLog::not_let_in(std::string_view reason, std::string_view id) {
  const auto count = to_tell(not_let_in_);
  if (count) log_.warning("token_refused", {{"reason", reason}, {"id", id}, {"count", *count}});
}

void RefusalLog::not_allowed(std::string_view by, std::string_view request, std::string_view needs) {
  const auto count = to_tell(not_allowed_);
  if (count) {
    log_.warning("access_refused", {{"by", by}, {"request", request}, {"needs", needs}, {"count", *count}});
  }
}

}  // namespace kron::api
