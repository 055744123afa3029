#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kron/core/decision.h"

namespace kron {

// The periods of one job that are due at or after a time, in the order in which they run (due time, then nominal
// time), whatever the order of their nominal times. Memory is bounded: beyond 4,096 periods open at once, the order is
// that of the nearest 4,096.
class Upcoming {
 public:
  // `job` must outlive this. Fails for @reboot, whose times nobody knows, and for a window in which so many periods
  // are open at once that krond would refuse it.
  static Result<Upcoming> of(const Job& job, Instant from);

  std::optional<Decision> next();

  // The next one but those that the constraints exclude; nothing after kMostExcluded of them in a row.
  std::optional<Decision> next_not_excluded();
  static constexpr int kMostExcluded = 20'000;

 private:
  Upcoming(const Job& job, Instant from, std::optional<Instant> nominal) : job_(&job), from_(from), nominal_(nominal) {}
  bool must_look_further() const;

  const Job* job_;
  Instant from_;
  std::optional<Instant> nominal_;  // the first period that is not decided yet
  std::vector<Decision> ahead_;     // a heap, the earliest first
};

// The same over many jobs, without what the constraints exclude: one line after the other, as they would start.
class Agenda {
 public:
  struct Entry {
    std::size_t job;  // index of what was added
    Decision period;
  };

  void add(std::size_t job, Upcoming upcoming);
  std::optional<Entry> next();

 private:
  struct Source {
    std::size_t job;
    Upcoming upcoming;
    Decision head;
  };
  void put_back(std::size_t source);

  std::vector<Source> sources_;
  std::vector<std::size_t> heap_;  // indexes of sources_, the earliest head first
};

}  // namespace kron
