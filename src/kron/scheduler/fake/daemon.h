#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/fake_process_runner.h"
#include "kron/env/fake/power_cut_file_system.h"
#include "kron/ledger/file_ledger.h"
#include "kron/scheduler/fake/held_writer.h"
#include "kron/scheduler/fake/witness.h"
#include "kron/scheduler/scheduler.h"

namespace kron::testing {

// The world around a daemon, but its disk: what goes on when the daemon dies. A value.
struct Outside {
  explicit Outside(Instant start) : clock(start) {}

  // Time without a daemon's turn: the daemon is down, or stopped.
  void pass(Nanoseconds time) {
    clock.advance(time);
    runner.advance(time);
  }
  void lose_power(Nanoseconds downtime) {
    runner.machine_dies();
    clock.reboot(downtime);
  }

  FakeClock clock;
  FakeProcessRunner runner;
  Witness witness;
  std::vector<jobs::JobDefinition> jobs;
  Observer observer = {};
  std::function<std::string(const jobs::JobDefinition&)> scope = {};
  bool clock_is_corrected = false;
  Seconds catch_up_spread{0};
  std::size_t max_running = 0;
  Nanoseconds ends_wait = Seconds(1);  // as krond has it
  HeldWriter* writer = nullptr;        // outlives the daemon; none: the loop writes
  Nanoseconds write_takes{0};          // what the writer does while the daemon runs
  std::function<void()> on_written = {};
  // Messages of alarms: those that the daemon has in memory, and the tasks in a queue that outlives it.
  std::vector<MessageOwed> owed = {};
  std::set<std::string> queue = {};
};

// Ways to break the daemon, to see that its tests notice.
enum class Mutation : std::uint8_t {
  none,
  gate_opens_at_start,      // and not when the record is durable
  last_handled_moves_back,  // whenever a run has ended
  max_running_is_ignored,
  queued_runs_overlap,
  pauses_are_forgotten,  // by who reads the records at a start
  spread_is_ignored,
};

// The real scheduler on the real file ledger, in a world that is made up: days pass as fast as they can be computed.
// Destroying it is kill -9; whoever does so tells the outside.
class Daemon {
 public:
  static constexpr std::string_view kStateDirectory = "/state";

  // All of these outlive the daemon.
  static Result<std::unique_ptr<Daemon>> start(Outside& outside, PowerCutFileSystem& file_system, Log& log,
                                               Mutation mutation = Mutation::none,
                                               std::optional<Instant> on_time_since = {});
  ~Daemon();

  Status reload(std::vector<jobs::JobDefinition> jobs);

  // Lets `length` pass: the daemon gets a turn whenever it asked for one or a run has ended; none once it is broken.
  void run_for(Nanoseconds length);

  // Tells the witness what was executed, and forgets it.
  void report_executed();

  Scheduler& scheduler() { return *scheduler_; }
  FileLedger& ledger() { return *ledger_; }

 private:
  std::vector<jobs::JobDefinition> sabotaged(std::vector<jobs::JobDefinition> jobs) const;
  std::optional<jobs::JobDefinition> definition_of(const std::string& identity) const;

  class TellingLedger;
  class EagerRunner;
  Daemon(Outside& outside, PowerCutFileSystem& file_system, std::unique_ptr<FileLedger> ledger, Log& log,
         Mutation mutation);

  Outside& outside_;
  Mutation mutation_;
  PowerCutFileSystem& file_system_;
  std::unique_ptr<FileLedger> ledger_;
  std::unique_ptr<TellingLedger> telling_ledger_;
  std::unique_ptr<EagerRunner> eager_runner_;
  std::unique_ptr<Scheduler> scheduler_;
};

// A state directory as its files say it: name to contents, without the lock.
std::map<std::string, std::string> files_of(const Disk& disk, std::string_view directory);

}  // namespace kron::testing
