#pragma once

#include <string>
#include <sys/resource.h>
#include <vector>

#include "kron/base/result.h"
#include "kron/env/process_runner.h"
#include "kron/runner/accounts.h"

namespace kron::runner {

inline constexpr char kDefaultPath[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// A limit as the daemon found it, before it changed its own.
struct FoundLimit {
  int resource = 0;
  rlimit values = {};
};

// The bytes kron-exec reads (protocol.h). `found`: for a command that names none of its own. `cgroup`: where the run
// gets a cgroup of its own, or empty. `credentials`: where copies of its credentials go. Invalid: nothing to run, a NUL
// in a text, more than kron-exec takes, credentials without a place.
Result<std::string> instructions_of(const RunSpec& spec, const Account& account, const std::vector<FoundLimit>& found,
                                    const std::string& cgroup, const std::string& credentials = {});

// Instructions to execute nothing and record a failure: how a run ends that could not even be described.
std::string failure_instructions(const std::string& run_id, int code, const std::string& reason);

}  // namespace kron::runner
