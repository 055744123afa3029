#include <algorithm>

#include "kron/core/schedule.h"
#include "kron/core/schedule_wall.h"

namespace kron {
namespace {

// Two zones, or two times of one zone, differ by less; a segment this far from a match cannot hold it.
constexpr std::int64_t kBeyondAnyOffset = 3 * kSecondsPerDay;

// Time is cut into segments of constant offset; inside one, the wall clock runs straight and a match is found in local
// seconds. The DST rule then only decides which local seconds a segment may answer for, and whether the first instant
// of a segment stands for a match that the jump before it swallowed.
class ZonedSchedule {
 public:
  ZonedSchedule(const Schedule& schedule, const TimeZone& zone)
      : schedule_(schedule), zone_(zone), segments_(zone.segments()) {}

  // The smallest nominal time ≥ `from`.
  [[nodiscard]] std::optional<std::int64_t> first_from(std::int64_t from) const {
    std::size_t i = zone_.segment_index(instant_of(from));
    if (from == segments_[i].start && has_match(swallowed_before(i))) return from;
    LocalSeconds searched_from = std::max(from + segments_[i].offset, lower(i));
    LocalSeconds match = first_local_from(schedule_, searched_from);
    while (match >= upper(i)) {
      if (i + 1 == segments_.size() || segments_[i].end > epoch_seconds(kLastInstant)) return std::nullopt;
      ++i;
      // Nothing matches in [searched_from, match), so one search serves all that begins in there.
      const LocalSpan swallowed = swallowed_before(i);
      if (swallowed.from < searched_from ? has_match(swallowed) : swallowed.holds(match)) return segments_[i].start;
      if (lower(i) < searched_from || lower(i) > match) {
        searched_from = lower(i);
        match = first_local_from(schedule_, searched_from);
      } else if (match == kNoneLater) {
        return std::nullopt;
      } else {
        i = std::max(i, zone_.segment_index(instant_of(match - kBeyondAnyOffset)));
      }
    }
    return match - segments_[i].offset;
  }

  // The greatest nominal time ≤ `to`.
  [[nodiscard]] std::optional<std::int64_t> last_to(std::int64_t to) const {
    std::size_t i = zone_.segment_index(instant_of(to));
    LocalSeconds searched_to = std::min(to + segments_[i].offset, upper(i) - 1);
    LocalSeconds match = last_local_to(schedule_, searched_to);
    while (match < lower(i)) {
      if (swallowed_before(i).holds(match)) return segments_[i].start;
      if (i == 0 || segments_[i].start < epoch_seconds(kFirstInstant)) return std::nullopt;
      --i;
      if (upper(i) - 1 > searched_to || upper(i) - 1 < match) {
        searched_to = upper(i) - 1;
        match = last_local_to(schedule_, searched_to);
      } else if (match == kNoneEarlier) {
        return std::nullopt;
      } else {
        i = std::min(i, zone_.segment_index(instant_of(match + kBeyondAnyOffset)));
      }
    }
    return match - segments_[i].offset;
  }

  [[nodiscard]] std::uint64_t count(std::int64_t first, std::int64_t last) const {
    std::uint64_t found = 0;
    const std::size_t end = zone_.segment_index(instant_of(last));
    for (std::size_t i = zone_.segment_index(instant_of(first)); i <= end; ++i) {
      const ZoneSegment& segment = segments_[i];
      const LocalSeconds from = std::max(lower(i), first + segment.offset);
      const LocalSeconds to = std::min(upper(i), last + 1 + segment.offset);
      found += count_local(schedule_, from, to);
      // A match of its own at the segment's first instant is the same period as the one the gap adds there.
      if (segment.start >= first && has_match(swallowed_before(i)) && !has_match({lower(i), lower(i) + 1})) ++found;
    }
    return found;
  }

