#include "kron/forecast/load_profile.h"

#include <algorithm>
#include <numeric>

#include "kron/base/duration.h"
#include "kron/core/allowed_share.h"
#include "kron/core/decision.h"
#include "kron/forecast/period_walk.h"

namespace kron {
namespace {

// All draws of a period are in vain, and then it is asked why: as much as so many others.
constexpr std::uint64_t kCostOfNoTime = 20;

template <class Jobs>
std::uint64_t total_periods(const Jobs& jobs) {
  return std::accumulate(jobs.begin(), jobs.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& job) { return sum + job.periods; });
}

// Inserts into a list that holds the best `most`, the best first; among equals the earlier stays before.
template <class Item, class Better>
void keep_best(std::vector<Item>& best, std::size_t most, Item item, Better better) {
  if (best.size() == most && (most == 0 || !better(item, best.back()))) return;
  if (best.size() == most) best.pop_back();
  best.insert(std::ranges::upper_bound(best, item, better), std::move(item));
}

std::uint64_t percentile(std::vector<std::uint64_t>& values, std::size_t percent) {
  const std::size_t rank = (values.size() * percent + 99) / 100;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::ranges::nth_element(values, at);
  return *at;
}

void sum_up(LoadProfile::Side& load, std::size_t hot_spots) {
  load.total = std::accumulate(load.starts.begin(), load.starts.end(), std::uint64_t{0});
  load.peak = std::ranges::max(load.starts);
  std::vector<std::uint64_t> values = load.starts;
  load.p50 = percentile(values, 50);
  load.p95 = percentile(values, 95);
  load.p99 = percentile(values, 99);
  for (std::size_t step = 0; step < load.starts.size(); ++step) {
    if (load.starts[step] == 0) continue;
    keep_best(load.hot_spots, hot_spots, LoadProfile::HotSpot{step, load.starts[step], 0, {}},
              [](const LoadProfile::HotSpot& a, const LoadProfile::HotSpot& b) { return a.starts > b.starts; });
  }
}

class Profiler {
 public:
  Profiler(std::span<const jobs::JobDefinition> definitions, const LoadQuestion& question, std::size_t steps,
           const LoadProgress& progress)
      : definitions_(definitions),
        question_(question),
        whole_{question.from, question.from + question.length},
        progress_(progress),
        budget_(question.limit) {
    profile_.from = whole_.from;
    profile_.until = whole_.until;
    profile_.step = question.step;
    profile_.jobs = definitions.size();
    profile_.suspended = static_cast<std::size_t>(std::ranges::count_if(definitions, is_suspended_by_definition));
    profile_.at_boot = static_cast<std::size_t>(std::ranges::count_if(definitions, is_at_boot));
    profile_.before.starts.resize(steps);
    profile_.after.starts.resize(steps);
  }

  Result<LoadProfile> run() {
    if (budget_.reserve(definitions_, whole_.from, whole_.until)) {
      for_each_job([this](std::size_t index) { count(index); });
      sum_up(profile_.before, question_.hot_spots);
      sum_up(profile_.after, question_.hot_spots);
      for_each_job([this](std::size_t index) { find_causes(index); });
    }
    if (const Status done = budget_.status(); !done) return fail(done.error());
    return std::move(profile_);
  }

 private:
  template <class Visit>
  void for_each_job(Visit visit) {
    for (std::size_t index = 0; index < definitions_.size() && budget_.goes_on(); ++index) {
      if (can_start(definitions_[index])) visit(index);
      ++done_;
      if (progress_) progress_(done_, 2 * definitions_.size());
    }
  }

  void add(LoadProfile::Side& load, Instant t) {
    if (whole_.has(t)) ++load.starts[static_cast<std::size_t>((t - whole_.from) / question_.step)];
  }

