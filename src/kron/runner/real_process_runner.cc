#include "kron/runner/real_process_runner.h"

#include <algorithm>
#include <csignal>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <utility>

#include "kron/env/system_error.h"
#include "kron/runner/credentials.h"
#include "kron/runner/gate.h"
#include "kron/runner/instruction_writer.h"
#include "kron/runner/pidfd.h"
#include "kron/runner/process_identity.h"
#include "kron/runner/protocol.h"

namespace kron::runner {
namespace {

constexpr int kEventsAtOnce = 64;
constexpr std::string_view kLeftoversEnded = "; what it left running was ended";

// A core of this process would have tokens and the key of sessions in it, and one of kron-exec a run's secrets. The
// kernel writes none to a file that is to be smaller than a page; a program that core_pattern names gets one by any
// limit but 1, even by 0.
constexpr rlim_t kNoCore = 1;

// From now on the soft limit is this one, as far as the hard one allows. What it was goes to `found`, if it was
// another.
void set_own_limit(__rlimit_resource_t resource, rlim_t wanted, std::vector<FoundLimit>& found) {
  rlimit before{};
  if (::getrlimit(resource, &before) != 0) return;
  const rlimit own{std::min(wanted, before.rlim_max), before.rlim_max};
  if (own.rlim_cur == before.rlim_cur || ::setrlimit(resource, &own) != 0) return;
  found.push_back({static_cast<int>(resource), before});
}

// What the daemon changes for itself is not for the commands.
std::vector<FoundLimit> set_own_limits() {
  std::vector<FoundLimit> found;
  set_own_limit(RLIMIT_NOFILE, RLIM_INFINITY, found);  // every run needs a descriptor
  set_own_limit(RLIMIT_CORE, kNoCore, found);
  return found;
}

std::string why_no_record(const siginfo_t& how, const std::string& runs_path) {
  if (how.si_pid == 0) return "kron-exec left no record of how it ended";
  if (how.si_code != CLD_EXITED) {
    return "kron-exec was ended by signal " + std::to_string(how.si_status) + " before it could record the end";
  }
  switch (how.si_status) {
    case kBadInstructions:
      return "kron-exec refused its instructions; install krond and kron-exec of the same version";
    case kNotRecorded:
      return "kron-exec could not record the end; see that " + runs_path + " is writable and has space";
    default:
      return "kron-exec ended with status " + std::to_string(how.si_status) + " and left no record";
  }
}

// What kron-exec may have left behind, if it died before its command did. One that ended by itself has seen the command
// end, even if it could not record that; then it has emptied the record of the start.
std::optional<Leftovers> leftovers_of(const RunFiles& files, const std::string& run_id, pid_t helper,
                                      const siginfo_t& how) {
  if (how.si_pid != 0 && how.si_code == CLD_EXITED) return std::nullopt;
  if (files.read_exit(run_id)) return std::nullopt;
  std::optional<Session> session = files.read_started(run_id);
  if (how.si_pid == 0 && !session) return std::nullopt;
  return Leftovers{run_id, helper, session, false};
}

}  // namespace

RealProcessRunner::RealProcessRunner(RunnerOptions options, const Clock& clock, RunFiles files,
                                     std::vector<FoundLimit> found_limits)
    : options_(std::move(options)),
      clock_(clock),
      files_(std::move(files)),
      found_limits_(std::move(found_limits)),
      accounts_(clock),
      starter_(options_.helper, files_.descriptor(), options_.server_patience),
      events_(::epoll_create1(EPOLL_CLOEXEC)) {}

Result<std::unique_ptr<RealProcessRunner>> RealProcessRunner::create(RunnerOptions options, const Clock& clock) {
  Result<RunFiles> files = RunFiles::open(options.state_directory);
  if (!files) return fail(std::move(files.error()));
  const bool reaps_orphans = options.reaps_orphans;
  std::unique_ptr<RealProcessRunner> runner(
      new RealProcessRunner(std::move(options), clock, *std::move(files), set_own_limits()));
  if (!runner->events_) return fail(system_error("create", "an epoll descriptor", errno));
  remove_left_credentials(runner->options_.credentials);
  if (reaps_orphans) {
    if (Status watched = runner->watch_orphans(); !watched) return fail(std::move(watched.error()));
  }
  return runner;
}

Status RealProcessRunner::watch_orphans() {
  sigset_t child_ended;
  ::sigemptyset(&child_ended);
  ::sigaddset(&child_ended, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child_ended, nullptr);
  orphans_ = Descriptor(::signalfd(-1, &child_ended, SFD_CLOEXEC | SFD_NONBLOCK));
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (!orphans_ || ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, orphans_.get(), &event) != 0) {
    return fail(system_error("watch", "for processes that lose their parent", errno));
  }
  return {};
}

