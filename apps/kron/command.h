#pragma once

namespace kron::cli {

// The whole command but for the process around it: finds the verb, reads its flags, and runs it. Uses the standard
// streams, returns the exit status. What is thrown is an internal error.
int run_command(int argc, const char* const* argv);

}  // namespace kron::cli
