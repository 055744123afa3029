#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "kron/base/failure_rule.h"
#include "kron/base/instant.h"
#include "kron/base/process_settings.h"
#include "kron/base/result.h"
#include "kron/base/run_usage.h"
#include "kron/base/secret_files.h"
#include "kron/env/clock.h"
#include "kron/env/output_kind.h"

namespace kron {

// What names one process for ever. A PID alone does not: the kernel hands it out again.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_time = 0;  // clock ticks since boot, field 22 of /proc/<pid>/stat
  std::string boot_id;

  bool operator==(const ProcessIdentity&) const = default;
};

struct OutputTo {
  OutputKind kind = OutputKind::capture;
  std::string path = {};  // file only; absolute

  bool operator==(const OutputTo&) const = default;
};

// A resource limit (RLIMIT_…), soft and hard.
struct ProcessLimit {
  int resource = 0;
  std::uint64_t most = 0;

  bool operator==(const ProcessLimit&) const = default;
};

inline constexpr std::uint64_t kDefaultCapture = 10 << 20;

struct RunSpec {
  std::string run_id;                // letters, digits, `.` `_` `-`; at most 128 bytes; no two runs share one
  std::vector<std::string> command;  // the program and its arguments
  std::vector<std::pair<std::string, std::string>> environment = {};  // HOME, USER, LOGNAME, PATH are added if absent
  std::string user = {};                                              // empty: the daemon's own
  std::string group = {};                                             // empty: the user's
  std::string directory = {};                                         // empty: the user's home; `~`: $HOME
  ProcessSettings process = {};
  SecretFiles secrets = {};  // read when it is let go; a run that cannot have them ends with 126
  std::vector<ProcessLimit> limits = {};
  std::optional<std::string> input = {};  // none: /dev/null
  OutputTo out = {};
  OutputTo err = {};
  std::uint64_t capture = kDefaultCapture;       // bytes; of more, the last are kept
  std::optional<Nanoseconds> timeout = {};       // none: it may run for ever
  Nanoseconds grace = std::chrono::seconds(10);  // between TERM and KILL
  // A file that start() gives to the run, and that stays the caller's: its first eight bytes are the time, in
  // nanoseconds on Clock::boot_time, at which the command's group is killed unless they say a later one by then. None:
  // never.
  std::optional<int> lease = {};
};

// A run that is over.
struct RunExit {
  std::string run_id;
  std::optional<int> code;               // 128 + n when ended by signal n; none: nobody saw it
  std::string reason;                    // why it could not be executed, timed out …; may be empty
  bool never_ran = false;                // it ended at its gate: nothing of the user's was executed
  std::optional<Instant> ended = {};     // as its own record says; it may have ended while no daemon lived
  std::uint64_t output_bytes = 0;        // what the command wrote; the captured file may hold less
  int signal = 0;                        // that ended the command; 0: it exited by itself, whatever its code
  std::optional<WallTime> began = {};    // to the nanosecond: when the command was executed, as its own record says
  std::optional<Nanoseconds> took = {};  // from then to its end
  std::uint32_t attempts = 1;            // how often the command was executed within the run
  std::optional<bool> failed = {};       // what was decided of it (base/failure_rule.h); none: as the code says
  std::optional<RunUsage> used = {};     // none: nobody saw it

  bool operator==(const RunExit&) const = default;
};

// Of attempts at the command, for what tells only of more than one.
constexpr std::optional<std::uint32_t> several(std::uint32_t attempts) {
  return attempts > 1 ? std::optional(attempts) : std::nullopt;
}

// Runs, known by their run id. Each is started behind a gate, so that its start can be made durable before anything of
// the user's is executed; the death of this process closes every gate that was not opened.
class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;

  // Held at its gate when this returns. A failure means that no process is left behind.
  virtual Result<ProcessIdentity> start(const RunSpec& spec) = 0;

  // Lets a held run go. A failure means that it never ran and never will; its exit still comes by drain_exits.
  virtual Status open_gate(std::string_view run_id) = 0;

  // Ends a held run, which then has executed nothing; no exit is reported for it.
  virtual void abandon(std::string_view run_id) = 0;

  // After a restart: takes up a run an earlier daemon started. Nothing when it is alive (its end will come by
  // drain_exits), else how it ended, as far as is known.
  virtual std::optional<RunExit> adopt(std::string_view run_id, const ProcessIdentity& process) = 0;

  // Whether a run of this id was let go before, by whatever daemon, and how it ended as far as is known. For a period
  // whose record is gone: it must not run again.
  virtual std::optional<RunExit> earlier_run(std::string_view /*run_id*/) { return std::nullopt; }

  // TERM or KILL to the run's whole process group. TERM is followed by KILL after the run's grace, whether or not this
  // process still lives then. A run that is over is no error.
  virtual void terminate(std::string_view run_id) = 0;
  virtual void kill(std::string_view run_id) = 0;

  // Everything that ended since the last call, in the order it ended; each end once.
  virtual std::vector<RunExit> drain_exits() = 0;
};

}  // namespace kron
