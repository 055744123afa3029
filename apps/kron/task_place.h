#pragma once

#include <optional>
#include <string>

#include "cluster_session.h"
#include "kron/base/result.h"
#include "krond_place.h"

namespace kron::cli {

// What the flags say about where tasks are; empty: nothing.
struct TaskPlaceOptions {
  std::string data_dir = {};
  std::string socket = {};
  std::string state_dir = {};
  ClusterOptions redis = {};
  std::string url = {}, token_file = {}, ca_file = {};
};

// One of the three.
struct TaskPlace {
  std::string data_directory = {};
  std::optional<http::Endpoint> krond = {};  // that has the tasks
  bool in_redis = false;                     // of TaskPlaceOptions::redis, or of $KRON_REDIS
};

// A data directory or a Redis that was named is taken as it is; so is the Redis of the environment, when no flag says
// where a krond is, and $KRON_TASKS does not say `file`. Otherwise the tasks are krond's, whether it answers now or
// not: who took its directory instead would keep it out, and whatever he left there no worker would find.
Result<TaskPlace> task_place(const TaskPlaceOptions& options);

// Where workers of a krond, or of a Redis, keep what their commands need while they run.
Result<std::string> workers_directory(const TaskPlaceOptions& options);

}  // namespace kron::cli
