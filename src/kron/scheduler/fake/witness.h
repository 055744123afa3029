#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "kron/core/job.h"
#include "kron/jobs/definition.h"
#include "kron/ledger/ledger.h"
#include "kron/scheduler/fake/alarm_model.h"
#include "kron/scheduler/operator_request.h"

namespace kron::testing {

// What is due while the daemon is busy for so long is on time (contract "Policy").
inline constexpr Seconds kBusyAllowance{10};

// Remembers what a daemon has told the world, over all its deaths, and says when the world was lied to. It is told only
// what is certain: steps the ledger has acknowledged, records it has handed out, commands that were executed, and what
// operators have asked and were answered.
//
// The rules: at most one execution of each (identity, period), and none before its start is durable; one outcome for
// each handled period, for ever; LastHandledPeriodID never goes back; a handled period is never open again; an active
// run is not forgotten; no start outside [chosen, chosen + deadline]; the lists stay within their bounds; what an
// operator was promised is durable when he hears of it, and a pause comes only when somebody asks or runs have failed,
// and goes only when somebody asks; the step that ends the last of so many failures pauses; nothing that its schedule
// sets going starts while it is paused; and who starts leaves no more runs active than the host and his pool have
// slots, those of an earlier daemon included; a job that forbids overlap, or queues, has no two runs at once; what is
// found late is announced to be spread before it starts; and the messages of an alarm are those that the outcomes call
// for, each once for each destination, and one that closes it only after one that opened it. What replaces a run starts
// after that run's end is durable, so it makes no exception. A limit that was lowered ends no run, and lets none start
// until enough have ended.
class Witness {
 public:
  // job: none when it is no longer wanted
  void wrote(const LedgerStep& step, const Job* job, const std::vector<AlarmMessage>& owed = {});
  void tried(const LedgerStep& step);  // nobody knows whether it is durable
  void loaded(const std::string& identity, const KnownJob& known, const std::vector<HistoryEntry>& history,
              const std::optional<Alarm>& alarm);
  void executed(std::string_view run_id);
  // A run of `started` has been recorded. `pool_of`: a job's pool, by its present definition; nothing when it is gone.
  using PoolOf = std::function<std::optional<std::optional<jobs::SlotPool>>(const std::string& identity)>;
  void check_slots(const std::string& started, std::size_t max_running, const PoolOf& pool_of);
  // By what the log says: a late period is to start later than at once, or waits for something else. Who never hears
  // the log does not judge by it.
  void hears_log() { hears_log_ = true; }
  void told_of_wait(const std::string& identity, Instant period, std::optional<Instant> spread_until);
  void check_spread(const std::string& identity, const ActiveExecution& run, const Job& job);
  // The queue has a message of an alarm, for one destination.
  void submitted(const std::string& identity, const AlarmMessage& message, const std::string& to);
  // The daemon has had the time to bring all that it owed to the queue.
  void check_all_submitted(const std::vector<jobs::JobDefinition>& wanted);
  // Another daemon begins: it knows of no runs but those that it loads.
  void restarted();
  void found(const StateRecord& record, std::uint32_t history_cap);  // what a file says

  // An operator asks something of a job, and is answered: what became of a run, or whether it is paused now. Who is not
  // answered does not know.
  void asked(const std::string& identity);
  void answered(const std::string& identity, const Result<Triggered>& triggered);
  void answered(const std::string& identity, const Status& done, bool is_paused);

  // The first thing that was wrong; empty when nothing was.
  [[nodiscard]] const std::string& violation() const { return violation_; }
  void accuse(std::string violation);

  // What was told about one job; nothing when it was never mentioned.
  struct Facts {
    std::optional<Instant> last_handled;
    std::map<Instant, Outcome> outcomes;
    std::set<std::string> active;
    std::optional<bool> is_paused = {};  // for good; none: it is not known, or may end by itself
    int unanswered = 0;                  // requests
    std::uint32_t failures = 0;          // in a row, as its record says
    std::optional<jobs::SlotPool> pool = {};
    bool is_known = false;  // to the present daemon
    std::optional<Instant> paused_until = {};
    AlarmModel alarm = {};
    std::vector<AlarmModel> alarm_perhaps = {};            // if a step is durable of which nobody was told
    std::set<std::string> called_for = {};                 // ids of tasks
    std::map<Instant, std::optional<Instant>> waits = {};  // as the log says; until when, if it is spread
  };
  [[nodiscard]] const Facts* facts(const std::string& identity) const;
  [[nodiscard]] std::size_t executions() const { return executed_.size(); }
  [[nodiscard]] std::size_t outcomes() const { return outcomes_; }
  [[nodiscard]] std::size_t paused_by_failures() const { return paused_; }
  [[nodiscard]] std::size_t superseded() const { return superseded_; }
  [[nodiscard]] std::size_t without_slot() const { return without_slot_; }
  [[nodiscard]] std::size_t spread() const { return spread_; }    // starts that were announced
  [[nodiscard]] std::size_t retried() const { return retried_; }  // runs of several attempts
  [[nodiscard]] std::size_t ruled() const { return ruled_; }      // runs that failed, or not, unlike their exit code
  [[nodiscard]] std::size_t opened() const { return opened_; }    // alarms, as they were told of
  [[nodiscard]] std::size_t closed() const { return closed_; }
  [[nodiscard]] std::size_t repeated() const { return repeated_; }
  [[nodiscard]] std::size_t late() const { return late_; }  // of those that were opened

 private:
  Facts& note_answer(const std::string& identity, const Error* error);
  void check_started(const std::string& identity, Facts& facts, const ActiveExecution& run, const Job* job);
  void check_pause(const LedgerStep& step, const Facts& facts, const Job* job);
  void check_overlap(const LedgerStep& step, const Job& job);
  void call_for(const std::string& identity, Facts& facts, const std::vector<AlarmModel::Message>& messages);
  void check_bookkeeping(const std::string& identity, const Facts& facts, const JobState& periods);
  void note_outcome(const std::string& identity, Facts& facts, Instant period, Outcome outcome);

  std::map<std::string, Facts> jobs_;
  std::unordered_set<std::uint64_t> started_;   // run ids, shortened
  std::unordered_set<std::uint64_t> executed_;  // run ids, shortened
  std::size_t outcomes_ = 0;
  std::size_t paused_ = 0;
  std::size_t superseded_ = 0;
  std::size_t without_slot_ = 0;
  bool hears_log_ = false;
  std::set<std::string> queue_;  // ids of tasks
  std::size_t spread_ = 0;
  std::size_t retried_ = 0;
  std::size_t ruled_ = 0;
  std::size_t opened_ = 0;
  std::size_t closed_ = 0;
  std::size_t repeated_ = 0;
  std::size_t late_ = 0;
  std::string violation_;
};

}  // namespace kron::testing
