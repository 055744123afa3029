#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/env/descriptor.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/fake_process_runner.h"

namespace kron::testing {

// The processes of one host, each with its helper, which has the run's claim file open as its lease and kills by it,
// whatever has become of the daemon. Outlives the host's daemons.
class SimulatedMachine : public ProcessRunner {
 public:
  SimulatedMachine(const FakeClock& clock, std::function<Nanoseconds()> run_time);

  Result<ProcessIdentity> start(const RunSpec& spec) override;
  Status open_gate(std::string_view run_id) override;
  void abandon(std::string_view run_id) override;
  std::optional<RunExit> adopt(std::string_view run_id, const ProcessIdentity& process) override;
  void terminate(std::string_view run_id) override;
  void kill(std::string_view run_id) override;
  std::vector<RunExit> drain_exits() override { return processes_.drain_exits(); }

  // What a broken daemon does: the command goes at once, whatever becomes of its claim.
  void let_go_early(const RunSpec& spec);

  // What goes on without the daemon.
  void advance(Nanoseconds time);
  void enforce_leases();
  // When the next command ends by itself, or is to be killed by its lease, on Clock::boot_time.
  [[nodiscard]] std::optional<Nanoseconds> next_event() const;

  void kill_helper(const ProcessIdentity& helper);
  void daemon_dies();

  // Whether the command still runs, or did until so long ago.
  [[nodiscard]] bool is_running(std::string_view run_id, Nanoseconds ago = Nanoseconds(0)) const;
  [[nodiscard]] bool has_exits() const { return processes_.has_exits(); }
  [[nodiscard]] const std::vector<std::string>& executed() const { return processes_.executed(); }
  std::vector<std::string> take_executed() { return processes_.take_executed(); }

 private:
  struct Helper {
    ProcessIdentity identity = {};
    Descriptor lease = Descriptor();
    Nanoseconds armed = Nanoseconds::max();  // when it looks into its lease
    Nanoseconds runs_for{0};
    std::optional<Nanoseconds> ends = {};  // none: it is at its gate
    bool is_early = false;
  };
  [[nodiscard]] static Nanoseconds deadline_of(const Helper& helper);
  void ends_now(std::string_view run_id);

  const FakeClock& clock_;
  std::function<Nanoseconds()> run_time_;
  FakeProcessRunner processes_;
  std::map<std::string, Helper, std::less<>> helpers_;
};

}  // namespace kron::testing