  void count(std::size_t index) {
    const Job& job = definitions_[index].job;
    if (runs_at_nominal_time(job)) {
      for_each_nominal(job, whole_, [&](Instant nominal) {
        add(profile_.before, nominal);
        add(profile_.after, nominal);
        return budget_.goes_on();
      });
      return;
    }
    LoadProfile::Unschedulable lost{index, 0, {}};
    LoadProfile::Excluded excluded{index, 0, {}};
    for_each_nominal(job, nominal_span(job.window, whole_), [&](Instant nominal) {
      add(profile_.before, nominal);
      const Decision decision = decide(job, nominal);
      if (decision.chosen) {
        add(profile_.after, *decision.chosen);
      } else if (whole_.has(decision.due())) {
        ++lost.periods;
        if (lost.first.size() < question_.periods) lost.first.push_back(nominal);
        if (const std::optional<std::string> clause = excluded_by(job, nominal); clause && excluded.periods++ == 0) {
          excluded.clause = *clause;
        }
        budget_.spend(kCostOfNoTime);
      }
      return budget_.goes_on();
    });
    if (lost.periods > 0) profile_.unschedulable.push_back(std::move(lost));
    if (excluded.periods > 0) profile_.excluded.push_back(std::move(excluded));
  }

  void find_causes(std::size_t index) {
    const Job& job = definitions_[index].job;
    for (LoadProfile::HotSpot& spot : profile_.before.hot_spots) {
      std::uint64_t starts = 0;
      for_each_nominal(job, span_of(spot), [&](Instant) {
        ++starts;
        return budget_.spend(1);
      });
      blame(spot, index, starts);
    }
    for (LoadProfile::HotSpot& spot : profile_.after.hot_spots) {
      const TimeSpan step = span_of(spot);
      std::uint64_t starts = 0;
      for_each_nominal(job, nominal_span(job.window, step), [&](Instant nominal) {
        const auto chosen = runs_at_nominal_time(job) ? nominal : decide(job, nominal).chosen;
        if (chosen && step.has(*chosen)) ++starts;
        return budget_.spend(1);
      });
      blame(spot, index, starts);
    }
  }

  void blame(LoadProfile::HotSpot& spot, std::size_t index, std::uint64_t starts) const {
    if (starts == 0) return;
    ++spot.jobs;
    keep_best(spot.causes, question_.causes, LoadProfile::Cause{index, starts},
              [](const LoadProfile::Cause& a, const LoadProfile::Cause& b) { return a.starts > b.starts; });
  }

  [[nodiscard]] TimeSpan span_of(const LoadProfile::HotSpot& spot) const {
    return {profile_.start_of(spot.step), std::min(profile_.start_of(spot.step + 1), whole_.until)};
  }

  std::span<const jobs::JobDefinition> definitions_;
  const LoadQuestion& question_;
  TimeSpan whole_;
  const LoadProgress& progress_;
  LookBudget budget_;
  std::size_t done_ = 0;
  LoadProfile profile_;
};

// Rounded up: the last step may be a short one.
Result<std::size_t> step_count(const LoadQuestion& question) {
  if (question.from < kFirstInstant || question.from > kLastInstant) {
    return fail(Code::invalid, "schedules are known from 1970 to 2199", "from");
  }
  if (question.length < Seconds(1)) return fail(Code::invalid, "must be at least 1s", "for");
  if (question.length > kLastInstant - question.from + Seconds(1)) {
    return fail(Code::invalid, "leads beyond 2199, where schedules end", "for");
  }
  if (question.step < Seconds(1)) return fail(Code::invalid, "must be at least 1s", "step");
  const auto steps = static_cast<std::size_t>((question.length - Seconds(1)) / question.step + 1);
  if (steps > kMostSteps) {
    const Seconds enough((question.length.count() - 1) / static_cast<std::int64_t>(kMostSteps) + 1);
    return fail(Code::invalid,
                duration_text(question.step) + " cuts " + duration_text(question.length) + " into " +
                    std::to_string(steps) + " steps, more than " + std::to_string(kMostSteps) + "; take " +
                    duration_text(enough) + " or more",
                "step");
  }
  return steps;
}

}  // namespace

std::uint64_t LoadProfile::unschedulable_periods() const { return total_periods(unschedulable); }

std::uint64_t LoadProfile::excluded_periods() const { return total_periods(excluded); }

Result<LoadProfile> load_profile(std::span<const jobs::JobDefinition> definitions, const LoadQuestion& question,
                                 const LoadProgress& progress) {
  const Result<std::size_t> steps = step_count(question);
  if (!steps) return fail(steps.error());
  return Profiler(definitions, question, *steps, progress).run();
}

}  // namespace kron
