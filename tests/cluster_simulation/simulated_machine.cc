#include "simulated_machine.h"

#include <algorithm>
#include <cstdint>
#include <fcntl.h>
#include <utility>

namespace kron::testing {
namespace {

// How long a helper is remembered that is over.
constexpr Nanoseconds kRememberedFor = std::chrono::seconds(10);

}  // namespace

SimulatedMachine::SimulatedMachine(const FakeClock& clock, std::function<Nanoseconds()> run_time)
    : clock_(clock), run_time_(std::move(run_time)) {
  processes_.behave([this](const RunSpec& spec) { return Behaviour{.runs_for = helpers_[spec.run_id].runs_for}; });
}

Result<ProcessIdentity> SimulatedMachine::start(const RunSpec& spec) {
  Helper& helper = helpers_[spec.run_id];
  if (!helper.is_early) {
    helper = Helper{};
    helper.runs_for = run_time_();
    Result<ProcessIdentity> process = processes_.start(spec);
    if (!process) return process;
    helper.identity = *process;
  }
  if (spec.lease) {
    helper.lease = Descriptor(::fcntl(*spec.lease, F_DUPFD_CLOEXEC, 0));
    helper.armed = deadline_of(helper);
  }
  return helper.identity;
}

Status SimulatedMachine::open_gate(std::string_view run_id) {
  Helper& helper = helpers_.find(run_id)->second;
  if (helper.is_early) return {};
  const Status opened = processes_.open_gate(run_id);
  if (opened) helper.ends = clock_.boot_time() + helper.runs_for;
  return opened;
}

void SimulatedMachine::let_go_early(const RunSpec& spec) {
  helpers_.erase(spec.run_id);
  (void)start(spec);
  (void)open_gate(spec.run_id);
  helpers_.find(spec.run_id)->second.is_early = true;
}

void SimulatedMachine::abandon(std::string_view run_id) {
  processes_.abandon(run_id);
  const auto helper = helpers_.find(run_id);
  if (helper != helpers_.end() && !helper->second.is_early) helpers_.erase(helper);
}

std::optional<RunExit> SimulatedMachine::adopt(std::string_view run_id, const ProcessIdentity& process) {
  return processes_.adopt(run_id, process);
}

void SimulatedMachine::terminate(std::string_view run_id) {
  processes_.terminate(run_id);
  ends_now(run_id);
}

void SimulatedMachine::kill(std::string_view run_id) {
  processes_.kill(run_id);
  ends_now(run_id);
}

void SimulatedMachine::ends_now(std::string_view run_id) {
  const auto helper = helpers_.find(run_id);
  if (helper == helpers_.end() || !helper->second.ends) return;
  helper->second.ends = std::min(*helper->second.ends, clock_.boot_time());
}

void SimulatedMachine::kill_helper(const ProcessIdentity& helper) {
  for (const auto& [run_id, known] : helpers_) {
    if (known.identity == helper) return kill(run_id);
  }
}

void SimulatedMachine::daemon_dies() {
  processes_.daemon_dies();
  std::erase_if(helpers_, [](const auto& helper) { return !helper.second.ends; });
}

void SimulatedMachine::advance(Nanoseconds time) {
  processes_.advance(time);
  const Nanoseconds t = clock_.boot_time();
  std::erase_if(helpers_, [&](const auto& helper) { return helper.second.ends.value_or(t) + kRememberedFor < t; });
}

// As kron-exec does: it sleeps until its lease is over, and looks then whether it was extended.
void SimulatedMachine::enforce_leases() {
  const Nanoseconds t = clock_.boot_time();
  for (auto& [run_id, helper] : helpers_) {
    if (!helper.ends || *helper.ends <= t || helper.armed > t) continue;
    helper.armed = deadline_of(helper);
    if (helper.armed <= t) kill(run_id);
  }
}

std::optional<Nanoseconds> SimulatedMachine::next_event() const {
  std::optional<Nanoseconds> next;
  for (const auto& [run_id, helper] : helpers_) {
    if (!helper.ends || *helper.ends <= clock_.boot_time()) continue;
    const Nanoseconds its = std::min(*helper.ends, helper.armed);
    next = std::min(next.value_or(its), its);
  }
  return next;
}

bool SimulatedMachine::is_running(std::string_view run_id, Nanoseconds ago) const {
  const auto helper = helpers_.find(run_id);
  return helper != helpers_.end() && helper->second.ends && *helper->second.ends + ago > clock_.boot_time();
}

Nanoseconds SimulatedMachine::deadline_of(const Helper& helper) {
  std::int64_t count = 0;
  const ssize_t got = ::pread(helper.lease.get(), &count, sizeof count, 0);
  return got == sizeof count ? Nanoseconds(count) : Nanoseconds(0);
}

}  // namespace kron::testing
