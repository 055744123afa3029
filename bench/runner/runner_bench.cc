#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <vector>

#include "kron/env/clock.h"
#include "kron/runner/real_process_runner.h"

// How long it takes to start many runs and hold them at their gates, and until all have ended, against a bare loop of
// posix_spawn that starts the same helper as often and lets it end at once.
namespace {

using Timer = std::chrono::steady_clock;

double seconds_since(Timer::time_point start) { return std::chrono::duration<double>(Timer::now() - start).count(); }

struct Times {
  double started = 0;
  double ended = 0;
};

Times bare_loop(int count, std::string program) {
  char* const arguments[] = {program.data(), nullptr};
  char* const environment[] = {nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addclose(&quiet, STDERR_FILENO);
  std::vector<pid_t> pids(static_cast<std::size_t>(count));
  const Timer::time_point start = Timer::now();
  Times times;
  for (pid_t& pid : pids) {
    if (posix_spawn(&pid, program.c_str(), &quiet, nullptr, arguments, environment) != 0) std::exit(1);
  }
  times.started = seconds_since(start);
  for (const pid_t pid : pids) ::waitpid(pid, nullptr, 0);
  times.ended = seconds_since(start);
  posix_spawn_file_actions_destroy(&quiet);
  return times;
}

Times runs(int count, int round, kron::runner::RealProcessRunner& runner) {
  std::vector<kron::RunSpec> specs(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    specs[static_cast<std::size_t>(i)].run_id = "run-" + std::to_string(round) + "-" + std::to_string(i);
    specs[static_cast<std::size_t>(i)].command = {"/bin/true"};
  }
  const Timer::time_point start = Timer::now();
  Times times;
  for (const kron::RunSpec& spec : specs) {
    if (!runner.start(spec)) std::exit(1);
  }
  times.started = seconds_since(start);
  for (const kron::RunSpec& spec : specs) (void)runner.open_gate(spec.run_id);
  while (runner.alive() > 0) {
    pollfd event{runner.descriptor(), POLLIN, 0};
    ::poll(&event, 1, -1);
    (void)runner.drain_exits();
  }
  times.ended = seconds_since(start);
  return times;
}

// The middle of several rounds, so that one disturbance does not decide.
double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  const bool brief = std::getenv("BRIEF") != nullptr;
  const int count = brief ? 20 : 1000;
  const int rounds = brief ? 1 : 5;
  char directory[] = "/tmp/kron-runner-bench-XXXXXX";
  if (::mkdtemp(directory) == nullptr) return 1;
  const kron::RealClock clock;
  auto runner = kron::runner::RealProcessRunner::create({.helper = KRON_EXEC, .state_directory = directory}, clock);
  if (!runner) {
    std::fprintf(stderr, "%s\n", runner.error().message.c_str());
    return 1;
  }
  std::vector<double> bare_started, held, held_ratio, commands_ended, runs_ended;
  for (int round = 0; round < rounds; ++round) {
    const Times bare = bare_loop(count, KRON_EXEC);
    const Times ours = runs(count, round, **runner);
    const Times commands = bare_loop(count, "/bin/true");
    bare_started.push_back(bare.started);
    held.push_back(ours.started);
    held_ratio.push_back(ours.started / bare.started);
    commands_ended.push_back(commands.ended);
    runs_ended.push_back(ours.ended);
  }
  std::filesystem::remove_all(directory);
  std::printf(
      "{\"bench\":\"runner\",\"runs\":%d,\"rounds\":%d,\"bareSpawnSeconds\":%.6f,\"startSeconds\":%.6f,"
      "\"startRatio\":%.3f,\"bareCommandsSeconds\":%.6f,\"runsEndedSeconds\":%.6f}\n",
      count, rounds, median(bare_started), median(held), median(held_ratio), median(commands_ended),
      median(runs_ended));
}
