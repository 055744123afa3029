#pragma once

#include <cstddef>

namespace kron::exec {

// Whether we were started to fork ourselves for each run.
bool is_server(int count, char** arguments);

// The instructions of one run. No bytes: they are in the memory file, where a kron-exec that was executed finds them.
struct Request {
  char* bytes = nullptr;
  std::size_t size = 0;
};

// Takes requests until krond has ended, and then ends the process. Returns in each process that it makes: that one is a
// kron-exec for one run like any that krond executes, in a process group of its own, krond's child, with the same
// descriptors.
Request serve();

// What ps shows of us: the run instead of `--serve`.
void set_title(char** arguments, const char* run_id);

}  // namespace kron::exec
