#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kron/forecast/look_limit.h"
#include "kron/jobs/definition.h"

namespace kron {

// More steps than this are refused: the steps are what the memory is spent on.
inline constexpr std::size_t kMostSteps = 1'000'000;

struct LoadQuestion {
  Instant from;
  Seconds length{std::chrono::days(7)};
  Seconds step{60};
  std::size_t hot_spots = 5;  // the busiest steps, which get their causes named
  std::size_t causes = 5;     // the jobs named for each
  std::size_t periods = 5;    // the unschedulable periods named for each job
  LookLimit limit = {};
};

// What a set of jobs asks of the machine in [from, until): `before` counts nominal times, `after` counts chosen times.
// An unschedulable period counts where its window starts. What policy then does with a due period is not foreseen here.
struct LoadProfile {
  struct Cause {
    std::size_t job;  // its place in the definitions
    std::uint64_t starts;

    bool operator==(const Cause&) const = default;
  };

  struct HotSpot {
    std::size_t step;
    std::uint64_t starts;
    std::uint64_t jobs;         // how many have a part in it
    std::vector<Cause> causes;  // the greatest first

    bool operator==(const HotSpot&) const = default;
  };

  // A percentile is the smallest count that at least so many of all steps do not exceed.
  struct Side {
    std::vector<std::uint64_t> starts;  // per step
    std::uint64_t total = 0, peak = 0;
    std::uint64_t p50 = 0, p95 = 0, p99 = 0;
    std::vector<HotSpot> hot_spots;  // the busiest first
  };

  // Periods of one job that get no time.
  struct Unschedulable {
    std::size_t job;
    std::uint64_t periods;
    std::vector<Instant> first;  // nominal times

    bool operator==(const Unschedulable&) const = default;
  };

  // How many of them no draw could have helped: the constraints exclude the whole window, as planned.
  struct Excluded {
    std::size_t job;
    std::uint64_t periods;
    std::string clause;  // of the first of them

    bool operator==(const Excluded&) const = default;
  };

  Instant from, until;
  Seconds step;
  std::size_t jobs = 0;       // all that were asked about
  std::size_t suspended = 0;  // of them: never start
  std::size_t at_boot = 0;    // of the others: @reboot, which no clock foresees
  Side before, after;
  std::vector<Unschedulable> unschedulable;  // in the order of the definitions
  std::vector<Excluded> excluded;            // likewise

  [[nodiscard]] Instant start_of(std::size_t index) const { return from + step * static_cast<std::int64_t>(index); }
  [[nodiscard]] std::uint64_t unschedulable_periods() const;
  [[nodiscard]] std::uint64_t excluded_periods() const;
};

// Called after each job of each of the two passes.
using LoadProgress = std::function<void(std::size_t done, std::size_t total)>;

// Two passes over the jobs: one counts, one asks only about the busiest steps who was in them. Memory is that of the
// steps, however many periods there are. Fails with the field `from`, `for` or `step`; with
// `for` also when its limit does not suffice.
Result<LoadProfile> load_profile(std::span<const jobs::JobDefinition> definitions, const LoadQuestion& question,
                                 const LoadProgress& progress = {});

// The document that docs/formats.md describes under `kron simulate`.
std::string load_profile_json(const LoadProfile& profile, std::span<const jobs::JobDefinition> definitions);

// The same document with what happened: `actual`, the starts in each step that has begun. Null: that is not known.
std::string with_actual(std::string load_json, const std::vector<std::uint64_t>* actual);

}  // namespace kron
