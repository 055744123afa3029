#pragma once

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "kron/env/clock.h"
#include "kron/runner/real_process_runner.h"
#include "kron/testing/golden.h"
#include "kron/testing/temporary_directory.h"

namespace kron::runner {

inline constexpr int kPatience = 60'000;  // milliseconds; only a failing test waits this long

using kron::testing::TemporaryDirectory;

inline std::string contents(const std::string& path) {
  return std::filesystem::exists(path) ? kron::testing::read_file(path) : std::string();
}

// Real processes, by the real kron-exec.
class RunnerFixture : public ::testing::Test {
 protected:
  RunnerFixture() { start_daemon(); }

  // The daemon's part of the world, again and again; runs go on in between.
  void start_daemon(RunnerOptions options = {}) {
    runner_.reset();
    options.helper = KRON_EXEC;
    options.state_directory = directory_.path();
    // The whole program is run in both ways of starting kron-exec (CMakeLists.txt).
    if (std::getenv("KRON_TEST_EXECUTES_HELPER") != nullptr) options.server_patience = {};
    Result<std::unique_ptr<RealProcessRunner>> created = RealProcessRunner::create(std::move(options), clock_);
    ASSERT_TRUE(created) << created.error().message;
    runner_ = *std::move(created);
  }

  static RunSpec shell(std::string run_id, std::string script) {
    return {.run_id = std::move(run_id), .command = {"/bin/sh", "-c", std::move(script)}};
  }

  ProcessIdentity start(const RunSpec& spec) {
    const Result<ProcessIdentity> started = runner_->start(spec);
    EXPECT_TRUE(started) << started.error().message;
    return started.value_or(ProcessIdentity{});
  }

  ProcessIdentity start_and_open(const RunSpec& spec) {
    ProcessIdentity process = start(spec);
    EXPECT_TRUE(runner_->open_gate(spec.run_id));
    return process;
  }

  RunExit wait_for(const std::string& run_id) {
    while (!ended_.contains(run_id)) {
      pollfd event{runner_->descriptor(), POLLIN, 0};
      if (::poll(&event, 1, kPatience) != 1) {
        ADD_FAILURE() << "the run " << run_id << " did not end";
        return {run_id, std::nullopt, "did not end"};
      }
      for (RunExit& exit : runner_->drain_exits()) ended_[exit.run_id] = std::move(exit);
    }
    return ended_.extract(run_id).mapped();
  }

  // A run of a daemon that is gone and that has ended; until its parent reaps it, it counts as alive.
  RunExit adopt_ended(const std::string& run_id, const ProcessIdentity& process) {
    std::optional<RunExit> exit = runner_->adopt(run_id, process);
    return exit ? *std::move(exit) : wait_for(run_id);
  }

  RunExit run(const RunSpec& spec) {
    start_and_open(spec);
    return wait_for(spec.run_id);
  }

  // Runs a script and gives what it wrote.
  std::string output_of_script(RunSpec spec) {
    const RunExit exit = run(spec);
    EXPECT_EQ(exit.code, 0) << exit.reason;
    return output(spec.run_id);
  }

  std::string output(const std::string& run_id) { return contents(runner_->files().output_path(run_id)); }

  // A FIFO by which a command tells the test how far it is: what it wrote, once it has written it.
  std::string make_fifo(const std::string& name) {
    const std::string path = directory_.file(name);
    EXPECT_EQ(::mkfifo(path.c_str(), 0666), 0);
    fifos_[path] = Descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    return path;
  }
  std::string read_fifo(const std::string& path) {
    pollfd event{fifos_[path].get(), POLLIN, 0};
    if (::poll(&event, 1, kPatience) != 1) return "nothing came";
    char text[256];
    const ssize_t size = ::read(event.fd, text, sizeof text);
    return std::string(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  }

  void write_fifo(const std::string& path, const std::string& text) {
    EXPECT_EQ(::write(fifos_[path].get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  TemporaryDirectory directory_;
  RealClock clock_;
  std::unique_ptr<RealProcessRunner> runner_;

 private:
  std::map<std::string, RunExit> ended_;
  std::map<std::string, Descriptor> fifos_;
};

}  // namespace kron::runner
