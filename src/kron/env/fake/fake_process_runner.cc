#include "kron/env/fake/fake_process_runner.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace kron::testing {
namespace {

constexpr std::size_t kRemembered = 1000;

}  // namespace

Result<ProcessIdentity> FakeProcessRunner::start(const RunSpec& spec) {
  if (next_start_fails_) return fail(*std::exchange(next_start_fails_, std::nullopt));
  const pid_t pid = next_pid_ ? *std::exchange(next_pid_, std::nullopt) : ++last_pid_;
  const ProcessIdentity identity{pid, ++last_start_time_, "boot-" + std::to_string(boots_)};
  const Behaviour behaviour = choose_ ? choose_(spec) : Behaviour{};
  // A second start under the same id is the caller's mistake; the first process is lost sight of.
  if (const auto old = processes_.find(spec.run_id); old != processes_.end()) {
    ends_.erase({old->second.ends, old->first});
  }
  const auto [process, is_new] = processes_.insert_or_assign(
      spec.run_id, Process{.identity = identity, .behaviour = behaviour, .grace = spec.grace});
  return process->second.identity;
}

Status FakeProcessRunner::open_gate(std::string_view run_id) {
  const auto process = processes_.find(run_id);
  if (process == processes_.end() || process->second.stage != Stage::held) {
    return fail(Code::not_found, "no run " + std::string(run_id) + " is held at a gate");
  }
  if (std::exchange(next_gate_fails_, false)) {
    end(process, std::nullopt);
    return fail(Code::io, "the process of run " + std::string(run_id) + " ended at its gate");
  }
  process->second.stage = Stage::running;
  ends_at(process, time_ + process->second.behaviour.runs_for);
  executed_.emplace_back(run_id);
  return {};
}

void FakeProcessRunner::abandon(std::string_view run_id) {
  const auto process = processes_.find(run_id);
  if (process != processes_.end() && process->second.stage == Stage::held) processes_.erase(process);
}

std::optional<RunExit> FakeProcessRunner::adopt(std::string_view run_id, const ProcessIdentity& identity) {
  const auto process = processes_.find(run_id);
  if (process == processes_.end() || process->second.identity != identity) {
    return unknown_exit(run_id);
  }
  if (process->second.stage == Stage::over) return process->second.record.value_or(unknown_exit(run_id));
  process->second.watched = true;
  return std::nullopt;
}

FakeProcessRunner::Processes::iterator FakeProcessRunner::killable(std::string_view run_id) {
  const auto process = processes_.find(run_id);
  if (process == processes_.end() || process->second.stage != Stage::running) return processes_.end();
  return process->second.behaviour.unkillable ? processes_.end() : process;
}

void FakeProcessRunner::terminate(std::string_view run_id) {
  const auto process = killable(run_id);
  if (process == processes_.end()) return;
  Process& own = process->second;
  if (!own.behaviour.ignores_term) {
    end(process, 128 + SIGTERM);
  } else if (time_ + own.grace < own.ends) {
    own.dies_of_kill = true;
    ends_at(process, time_ + own.grace);
  }
}

void FakeProcessRunner::kill(std::string_view run_id) {
  if (const auto process = killable(run_id); process != processes_.end()) end(process, 128 + SIGKILL);
}

std::vector<RunExit> FakeProcessRunner::drain_exits() { return std::exchange(exits_, {}); }

void FakeProcessRunner::ends_at(Processes::iterator process, Nanoseconds when) {
  ends_.erase({process->second.ends, process->first});
  process->second.ends = when;
  ends_.emplace(when, process->first);
}

void FakeProcessRunner::is_over(Processes::iterator process) {
  ends_.erase({process->second.ends, process->first});
  process->second.stage = Stage::over;
  over_.push_back(process->first);
}

void FakeProcessRunner::end(Processes::iterator process, std::optional<int> code) {
  Process& own = process->second;
  RunExit exit{process->first, code, {}};
  exit.never_ran = own.stage == Stage::held;
  if (code == own.behaviour.exit_code) {
    exit.attempts = own.behaviour.attempts;
    exit.failed = own.behaviour.failed;
  }
  is_over(process);
  if (own.behaviour.vanishes) exit = unknown_exit(process->first);
  if (!own.behaviour.vanishes) own.record = exit;
  if (own.watched) exits_.push_back(exit);
}

std::optional<Nanoseconds> FakeProcessRunner::next_end() const {
  if (ends_.empty()) return std::nullopt;
  return std::max(ends_.begin()->first - time_, Nanoseconds(0));
}

void FakeProcessRunner::advance(Nanoseconds time) {
  time_ += time;
  while (!ends_.empty() && ends_.begin()->first <= time_) {
    const auto process = processes_.find(ends_.begin()->second);
    end(process, process->second.dies_of_kill ? 128 + SIGKILL : process->second.behaviour.exit_code);
  }
  for (; over_.size() > kRemembered; over_.pop_front()) {
    const auto oldest = processes_.find(over_.front());
    if (oldest != processes_.end() && oldest->second.stage == Stage::over) processes_.erase(oldest);
  }
}

void FakeProcessRunner::daemon_dies() {
  for (auto process = processes_.begin(); process != processes_.end(); ++process) {
    process->second.watched = false;
    if (process->second.stage == Stage::held) end(process, std::nullopt);
  }
  exits_.clear();
}

void FakeProcessRunner::machine_dies() {
  for (auto process = processes_.begin(); process != processes_.end(); ++process) {
    process->second.watched = false;
    if (process->second.stage != Stage::over) is_over(process);
  }
  exits_.clear();
  ++boots_;
}

std::size_t FakeProcessRunner::alive() const {
  return static_cast<std::size_t>(
      std::count_if(processes_.begin(), processes_.end(), [](const auto& p) { return p.second.stage != Stage::over; }));
}

}  // namespace kron::testing
