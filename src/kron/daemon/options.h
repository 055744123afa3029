#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/daemon/cluster_options.h"
#include "kron/jobs/definition.h"
#include "kron/log/line_log.h"
#include "kron/queue/task_queue.h"
#include "kron/runner/retention.h"

namespace kron::daemon {

// What becomes of the runs when the daemon is told to end.
enum class OnStop : std::uint8_t {
  leave,      // they go on; the next daemon takes them up
  wait,       // it ends when they have ended
  terminate,  // TERM, grace, KILL; it ends when they have ended
};

struct Options {
  std::vector<std::string> config;  // job files and directories of them
  std::string state_directory;
  std::optional<jobs::Spelling> source = {};  // of every file, whatever its name
  bool once = false;                          // do what is due now, see it end, and end
  Nanoseconds clock_offset{0};
  LogFormat log_format = LogFormat::text;
  LogLevel log_level = LogLevel::info;
  OnStop on_stop = OnStop::leave;
  std::string helper = {};  // empty: found beside the program
  std::string socket = {};  // of the API; empty: none
  std::optional<gid_t> socket_group = {};
  bool group_operates = false;  // or else it may only look
  runner::Retention keeps = {};
  TaskRetention keeps_tasks = {};
  std::optional<ClusterOptions> cluster = {};  // then there are no job files
};

// A duration that may have a sign: `-36h`, `+5m`, `90s`.
Result<Nanoseconds> parse_offset(std::string_view text);

// Refused: one that takes the clock out of the years that schedules know, 1970 to 2199.
Status check_offset(Nanoseconds offset, Instant machine_time);

}  // namespace kron::daemon
