#pragma once

#include <cstdint>
#include <ctime>
#include <optional>

#include "kron/base/run_usage.h"
#include "kron/runner/exec/run_directory.h"

namespace kron::exec {

struct Ending {
  std::optional<int> code;  // 128 + n when ended by signal n; none: never executed
  int signal = 0;
  std::uint32_t attempts = 0;  // of executing it
  std::optional<bool> failed;  // none: as the code says
  char reason[512] = "";
  timespec started = {};  // wall clock
  timespec ended = {};
  std::uint64_t output_bytes = 0;
  std::uint64_t output_lost = 0;
  int output_error = 0;  // an errno
  std::optional<RunUsage> used;
};

// Puts the record in its place: a reader finds all of it or none. It survives the death of every process, and need not
// survive the machine's: after a boot an exit code may be unknown, so no sync is paid for here. That a run was never
// executed takes the place of no other record.
bool write_exit(RunDirectory& run_directory, const char* run_id, const Ending& ending);

// The command has ended, and no record will say so: what it left behind is then none of krond's business.
void forget_session(RunDirectory& run_directory);

}  // namespace kron::exec
