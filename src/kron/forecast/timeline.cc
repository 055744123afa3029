#include "kron/forecast/timeline.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "kron/forecast/period_walk.h"
#include "kron/forecast/timeline_lanes.h"

namespace kron {
namespace {

// More windows at once than a lane has rows for.
constexpr std::size_t kMostRows = 3;
// A lane of one job with more periods than every third column is drawn as a density.
constexpr std::size_t kColumnsPerPeriod = 3;

constexpr Instant kNever = Instant::max();

std::vector<TimelineLane::Span> joined(std::vector<TimelineLane::Span> spans, std::int64_t gap) {
  std::ranges::sort(spans);
  std::vector<TimelineLane::Span> all;
  for (const auto& span : spans) {
    if (!all.empty() && span.first <= all.back().second + gap) {
      all.back().second = std::max(all.back().second, span.second);
    } else {
      all.push_back(span);
    }
  }
  return all;
}

// How many of the windows are open at one time.
std::size_t most_at_once(const std::vector<TimelineLane::Period>& periods) {
  std::vector<std::int64_t> starts, ends;
  for (const TimelineLane::Period& period : periods) {
    if (period.window_end == period.window_start) continue;
    starts.push_back(period.window_start);
    ends.push_back(period.window_end);
  }
  std::ranges::sort(starts);
  std::ranges::sort(ends);
  std::size_t most = 0;
  for (std::size_t i = 0, over = 0; i < starts.size(); ++i) {
    while (ends[over] < starts[i]) ++over;
    most = std::max(most, i + 1 - over);
  }
  return most;
}

class TimelineMaker {
 public:
  TimelineMaker(std::span<const jobs::JobDefinition> definitions, const TimelineQuestion& question)
      : definitions_(definitions),
        question_(question),
        whole_{question.from, question.from + question.length},
        budget_(question.limit),
        due_(definitions.size(), kNever) {
    timeline_.from = whole_.from;
    timeline_.until = whole_.until;
    timeline_.before.resize(question.columns);
    timeline_.after.resize(question.columns);
  }

  Result<Timeline> run() {
    if (budget_.reserve(definitions_, whole_.from, whole_.until)) {
      for (std::size_t job = 0; job < definitions_.size() && budget_.goes_on(); ++job) count(job);
      timeline_.lanes = lanes_of(definitions_, question_);
      put_in_order();
      fill_lanes();
    }
    if (const Status done = budget_.status(); !done) return fail(done.error());
    return std::move(timeline_);
  }

 private:
  // Each period of a job whose window touches the time.
  template <class See>
  void for_each_period(std::size_t index, See see) {
    if (!can_start(definitions_[index])) return;
    const Job& job = definitions_[index].job;
    const bool is_plain = runs_at_nominal_time(job);
    for_each_nominal(job, nominal_span(job.window, whole_), [&](Instant nominal) {
      if (is_plain) {
        see(nominal, Window{nominal, nominal}, std::optional(nominal));
      } else {
        const Decision decision = decide(job, nominal);
        see(nominal, decision.window, decision.chosen);
      }
      return budget_.goes_on();
    });
  }

  void count(std::size_t index) {
    const Instant since = std::max(question_.now, whole_.from);
    for_each_period(index, [&](Instant nominal, const Window& window, std::optional<Instant> chosen) {
      if (const auto column = column_of(question_, nominal)) ++timeline_.before[*column];
      if (chosen) {
        if (const auto column = column_of(question_, *chosen)) ++timeline_.after[*column];
      }
      const Instant due = chosen.value_or(window.start);
      if (due >= since && due < whole_.until) due_[index] = std::min(due_[index], due);
    });
  }

  void put_in_order() {
    struct Place {
      unsigned need;
      Instant due;
    };
    const bool by_need = question_.order == TimelineQuestion::Order::attention && question_.need;
    std::vector<std::pair<Place, TimelineLane>> places;
    for (TimelineLane& lane : timeline_.lanes) {
      Place place{0, kNever};
      for (const std::size_t job : lane.jobs) {
        place.due = std::min(place.due, due_[job]);
        if (by_need) place.need = std::max(place.need, question_.need(job));
      }
      places.emplace_back(place, std::move(lane));
    }
    const bool by_due = question_.order != TimelineQuestion::Order::name;
    std::ranges::sort(places, [by_due](const auto& a, const auto& b) {
      if (a.first.need != b.first.need) return a.first.need > b.first.need;
      if (by_due && a.first.due != b.first.due) return a.first.due < b.first.due;
      return a.second.name < b.second.name;
    });
    for (std::size_t i = 0; i < places.size(); ++i) timeline_.lanes[i] = std::move(places[i].second);
  }

