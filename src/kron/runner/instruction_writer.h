#pragma once

#include <optional>
#include <string>
#include <sys/resource.h>

#include "kron/base/result.h"
#include "kron/env/process_runner.h"
#include "kron/runner/accounts.h"

namespace kron::runner {

inline constexpr char kDefaultPath[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// The bytes kron-exec reads (protocol.h). `open_files`: the limit for a command that names none; the daemon's own may
// have been raised. `cgroup`: where the run gets a cgroup of its own, or empty. `credentials`: where copies of its
// credentials go. Invalid: nothing to run, a NUL in a text, more than kron-exec takes, credentials without a place.
Result<std::string> instructions_of(const RunSpec& spec, const Account& account, std::optional<rlimit> open_files,
                                    const std::string& cgroup, const std::string& credentials = {});

// Instructions to execute nothing and record a failure: how a run ends that could not even be described.
std::string failure_instructions(const std::string& run_id, int code, const std::string& reason);

}  // namespace kron::runner
