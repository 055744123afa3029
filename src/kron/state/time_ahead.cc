#include "kron/state/time_ahead.h"

#include <algorithm>
#include <chrono>

namespace kron {
namespace {

constexpr Seconds kSlack{60};  // a clock that is being corrected

}  // namespace

std::optional<Instant> time_ahead_in(const StateRecord& record, Instant now, Nanoseconds reach) {
  std::optional<Instant> latest;
  const auto note = [&](const std::optional<Instant>& time, Seconds allowed) {
    if (time && *time > now + kSlack + allowed) latest = std::max(latest.value_or(*time), *time);
  };
  note(record.last_chosen, Seconds(0));
  note(record.periods.first_seen, Seconds(0));
  note(record.periods.last_handled, std::chrono::ceil<Seconds>(reach));
  return latest;
}

}  // namespace kron
