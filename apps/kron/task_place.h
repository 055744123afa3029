#pragma once

#include <string>

#include "kron/base/result.h"

namespace kron::cli {

// What the flags say about where tasks are; empty: nothing.
struct TaskPlaceOptions {
  std::string data_dir;
  std::string socket;
  std::string state_dir;
};

// One of the two.
struct TaskPlace {
  std::string data_directory;
  std::string socket_path;  // of a krond that has the tasks
};

// A data directory that was named is taken as it is. Otherwise the tasks are krond's, whether it answers now or not:
// who took its directory instead would keep it out, and whatever he left there no worker would find.
Result<TaskPlace> task_place(const TaskPlaceOptions& options);

// Where workers of a krond keep what their commands need while they run.
Result<std::string> workers_directory(const TaskPlaceOptions& options);

}  // namespace kron::cli
