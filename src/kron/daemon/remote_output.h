#pragma once

#include <string>
#include <string_view>

#include "kron/cluster/keys.h"
#include "kron/cluster/link.h"

namespace kron::daemon {

// What stands in Redis of a run's output: a sorted set of lines without their newlines, or, written by cronken or in
// its dialect, a list of lines with them. Blocks; not on the loop. not_found: it is kept no longer, or nothing was
// written.
Result<std::string> remote_output(cluster::Link& link, const cluster::Keys& keys, const std::string& run_id);

// Pure. The line that a member of the sorted set stands for: one that was there already has NUL and digits behind it.
std::string_view line_of_member(std::string_view member);

}  // namespace kron::daemon
