#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unordered_map>
#include <vector>

#include "kron/env/clock.h"
#include "kron/env/descriptor.h"
#include "kron/env/process_runner.h"
#include "kron/runner/accounts.h"
#include "kron/runner/cgroups.h"
#include "kron/runner/helper_starter.h"
#include "kron/runner/instruction_writer.h"
#include "kron/runner/leftovers.h"
#include "kron/runner/run_files.h"

namespace kron::runner {

struct RunnerOptions {
  std::string helper = {};           // find_kron_exec
  std::string state_directory = {};  // exists
  Nanoseconds clock_offset{0};       // what the daemon's clock is shifted by; run times are reported on that clock
  std::string cgroup = {};           // find_own_cgroup: each run gets a cgroup of its own below it; empty: none
  std::string credentials = {};      // default_credentials: copies of credentials go below it; empty: there are none
  // kron-exec is forked from one that stays, if that answers in this time; zero: it is executed for each run. A server
  // that takes longer is stopped, or the machine is: executing kron-exec cannot be worse.
  std::chrono::milliseconds server_patience{2000};
  bool reaps_orphans = false;  // we are PID 1: every process that loses its parent becomes our child
};

// Runs by kron-exec. A run costs one descriptor while it lives. Not for several threads. Its destructor closes the
// gates that are not open, and leaves the runs running: another one can adopt them.
//
// When kron-exec dies before its command, what is left of the run is ended, and only then its end is told: a job that
// must not run twice at a time would run beside it. A command that ends by itself leaves its daemons alone.
//
// A user who does not exist, a text the system cannot take: such a run starts like any other and ends with 126 and a
// reason when its gate opens. start() fails only for reasons of this machine.
class RealProcessRunner : public ProcessRunner {
 public:
  // Removes credentials that killed helpers have left. Raises our own limit of open files to the hard limit; commands
  // get the old one. With reaps_orphans, blocks SIGCHLD.
  static Result<std::unique_ptr<RealProcessRunner>> create(RunnerOptions options, const Clock& clock);

  Result<ProcessIdentity> start(const RunSpec& spec) override;
  Status open_gate(std::string_view run_id) override;
  void abandon(std::string_view run_id) override;
  std::optional<RunExit> adopt(std::string_view run_id, const ProcessIdentity& process) override;
  std::optional<RunExit> earlier_run(std::string_view run_id) override;
  void terminate(std::string_view run_id) override;
  void kill(std::string_view run_id) override;
  std::vector<RunExit> drain_exits() override;

  // For runs to come: asks ahead of time who that is, and does not wait.
  void prepare_account(const std::string& user, const std::string& group) { accounts_.prepare(user, group); }

  // Readable when drain_exits has something to do.
  int descriptor() const { return events_.get(); }

  // Runs that are held or running, those of other daemons that were adopted among them.
  std::size_t alive() const { return runs_.size() + unwatched_.size(); }

  RunFiles& files() { return files_; }

  // The PID of the kron-exec that forks itself for each run; 0: none runs.
  pid_t fork_server() const { return starter_.server() != nullptr ? starter_.server()->pid() : 0; }

 private:
  struct Run {
    std::string id;
    pid_t pid = 0;
    Descriptor process;  // a pidfd, of kron-exec or of one of those that it left behind
    Descriptor gate;     // while it is held
    bool is_abandoned = false;
    std::optional<Leftovers> leftovers = {};  // they are being ended
    std::string reason = {};                  // why there is no record of its end
  };
  using Runs = std::map<std::string, Run, std::less<>>;

  RealProcessRunner(RunnerOptions options, const Clock& clock, RunFiles files, std::vector<FoundLimit> found_limits);

  Status watch_orphans();
  Result<std::string> instructions_for(const RunSpec& spec);
  std::string why_no_limits(const ProcessSettings& settings);
  bool add(const std::string& run_id, pid_t pid, Descriptor process, Descriptor&& gate);
  void release(Run& run);
  bool watch(Run& run, Descriptor process, std::uint32_t events);
  void unwatch(Run& run);
  bool is_ending_leftovers(Run& run);
  bool is_ending_leftovers_of_earlier(const std::string& run_id, pid_t helper, const std::string& reason);
  void signal(std::string_view run_id, int number);
  void collect(Run& run, std::vector<RunExit>& exits);
  void reap_orphans(std::vector<RunExit>& exits);
  RunExit exit_of(const std::string& run_id, const std::string& otherwise) const;

  RunnerOptions options_;
  const Clock& clock_;
  RunFiles files_;
  std::vector<FoundLimit> found_limits_;    // for the commands
  std::optional<Controllers> controllers_;  // none: no run has needed them yet
  Accounts accounts_;
  HelperStarter starter_;
  Descriptor events_;   // an epoll of the pidfds of all runs
  Descriptor orphans_;  // a signalfd for SIGCHLD, if we reap orphans
  Runs runs_;
  std::unordered_map<pid_t, Run*> by_pid_;
  std::map<std::string, ProcessIdentity> unwatched_;  // adopted, but there was no descriptor left
  std::set<std::string> unheard_;                     // no event will tell of their end: looked at with every drain
};

}  // namespace kron::runner
