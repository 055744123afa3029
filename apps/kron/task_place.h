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

// A data directory that was named is taken as it is, and so is a socket that was named. Otherwise it is a krond's when
// one answers, and else the data directory below the state directory.
Result<TaskPlace> task_place(const TaskPlaceOptions& options);

// Where workers of a krond keep what their commands need while they run.
Result<std::string> workers_directory(const TaskPlaceOptions& options);

}  // namespace kron::cli
