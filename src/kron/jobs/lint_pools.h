#pragma once

#include <map>
#include <string>
#include <vector>

#include "kron/jobs/definition.h"
#include "kron/jobs/lint_groups.h"
#include "kron/jobs/problem.h"

namespace kron::jobs {

// How long a run of a job usually takes, by identity.
using UsualLengths = std::map<std::string, Seconds, std::less<>>;

// What jobs ask of the pools that they name, and of the host, over the next day: a warning for each whose slots do not
// suffice for an hour, by how long the runs that begin in it usually take, and where that is not known by their
// timeouts; for jobs that would not wait for a slot at all; and for tasks, which need none. Runs of which neither is
// known are not counted: that is said.
class PoolLoads {
 public:
  // `max_running`: of the host; 0: any number. `usual` outlives it; null: nothing is known.
  PoolLoads(std::size_t max_running, const UsualLengths* usual) : usual_(usual) { host_.slots = max_running; }

  void add(const JobDefinition& definition);
  void say(std::vector<Problem>& problems, Instant now, bool with_notes) const;

  // So many periods are drawn to know their hours; what comes after counts by its nominal times.
  static constexpr std::size_t kMostDrawn = 100'000;

 private:
  struct Timed {
    const JobDefinition* definition;
    Seconds length;
  };
  struct Slots {
    std::string name;  // of the pool; empty: of the host
    std::size_t slots = 0;
    std::vector<Timed> timed;  // runs of which it is known how long they take
    bool has_usual = false;    // by what was usual; of some
    bool has_timeouts = false;
    JobGroup all;
    JobGroup untimed;
    JobGroup impatient;  // with a deadline of 0s
    JobGroup tasks;
  };
  static void add_run(Slots& slots, const JobDefinition& definition, const UsualLengths* usual);
  static void say_of_load(const Slots& slots, Instant now, std::vector<Problem>& problems);
  static void say_of(const Slots& slots, std::vector<Problem>& problems, Instant now, bool with_notes);

  const UsualLengths* usual_;
  std::map<std::string, Slots> pools_;
  Slots host_;
};

}  // namespace kron::jobs