// Empty: the run can have what limits it asks for. It is not executed without.
std::string RealProcessRunner::why_no_limits(const ProcessSettings& settings) {
  if (!settings.limits_run()) return {};
  if (!controllers_) controllers_ = enable_controllers(options_.cgroup);
  std::string lacking;
  const auto need = [&](bool is_needed, bool is_there, const char* name) {
    if (is_needed && !is_there) lacking.append(lacking.empty() ? "" : ", ").append(name);
  };
  need(settings.memory_max.has_value(), controllers_->memory, "memory_max (memory)");
  need(settings.tasks_max.has_value(), controllers_->pids, "tasks_max (pids)");
  need(settings.cpu_max.has_value(), controllers_->cpu, "cpu_max (cpu)");
  if (lacking.empty()) return {};
  const std::string reason = options_.cgroup.empty() ? "krond has no cgroup v2 that it may divide"
                                                     : "its controller is not to be had below " + options_.cgroup;
  return "cannot set " + lacking + " of the run: " + reason + "; see docs/running-krond.md, Limits of a whole run";
}

// Unreachable: nobody could say who the user is.
Result<std::string> RealProcessRunner::instructions_for(const RunSpec& spec) {
  Result<std::shared_ptr<const Account>> account = accounts_.find(spec.user, spec.group);
  if (!account && account.error().code == Code::unreachable) return fail(account.error());
  if (!account) return failure_instructions(spec.run_id, kCannotExecute, account.error().message);
  if (const std::string reason = why_no_limits(spec.process); !reason.empty()) {
    return failure_instructions(spec.run_id, kCannotExecute, reason);
  }
  Result<std::string> instructions =
      instructions_of(spec, **account, found_limits_, options_.cgroup, options_.credentials);
  if (!instructions) return failure_instructions(spec.run_id, kCannotExecute, instructions.error().message);
  return *std::move(instructions);
}

Result<ProcessIdentity> RealProcessRunner::start(const RunSpec& spec) {
  if (Status valid = check_run_id(spec.run_id); !valid) return fail(std::move(valid.error()));
  if (runs_.contains(spec.run_id)) return fail(Code::conflict, "the run " + spec.run_id + " is already there");
  const Result<std::string> instructions = instructions_for(spec);
  if (!instructions) return fail(instructions.error());
  Result<Spawned> spawned = starter_.start(*instructions, spec.lease.value_or(-1));
  if (!spawned) return fail(std::move(spawned.error()));
  const pid_t pid = spawned->pid;
  const std::optional<std::uint64_t> start_time = start_time_of(pid);
  if (!start_time || !add(spec.run_id, pid, Descriptor(open_pidfd(pid)), std::move(spawned->gate))) {
    const int error = errno;
    tell(spawned->gate, kAbandon);
    uninterrupted([&] { return ::waitpid(pid, nullptr, 0); });
    return fail(system_error("watch", options_.helper, error));
  }
  return ProcessIdentity{pid, *start_time, clock_.boot_id()};
}

// Fails when the system does not let us watch the process (errno); the gate is then still the caller's.
bool RealProcessRunner::add(const std::string& run_id, pid_t pid, Descriptor process, Descriptor&& gate) {
  if (!process) return false;
  Run& run = runs_[run_id];
  // A held run makes no event: its end, should it die at the gate, is told when somebody has tried to open it.
  if (!watch(run, std::move(process), gate ? 0U : EPOLLIN)) {
    runs_.erase(run_id);
    return false;
  }
  run.id = run_id;
  run.pid = pid;
  run.gate = std::move(gate);
  by_pid_[pid] = &run;
  return true;
}

