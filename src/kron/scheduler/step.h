#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kron/core/open_periods.h"
#include "kron/env/process_runner.h"
#include "kron/ledger/ledger.h"
#include "kron/scheduler/event.h"
#include "kron/scheduler/job_table.h"
#include "kron/scheduler/operator_request.h"
#include "kron/scheduler/run_cause.h"

namespace kron {

// A manual run that was promised, and is given up before it starts.
struct DroppedRun {
  std::string run_id;
  Reason reason = Reason::none;
};

// What one turn does to one job, before it is durable.
struct Step {
  JobTable::Number job = 0;
  KnownJob before;
  LedgerStep ledger;
  std::optional<Turn> turn = {};          // that its periods were judged by
  std::vector<std::string> at_gate = {};  // runs that wait for the answer
  std::vector<RunExit> ended = {};
  // What a repetition must not judge again: runs whose time to start had come before, and those that were dropped.
  std::vector<RunCause> judged = {};
  std::vector<DroppedRun> dropped = {};
  bool is_for_boot = false;
  std::vector<Event> events = {};                      // for the observers, once it is durable
  AlarmNotes alarm_notes = {};                         // as in `ledger`, to be noted again if it is not done
  std::unique_ptr<OperatorRequest> request = nullptr;  // what it does, if an operator asked for it
};

// Steps of different jobs, in the order in which they were begun, found by job. A reference to one stays valid.
class Steps {
 public:
  [[nodiscard]] std::optional<std::size_t> place_of(JobTable::Number job) const {
    const auto known = places_.find(job);
    return known == places_.end() ? std::nullopt : std::optional(known->second);
  }
  [[nodiscard]] bool contains(JobTable::Number job) const { return places_.contains(job); }
  [[nodiscard]] const Step* find(JobTable::Number job) const {
    const auto place = place_of(job);
    return place ? &steps_[*place] : nullptr;
  }
  Step* find(JobTable::Number job) {
    const auto place = place_of(job);
    return place ? &steps_[*place] : nullptr;
  }

  // Of a job that has none.
  Step& add(JobTable::Number job) {
    places_.emplace(job, steps_.size());
    Step& step = steps_.emplace_back();
    step.job = job;
    return step;
  }

  Step& operator[](std::size_t place) { return steps_[place]; }
  [[nodiscard]] std::size_t size() const { return steps_.size(); }
  [[nodiscard]] bool empty() const { return steps_.empty(); }
  auto begin() { return steps_.begin(); }
  auto end() { return steps_.end(); }

 private:
  std::deque<Step> steps_;
  std::unordered_map<JobTable::Number, std::size_t> places_;
};

// What is to be done about a job whose step the ledger has not taken, in the turn in which it was judged.
struct Repetition {
  int rounds = 0;
  std::vector<std::string> locked_out = {};  // runs that must not start because somebody else holds the job's lock
  std::vector<std::string> ran = {};         // runs that have been before
  std::vector<RunExit> ended = {};           // of the step, as are these:
  std::vector<RunCause> judged = {};
  std::vector<DroppedRun> dropped = {};
  bool is_for_boot = false;

  [[nodiscard]] bool has_ends() const { return !ended.empty() || !dropped.empty(); }
  [[nodiscard]] bool has_more_to_say() const { return has_ends() || !judged.empty() || is_for_boot; }
};

}  // namespace kron