 private:
  // The local seconds [lower, upper) segment i answers for: all it shows, less the pass of a repeated stretch that
  // the rule leaves to its neighbour.
  [[nodiscard]] LocalSeconds lower(std::size_t i) const {
    const bool second_pass_dropped = schedule_.dst.overlap == DstRule::Overlap::first && i > 0;
    const std::int32_t offset = segments_[i].offset;
    return segments_[i].start + (second_pass_dropped ? std::max(offset, segments_[i - 1].offset) : offset);
  }
  [[nodiscard]] LocalSeconds upper(std::size_t i) const {
    const bool first_pass_dropped = schedule_.dst.overlap == DstRule::Overlap::second && i + 1 < segments_.size();
    const std::int32_t offset = segments_[i].offset;
    return segments_[i].end + (first_pass_dropped ? std::min(offset, segments_[i + 1].offset) : offset);
  }

  // The local seconds [from, to) that the jump into segment i skips and for which the rule makes up at the segment's
  // first instant; empty when there are none.
  struct LocalSpan {
    LocalSeconds from;
    LocalSeconds to;

    [[nodiscard]] bool holds(LocalSeconds local) const { return local >= from && local < to; }
  };
  [[nodiscard]] LocalSpan swallowed_before(std::size_t i) const {
    const LocalSeconds shown_from = segments_[i].start + segments_[i].offset;
    if (schedule_.dst.gap != DstRule::Gap::run || i == 0) return {shown_from, shown_from};
    return {std::min(shown_from, segments_[i].start + segments_[i - 1].offset), shown_from};
  }
  [[nodiscard]] bool has_match(LocalSpan span) const {
    return span.from < span.to && first_local_from(schedule_, span.from) < span.to;
  }

  const Schedule& schedule_;
  const TimeZone& zone_;
  std::span<const ZoneSegment> segments_;
};

// The instants in which the schedule may have nominal times, both included.
struct Bounds {
  std::int64_t first;
  std::int64_t last;
};

Bounds bounds_of(const Schedule& schedule) {
  return {epoch_seconds(std::max(kFirstInstant, schedule.not_before.value_or(kFirstInstant))),
          epoch_seconds(std::min(kLastInstant, schedule.not_after.value_or(kLastInstant)))};
}

bool has_nominal_times(const Schedule& schedule) {
  return schedule.kind == Schedule::Kind::fields ||
         (schedule.kind == Schedule::Kind::every && schedule.every >= Seconds(1));
}

}  // namespace

std::optional<Instant> Schedule::next_after(Instant t, const TimeZone& zone) const {
  const Bounds bounds = bounds_of(*this);
  if (!has_nominal_times(*this) || epoch_seconds(t) >= bounds.last) return std::nullopt;
  const std::int64_t from = std::max(epoch_seconds(t) + 1, bounds.first);
  std::optional<std::int64_t> found;
  if (kind == Kind::every) {
    const std::int64_t length = every.count();
    found = (from / length + (from % length == 0 ? 0 : 1)) * length;
  } else {
    found = ZonedSchedule(*this, zone).first_from(from);
  }
  if (!found || *found > bounds.last) return std::nullopt;
  return instant_of(*found);
}

std::optional<Instant> Schedule::at_or_before(Instant t, const TimeZone& zone) const {
  const Bounds bounds = bounds_of(*this);
  if (!has_nominal_times(*this)) return std::nullopt;
  const std::int64_t to = std::min(epoch_seconds(t), bounds.last);
  if (to < bounds.first) return std::nullopt;
  std::optional<std::int64_t> found;
  if (kind == Kind::every) {
    found = to - to % every.count();
  } else {
    found = ZonedSchedule(*this, zone).last_to(to);
  }
  if (!found || *found < bounds.first) return std::nullopt;
  return instant_of(*found);
}

std::uint64_t Schedule::count_between(Instant first, Instant last, const TimeZone& zone) const {
  const Bounds bounds = bounds_of(*this);
  const std::int64_t from = std::max(epoch_seconds(first), bounds.first);
  const std::int64_t to = std::min(epoch_seconds(last), bounds.last);
  if (!has_nominal_times(*this) || from > to) return 0;
  if (kind == Kind::every) {
    const std::int64_t length = every.count();
    const std::int64_t before = from == 0 ? -1 : (from - 1) / length;  // the epoch itself is a multiple
    return static_cast<std::uint64_t>(to / length - before);
  }
  return ZonedSchedule(*this, zone).count(from, to);
}

}  // namespace kron
