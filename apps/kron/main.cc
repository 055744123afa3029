#include <cstdio>
#include <exception>

#include "command.h"
#include "kron/base/result.h"
#include "private_memory.h"

int main(int argc, char** argv) {
  // Before the token is read, and its environment has it from the first.
  if (kron::cli::leads_to_token(argc, argv)) kron::cli::keep_memory_private();
  try {
    const int status = kron::cli::run_command(argc, argv);
    return std::fflush(stdout) == 0 ? status : kron::exit_status(kron::Code::io);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kron: internal error: %s\n", error.what());
    return kron::exit_status(kron::Code::internal);
  }
}