  void fill_lanes() {
    std::size_t items = 0;
    std::size_t shown = 0;
    for (; shown < timeline_.lanes.size() && shown < question_.lanes && budget_.goes_on(); ++shown) {
      TimelineLane& lane = timeline_.lanes[shown];
      fill(lane);
      items += lane.periods.size() + lane.density.size() + lane.windows.size();
      if (items > TimelineQuestion::kMostItems) break;
    }
    timeline_.more = timeline_.lanes.size() - shown;
    timeline_.lanes.resize(shown);
  }

  void fill(TimelineLane& lane) {
    lane.is_dense = lane.jobs.size() > 1;
    if (!lane.is_dense) fill_with_periods(lane);
    if (lane.is_dense) fill_with_density(lane);
  }

  void fill_with_periods(TimelineLane& lane) {
    const std::size_t most = question_.columns / kColumnsPerPeriod;
    for_each_period(lane.jobs.front(), [&](Instant nominal, const Window& window, std::optional<Instant> chosen) {
      if (lane.periods.size() > most) return;
      std::optional<std::int64_t> at;
      if (chosen) at = seconds_of(*chosen);
      lane.periods.push_back({seconds_of(nominal), seconds_of(window.start), seconds_of(window.end), at});
    });
    lane.is_dense = lane.periods.size() > most || most_at_once(lane.periods) > kMostRows;
    if (lane.is_dense) lane.periods.clear();
  }

  void fill_with_density(TimelineLane& lane) {
    std::vector<std::uint64_t> starts(question_.columns);
    std::vector<TimelineLane::Span> windows;
    const std::int64_t column = question_.length.count() / static_cast<std::int64_t>(question_.columns);
    for (const std::size_t job : lane.jobs) {
      std::vector<TimelineLane::Span> of_job;
      for_each_period(job, [&](Instant, const Window& window, std::optional<Instant> chosen) {
        const auto in = chosen ? column_of(question_, *chosen) : std::nullopt;
        if (in) ++starts[*in];
        if (window.end == window.start) return;
        of_job.emplace_back(std::max<std::int64_t>(0, seconds_of(window.start)),
                            std::min<std::int64_t>(question_.length.count(), seconds_of(window.end)));
        // Thousands of jobs have thousands of windows in the same places.
        if (of_job.size() > 4 * question_.columns) of_job = joined(std::move(of_job), column);
      });
      windows.insert(windows.end(), of_job.begin(), of_job.end());
      if (windows.size() > 4 * question_.columns) windows = joined(std::move(windows), column);
    }
    lane.windows = joined(std::move(windows), column);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      if (starts[i] > 0) lane.density.emplace_back(i, starts[i]);
    }
  }

  [[nodiscard]] std::int64_t seconds_of(Instant t) const {
    return std::chrono::floor<Seconds>(t - whole_.from).count();
  }

  std::span<const jobs::JobDefinition> definitions_;
  const TimelineQuestion& question_;
  TimeSpan whole_;
  LookBudget budget_;
  std::vector<Instant> due_;  // the first of each job from now on
  Timeline timeline_;
};

Status check(const TimelineQuestion& question) {
  if (question.from < kFirstInstant || question.from > kLastInstant) {
    return fail(Code::invalid, "schedules are known from 1970 to 2199", "from");
  }
  if (question.length < Seconds(1)) return fail(Code::invalid, "must be at least 1s", "for");
  if (question.length > kLastInstant - question.from + Seconds(1)) {
    return fail(Code::invalid, "leads beyond 2199, where schedules end", "for");
  }
  return {};
}

}  // namespace

std::optional<std::size_t> column_of(const TimelineQuestion& question, Instant time) {
  const std::int64_t seconds = std::chrono::floor<Seconds>(time - question.from).count();
  if (seconds < 0 || seconds >= question.length.count()) return std::nullopt;
  return static_cast<std::size_t>(seconds * static_cast<std::int64_t>(question.columns) / question.length.count());
}

Result<Timeline> timeline(std::span<const jobs::JobDefinition> definitions, const TimelineQuestion& question) {
  if (const Status checked = check(question); !checked) return fail(checked.error());
  return TimelineMaker(definitions, question).run();
}

}  // namespace kron
