#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kron/core/sample_jobs.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/scheduler/fake/daemon.h"

namespace kron::testing {

// A time to begin at: the first of March 2026.
inline constexpr Instant kMidnight = instant_of(1'772'323'200);

// A job that runs its own name.
inline jobs::JobDefinition job(JobSpec spec, std::string name = "job") {
  spec.identity = name;
  jobs::JobDefinition definition;
  definition.job = make_job(spec);
  definition.action = jobs::Command{std::move(name)};
  return definition;
}

// One machine with one daemon on it, all of it made up but the daemon.
class Host {
 public:
  explicit Host(Instant start) : outside(start) {}
  Host(const Host&) = delete;  // its daemon refers to its clock, disk and processes
  Host& operator=(const Host&) = delete;

  void set_jobs(std::vector<jobs::JobDefinition> definitions) { outside.jobs = std::move(definitions); }

  // Boots the daemon on what is on the disk.
  Status start_daemon() {
    auto started = Daemon::start(outside, *file_system, log, Mutation::none, start_since);
    if (!started) return fail(started.error());
    daemon = *std::move(started);
    scheduler = &daemon->scheduler();
    ledger = &daemon->ledger();
    return {};
  }

  Status reload(std::vector<jobs::JobDefinition> definitions) { return daemon->reload(std::move(definitions)); }

  void kill_daemon() {
    daemon.reset();
    runner.daemon_dies();
  }

  Status restart_daemon() {
    kill_daemon();
    return start_daemon();
  }

  void run_for(Nanoseconds length) { daemon->run_for(length); }
  void run_until(Instant time) { run_for(time - clock.wall()); }
  void pass(Nanoseconds time) { outside.pass(time); }

  Outside outside;
  FakeClock& clock = outside.clock;
  FakeProcessRunner& runner = outside.runner;
  CapturingLog log;
  std::unique_ptr<PowerCutFileSystem> file_system = std::make_unique<PowerCutFileSystem>();
  std::unique_ptr<Daemon> daemon;
  std::optional<Instant> start_since = {};  // a planned restart: what became due since is on time
  Scheduler* scheduler = nullptr;
  FileLedger* ledger = nullptr;
};

}  // namespace kron::testing
