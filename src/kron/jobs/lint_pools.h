#pragma once

#include <map>
#include <string>
#include <vector>

#include "kron/jobs/definition.h"
#include "kron/jobs/lint_groups.h"
#include "kron/jobs/problem.h"

namespace kron::jobs {

// What jobs ask of the pools that they name, over the next day: a warning for each pool whose slots do not suffice for
// an hour, by the timeouts of the runs that begin in it; for jobs that would not wait for a slot at all; and for tasks,
// which need none. How long runs without a timeout take is not known here, and they are not counted: that is said.
class PoolLoads {
 public:
  void add(const JobDefinition& definition);
  void say(std::vector<Problem>& problems, Instant now, bool with_notes) const;

 private:
  struct OfPool {
    std::uint32_t slots = 0;
    std::vector<const JobDefinition*> timed;  // runs of which a timeout says how long they take at most
    JobGroup all;
    JobGroup untimed;
    JobGroup impatient;  // with a deadline of 0s
    JobGroup tasks;
  };
  static void say_of_load(const std::string& name, const OfPool& pool, Instant now, std::vector<Problem>& problems);

  std::map<std::string, OfPool> pools_;
};

}  // namespace kron::jobs
