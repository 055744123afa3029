#include "bare_loop.h"

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "kron/env/clock.h"
#include "kron/runner/instruction_writer.h"
#include "kron/runner/protocol.h"
#include "kron/runner/run_files.h"
#include "kron/runner/spawner.h"

namespace kron::bench {

Started started(const std::vector<std::int64_t>& stamps, std::int64_t since) {
  Started result;
  result.count = stamps.size();
  if (stamps.empty()) return result;
  const auto after = [&](std::size_t i) { return static_cast<double>(stamps[i] - since) / 1e9; };
  result.first = after(0);
  result.median = after(stamps.size() / 2);
  result.last = after(stamps.size() - 1);
  return result;
}

Started bare_loop(int count, bool in_shell) {
  const Host host;
  const RealClock clock;
  runner::Accounts accounts(clock);
  const auto files = runner::RunFiles::open(host.directory()).value();
  const runner::HelperProgram program(KRON_EXEC);
  runner::Spawner spawner(program, files.descriptor());
  const auto account = accounts.find("", "").value();
  std::vector<std::string> instructions;
  for (int i = 0; i < count; ++i) {
    RunSpec spec{.run_id = "run-" + std::to_string(i), .command = {KRON_STAMP, host.stamps_file()}};
    if (in_shell) spec.command = {"/bin/sh", "-c", host.stamp_command()};
    instructions.push_back(runner::instructions_of(spec, *account, {}, "").value());
  }
  std::vector<pid_t> pids;
  const std::int64_t begin = wall_nanoseconds();
  for (const std::string& text : instructions) {
    const runner::Spawned spawned = spawner.spawn(text).value();
    if (::write(spawned.gate.get(), &runner::kGo, 1) != 1) std::exit(1);
    pids.push_back(spawned.pid);
  }
  for (const pid_t pid : pids) ::waitpid(pid, nullptr, 0);
  return started(host.stamps(), begin);
}

}  // namespace kron::bench