bool RealProcessRunner::watch(Run& run, Descriptor process, std::uint32_t events) {
  epoll_event event{.events = events, .data = {.ptr = &run}};
  if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, process.get(), &event) != 0) return false;
  unwatch(run);
  run.process = std::move(process);
  return true;
}

// Said and not left to the closing of the descriptor: a child that the daemon has forked, and that has not executed its
// program yet, holds a copy of it, and as long the events would go on, for a run that is no more.
void RealProcessRunner::unwatch(Run& run) {
  if (run.process) ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, run.process.get(), nullptr);
  run.process = Descriptor();
}

void RealProcessRunner::release(Run& run) {
  run.gate = Descriptor();
  epoll_event event{.events = EPOLLIN, .data = {.ptr = &run}};
  if (::epoll_ctl(events_.get(), EPOLL_CTL_MOD, run.process.get(), &event) == 0) return;
  ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, run.process.get(), nullptr);
  if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, run.process.get(), &event) != 0) unheard_.insert(run.id);
}

Status RealProcessRunner::open_gate(std::string_view run_id) {
  const auto found = runs_.find(run_id);
  if (found == runs_.end() || !found->second.gate) {
    return fail(Code::not_found, "no run " + std::string(run_id) + " is held at a gate");
  }
  Run& run = found->second;
  const bool told = tell(run.gate, kGo);
  const int error = errno;
  release(run);
  if (!told) return fail(system_error("open the gate of run", run.id, error));
  return {};
}

void RealProcessRunner::abandon(std::string_view run_id) {
  const auto found = runs_.find(run_id);
  if (found == runs_.end() || !found->second.gate) return;
  found->second.is_abandoned = true;
  tell(found->second.gate, kAbandon);
  release(found->second);
}

std::optional<RunExit> RealProcessRunner::adopt(std::string_view run_id, const ProcessIdentity& process) {
  if (runs_.contains(run_id)) return std::nullopt;
  const std::string id(run_id);
  if (process.boot_id != clock_.boot_id()) return exit_of(id, "the machine was started again; nobody saw how it ended");
  // The descriptor first, then the check: whoever has that PID and start time now is the one the descriptor is for.
  Descriptor descriptor(open_pidfd(process.pid));
  if (start_time_of(process.pid) != process.start_time) {
    const std::string reason = "kron-exec ended while no daemon was there, and left no record";
    if (process.pid > 0 && is_ending_leftovers_of_earlier(id, process.pid, reason)) return std::nullopt;
    return exit_of(id, reason);
  }
  // It lives, although we may have no descriptor left for it: then we look again with every drain.
  if (!add(id, process.pid, std::move(descriptor), Descriptor())) unwatched_[id] = process;
  return std::nullopt;
}

void RealProcessRunner::signal(std::string_view run_id, int number) {
  const auto found = runs_.find(run_id);
  if (found != runs_.end() && !found->second.leftovers) (void)signal_pidfd(found->second.process.get(), number);
}

void RealProcessRunner::terminate(std::string_view run_id) { signal(run_id, kTerminateSignal); }
void RealProcessRunner::kill(std::string_view run_id) { signal(run_id, kKillSignal); }

