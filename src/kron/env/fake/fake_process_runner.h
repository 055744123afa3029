#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/env/process_runner.h"

namespace kron::testing {

// What a command does once its gate is open.
struct Behaviour {
  Nanoseconds runs_for{0};
  int exit_code = 0;
  bool ignores_term = false;
  bool unkillable = false;  // sits in the kernel: not even KILL ends it
  bool vanishes = false;    // ends without leaving an exit record (its helper was killed too)
  std::uint32_t attempts = 1;
  std::optional<bool> failed = {};
};

// Processes that exist only here; time passes by advance(). A value: a copy is another machine with the same history.
// The daemon and the machine can die around it, which is why it, and not the code under test, knows what has run.
// Of runs that are over it remembers the last thousand: years of them fit.
class FakeProcessRunner : public ProcessRunner {
 public:
  using Choose = std::function<Behaviour(const RunSpec&)>;

  Result<ProcessIdentity> start(const RunSpec& spec) override;
  Status open_gate(std::string_view run_id) override;
  void abandon(std::string_view run_id) override;
  std::optional<RunExit> adopt(std::string_view run_id, const ProcessIdentity& process) override;
  std::optional<RunExit> earlier_run(std::string_view run_id) override {
    const auto found = earlier_runs_.find(run_id);
    return found == earlier_runs_.end() ? std::nullopt : std::optional(found->second);
  }
  void terminate(std::string_view run_id) override;
  void kill(std::string_view run_id) override;
  std::vector<RunExit> drain_exits() override;

  // What is found in the directory of a run. Runs of our own leave none: a lost record is for the ledger to survive.
  void plant_earlier_run(RunExit exit) { earlier_runs_[exit.run_id] = std::move(exit); }

  void behave(Choose choose) { choose_ = std::move(choose); }
  void fail_next_start(Error error) { next_start_fails_ = std::move(error); }
  void fail_next_gate() { next_gate_fails_ = true; }
  void reuse_pid(pid_t pid) { next_pid_ = pid; }  // the next process gets this PID

  // When the next running command ends by itself, counted from now; none: none will.
  std::optional<Nanoseconds> next_end() const;
  bool has_exits() const { return !exits_.empty(); }  // what would wake the daemon
  void advance(Nanoseconds time);

  void daemon_dies();   // gates that are not open close; commands go on; all leave exit records
  void machine_dies();  // everything ends; what had not ended leaves no exit record

  // Every run whose command was executed, in order: what "at most once" is judged on.
  const std::vector<std::string>& executed() const { return executed_; }
  // Those since the last call, which are then forgotten: for years of them.
  std::vector<std::string> take_executed() { return std::exchange(executed_, {}); }
  std::size_t alive() const;

 private:
  enum class Stage : std::uint8_t { held, running, over };
  struct Process {
    ProcessIdentity identity;
    Behaviour behaviour;
    Stage stage = Stage::held;
    Nanoseconds grace{0};
    Nanoseconds ends{0};  // when it ends by itself, or by KILL once TERM's grace is over; from its gate on
    bool dies_of_kill = false;
    bool watched = true;  // by the daemon that now lives
    std::optional<RunExit> record = {};
  };
  using Processes = std::map<std::string, Process, std::less<>>;

  static RunExit unknown_exit(std::string_view run_id) { return {std::string(run_id), std::nullopt, {}}; }

  void end(Processes::iterator process, std::optional<int> code);
  void ends_at(Processes::iterator process, Nanoseconds when);
  void is_over(Processes::iterator process);
  Processes::iterator killable(std::string_view run_id);  // end() when no signal ends it

  Choose choose_;
  std::optional<Error> next_start_fails_;
  bool next_gate_fails_ = false;
  std::optional<pid_t> next_pid_;
  pid_t last_pid_ = 1000;
  std::uint64_t last_start_time_ = 0;
  int boots_ = 1;
  Nanoseconds time_{0};
  Processes processes_;
  std::set<std::pair<Nanoseconds, std::string>> ends_;  // of those that run
  std::deque<std::string> over_;                        // oldest first
  std::vector<RunExit> exits_;
  std::vector<std::string> executed_;
  std::map<std::string, RunExit, std::less<>> earlier_runs_;
};

}  // namespace kron::testing
