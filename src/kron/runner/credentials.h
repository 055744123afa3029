#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// The directories with copies of credentials that kron-exec makes, one for each run that has any, and removes at the
// run's end. It holds a lock on its directory as long as it lives; one without a lock was left by a kron-exec that was
// killed, or by a machine that went down.
namespace kron::runner {

// Removes what was left below `directory`, of every run, and it itself when nothing is in it any more. Returns how
// many.
std::size_t remove_left_credentials(const std::string& directory);

// Of this run alone.
bool remove_left_credentials(const std::string& directory, std::string_view run_id);

}  // namespace kron::runner
