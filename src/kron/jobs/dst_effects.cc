#include "kron/jobs/dst_effects.h"

#include <algorithm>
#include <optional>

namespace kron::jobs {
namespace {

constexpr std::uint32_t kEveryHour = 0xFFFFFF;

// True when a wall clock that jumps by `jump` seconds shows the same minutes as before: a job of every hour goes on at
// the same distance. Any jump of whole hours; half an hour for */5, but not for 0.
bool keeps_distance(const Schedule& schedule, std::int64_t jump) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kMinutes = 60;
  if (schedule.hours != kEveryHour || jump % kMinute != 0) return false;
  const std::int64_t shift = ((jump / kMinute) % kMinutes + kMinutes) % kMinutes;
  if (shift == 0) return true;
  constexpr std::uint64_t kAll = (std::uint64_t{1} << kMinutes) - 1;
  const std::uint64_t moved = (schedule.minutes << shift | schedule.minutes >> (kMinutes - shift)) & kAll;
  return moved == schedule.minutes;
}

// The wall-clock times [first, end) that match, as if no clock ever changed: local seconds read as UTC.
struct WallTimes {
  LocalSeconds first;
  std::uint64_t count;
};
std::optional<WallTimes> wall_times(const Schedule& schedule, LocalSeconds first, LocalSeconds end) {
  const TimeZone utc;
  const std::optional<Instant> match = schedule.next_after(instant_of(first - 1), utc);
  if (!match || epoch_seconds(*match) >= end) return std::nullopt;
  return WallTimes{epoch_seconds(*match), schedule.count_between(instant_of(first), instant_of(end - 1), utc)};
}

std::optional<DstEffect> effect_of(const Schedule& schedule, std::int64_t change, std::int64_t before,
                                   std::int64_t after) {
  if (before == after || keeps_distance(schedule, after - before)) return std::nullopt;
  const auto effect = [&](DstEffect::Kind kind, const WallTimes& times) {
    return DstEffect{kind, civil_of(times.first), times.count, instant_of(change)};
  };
  if (after > before) {
    const std::optional<WallTimes> lost = wall_times(schedule, change + before, change + after);
    if (!lost) return std::nullopt;
    const bool runs = schedule.dst.gap == DstRule::Gap::run;
    return effect(runs ? DstEffect::Kind::moved : DstEffect::Kind::dropped, *lost);
  }
  if (schedule.dst.overlap != DstRule::Overlap::both) return std::nullopt;
  const std::optional<WallTimes> twice = wall_times(schedule, change + after, change + before);
  if (!twice) return std::nullopt;
  return effect(DstEffect::Kind::doubled, *twice);
}

}  // namespace

std::vector<DstEffect> dst_effects(const Job& job, Instant from, Instant until) {
  std::vector<DstEffect> effects;
  if (job.schedule.kind != Schedule::Kind::fields) return effects;
  const auto segments = job.zone.segments();
  for (std::size_t i = job.zone.segment_index(from) + 1;
       i < segments.size() && segments[i].start <= epoch_seconds(until); ++i) {
    const auto effect = effect_of(job.schedule, segments[i].start, segments[i - 1].offset, segments[i].offset);
    if (effect) effects.push_back(*effect);
  }
  return effects;
}

}  // namespace kron::jobs
