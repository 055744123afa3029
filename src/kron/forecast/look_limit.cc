#include "kron/forecast/look_limit.h"

#include "kron/forecast/period_walk.h"

namespace kron {
namespace {

// A job whose periods are counted costs something even when it has none: by the days that are looked through.
constexpr std::int64_t kDaysPerPeriod = 32;

}  // namespace

bool LookBudget::reserve(std::span<const jobs::JobDefinition> definitions, Instant from, Instant until) {
  if (limit_.periods == LookLimit::kNone) return true;
  const auto days = std::chrono::duration_cast<std::chrono::days>(until - from).count();
  const auto for_each = static_cast<std::uint64_t>(1 + days / kDaysPerPeriod);
  if (!spend(for_each * definitions.size())) return false;
  for (const jobs::JobDefinition& definition : definitions) {
    if (!can_start(definition)) continue;
    const TimeSpan span = nominal_span(definition.job.window, {from, until});
    if (!spend(definition.job.schedule.count_between(span.from, span.until - Seconds(1), definition.job.zone))) {
      return false;
    }
  }
  return true;
}

Status LookBudget::status() const {
  if (is_spent_) {
    return fail(Code::invalid,
                "this would look at more than " + std::to_string(limit_.periods) +
                    " periods; ask for a shorter time, or for fewer jobs, or let `kron simulate` answer, which has no "
                    "such limit",
                "for");
  }
  if (is_unwanted_) return fail(Code::unreachable, "nobody waits for this answer any more");
  return {};
}

}  // namespace kron
