#include "kron/core/allowed_share.h"

#include <algorithm>
#include <vector>

namespace kron {
namespace {

constexpr int kMinutesOfDay = 1440;

// Adds up the chance of being drawn over stretches of the window that come in ascending order; stretches that touch are
// one, because each end costs an evaluation of the distribution.
class Sum {
 public:
  Sum(const Job& job, const Window& window)
      : job_(job),
        start_(epoch_seconds(window.start)),
        slots_(static_cast<double>((window.end - window.start).count() + 1)) {}

  // The seconds [from, to) are allowed.
  void add(std::int64_t from, std::int64_t to) {
    if (from != to_) {
      flush();
      from_ = from;
    }
    to_ = to;
  }

  double total() {
    flush();
    return std::clamp(total_, 0.0, 1.0);
  }

 private:
  void flush() {
    if (from_ < to_) total_ += chance_before(to_) - chance_before(from_);
    from_ = to_;
  }
  [[nodiscard]] double chance_before(std::int64_t second) const {
    return job_.distribution.chance_below(static_cast<double>(second - start_) / slots_, job_.window);
  }

  const Job& job_;
  std::int64_t start_;
  double slots_;
  std::int64_t from_ = 0;
  std::int64_t to_ = 0;
  double total_ = 0;
};

struct Stretch {  // seconds of the day [from, to)
  std::int64_t from;
  std::int64_t to;
};

std::vector<Stretch> allowed_stretches_of_day(const Constraints& constraints) {
  std::vector<Stretch> stretches;
  // Only `between` tells the minutes of an hour apart.
  const bool by_minute = !constraints.only.between.empty() || !constraints.avoid.between.empty();
  const int step = by_minute ? 1 : 60;
  for (int minute = 0; minute < kMinutesOfDay; minute += step) {
    if (!constraints.allow_minute(minute)) continue;
    const std::int64_t from = minute * 60;
    if (stretches.empty() || stretches.back().to != from) stretches.push_back({from, from});
    stretches.back().to = from + step * 60;
  }
  return stretches;
}

// Calls see(from, to) for each stretch of seconds [from, to) of the window that the constraints allow, in ascending
// order, until it answers false.
template <class See>
void each_allowed(const Constraints& constraints, const TimeZone& zone, const Window& window, See see) {
  const std::vector<Stretch> stretches = allowed_stretches_of_day(constraints);
  const std::int64_t from = epoch_seconds(window.start);
  const std::int64_t to = epoch_seconds(window.end) + 1;
  // Day by day on the wall clock, in the parts of the window where the zone's offset does not change.
  for (std::size_t i = zone.segment_index(window.start); i < zone.segments().size(); ++i) {
    const ZoneSegment& segment = zone.segments()[i];
    if (segment.start >= to) return;
    const std::int64_t local_from = std::max(from, segment.start) + segment.offset;
    const std::int64_t local_to = std::min(to, segment.end) + segment.offset;
    for (std::int64_t day = std::chrono::floor<std::chrono::days>(Seconds(local_from)).count();
         day * kSecondsPerDay < local_to; ++day) {
      if (!constraints.allow_date(date_of(day))) continue;
      const std::int64_t midnight = day * kSecondsPerDay;
      for (const Stretch& stretch : stretches) {
        const std::int64_t first = std::max(local_from, midnight + stretch.from);
        const std::int64_t end = std::min(local_to, midnight + stretch.to);
        if (first < end && !see(first - segment.offset, end - segment.offset)) return;
      }
    }
  }
}

bool allow_nothing(const Constraints& constraints, const Job& job, const Window& window) {
  bool nothing = true;
  each_allowed(constraints, job.zone, window, [&](std::int64_t, std::int64_t) { return nothing = false; });
  return nothing;
}

// The chance that every draw of the budget is refused, each with chance `refused`.
double none_of_the_budget(double refused) {
  static_assert(kSamplingBudget == 64);
  double chance = refused;
  for (int i = 0; i < 6; ++i) chance *= chance;
  return chance;
}

}  // namespace

AllowedShare allowed_share(const Job& job, Instant nominal) {
  if (job.constraints.empty()) return {};
  const Window window = window_of(job.window, nominal);
  if (window.start == window.end) {
    const bool allowed = job.constraints.allow(job.zone.to_civil(window.start));
    return allowed ? AllowedShare{1, 0} : AllowedShare{0, 1};
  }
  Sum sum(job, window);
  each_allowed(job.constraints, job.zone, window, [&](std::int64_t from, std::int64_t to) {
    sum.add(from, to);
    return true;
  });
  const double share = sum.total();
  return {share, none_of_the_budget(1 - share)};
}

std::vector<Window> allowed_spans(const Job& job, Instant nominal, std::size_t most) {
  std::vector<Window> spans;
  const Window window = window_of(job.window, nominal);
  each_allowed(job.constraints, job.zone, window, [&](std::int64_t from, std::int64_t to) {
    const Window span{instant_of(from), instant_of(to - 1)};
    if (!spans.empty() && spans.back().end + Seconds(1) == span.start) {
      spans.back().end = span.end;  // the days of a window touch
    } else if (spans.size() < most) {
      spans.push_back(span);
    } else {
      return false;
    }
    return true;
  });
  return spans;
}

std::optional<std::string> excluded_by(const Job& job, Instant nominal) {
  if (job.constraints.empty()) return std::nullopt;
  const Window window = window_of(job.window, nominal);
  if (!allow_nothing(job.constraints, job, window)) return std::nullopt;
  for (const ConstraintSet& kind : kinds_of(job.constraints.avoid)) {
    const Constraints alone{.only = {}, .avoid = kind};
    if (allow_nothing(alone, job, window)) return summary_of(alone);
  }
  for (const ConstraintSet& kind : kinds_of(job.constraints.only)) {
    const Constraints alone{.only = kind, .avoid = {}};
    if (allow_nothing(alone, job, window)) return summary_of(alone);
  }
  return summary_of(job.constraints);
}

}  // namespace kron