std::vector<RunExit> RealProcessRunner::drain_exits() {
  std::vector<RunExit> exits;
  bool orphaned = false;
  epoll_event events[kEventsAtOnce];
  for (int count = kEventsAtOnce; count == kEventsAtOnce;) {
    count = uninterrupted([&] { return ::epoll_wait(events_.get(), events, kEventsAtOnce, 0); });
    for (int i = 0; i < count; ++i) {
      if (events[i].data.ptr == nullptr) {
        signalfd_siginfo signal;
        while (::read(orphans_.get(), &signal, sizeof signal) > 0) orphaned = true;
      } else {
        collect(*static_cast<Run*>(events[i].data.ptr), exits);
      }
    }
  }
  if (orphaned) reap_orphans(exits);
  for (const std::string& run_id : std::exchange(unheard_, {})) {
    const auto found = runs_.find(run_id);
    if (found == runs_.end()) continue;
    const Run& run = found->second;
    if (run.process && !has_ended(run.process.get())) {
      unheard_.insert(run_id);
    } else {
      collect(found->second, exits);
    }
  }
  for (const auto& [run_id, process] : std::exchange(unwatched_, {})) {
    if (std::optional<RunExit> exit = adopt(run_id, process)) exits.push_back(*std::move(exit));
  }
  return exits;
}

void RealProcessRunner::collect(Run& run, std::vector<RunExit>& exits) {
  if (run.gate) return;
  if (!run.leftovers) {
    // An adopted run is not our child, and an orphan that we reaped is gone: then only the record tells.
    siginfo_t how{};
    if (::waitid(P_PIDFD, static_cast<id_t>(run.process.get()), &how, WEXITED | WNOHANG) != 0) how.si_pid = 0;
    by_pid_.erase(run.pid);
    run.reason = why_no_record(how, files_.path());
    if (!run.is_abandoned) run.leftovers = leftovers_of(files_, run.id, run.pid, how);
  }
  if (run.leftovers && is_ending_leftovers(run)) return;
  unwatch(run);
  const std::string id = run.id;
  if (!run.is_abandoned) exits.push_back(exit_of(id, run.reason));
  runs_.erase(id);
}

// What we wait for makes an event when it is gone, and then we look again: a process may have had children.
bool RealProcessRunner::is_ending_leftovers(Run& run) {
  Dying dying = end_leftovers(*run.leftovers);
  if (dying.count == 0) return false;
  if (dying.has_others && !run.reason.ends_with(kLeftoversEnded)) run.reason += kLeftoversEnded;
  for (Awaited& awaited : dying.awaited) {
    if (watch(run, std::move(awaited.descriptor), awaited.events)) return true;
  }
  unwatch(run);
  unheard_.insert(run.id);
  return true;
}

bool RealProcessRunner::is_ending_leftovers_of_earlier(const std::string& run_id, pid_t helper,
                                                       const std::string& reason) {
  const std::optional<Session> session = files_.read_started(run_id);
  if (!session || files_.read_exit(run_id)) return false;
  Run& run = runs_[run_id];
  run.id = run_id;
  run.reason = reason;
  run.leftovers = Leftovers{run_id, helper, session, true};
  if (is_ending_leftovers(run)) return true;
  runs_.erase(run_id);
  return false;
}

// Looks before it reaps: a run of our own that ended is collected as such, its record read.
void RealProcessRunner::reap_orphans(std::vector<RunExit>& exits) {
  siginfo_t how{};
  while (::waitid(P_ALL, 0, &how, WEXITED | WNOHANG | WNOWAIT) == 0 && how.si_pid != 0) {
    const auto own = by_pid_.find(how.si_pid);
    if (own != by_pid_.end() && !own->second->gate) {
      collect(*own->second, exits);
    } else {
      ::waitpid(how.si_pid, nullptr, WNOHANG);
    }
    how.si_pid = 0;
  }
}

std::optional<RunExit> RealProcessRunner::earlier_run(std::string_view run_id) {
  if (!files_.has_started(run_id)) return std::nullopt;
  return exit_of(std::string(run_id), "it was let go before, and left no record of its end");
}

RunExit RealProcessRunner::exit_of(const std::string& run_id, const std::string& otherwise) const {
  std::optional<RunExit> recorded = files_.read_exit(run_id);
  if (!recorded) {
    // Nobody but it would have removed them.
    remove_left_credentials(options_.credentials, run_id);
    return RunExit{run_id, std::nullopt, otherwise};
  }
  if (recorded->began) *recorded->began += options_.clock_offset;
  if (recorded->ended) *recorded->ended += std::chrono::floor<Seconds>(options_.clock_offset);
  return *std::move(recorded);
}

}  // namespace kron::runner
