#pragma once

#include <functional>
#include <optional>
#include <string>

#include "kron/scheduler/scheduler.h"

namespace kron::api {

// What an operator may ask of jobs and runs. Called on the loop, and answered there, at once or later: what changes a
// record is answered when that is durable, and the loop goes on meanwhile. Of a krond that is alone it is its
// scheduler's business; in a cluster it is told to all.
struct Operations {
  using Done = OperatorRequest::Done;
  using Started = OperatorRequest::Started;

  struct Pause {
    std::optional<Instant> until = {};
    bool skip_missed = false;
  };

  std::function<void(const std::string& job, const Pause&, const Attribution&, const Done&)> pause = {};
  std::function<void(const std::string& job, bool skip_missed, const Attribution&, const Done&)> resume = {};
  std::function<void(const std::string& job, const std::string& key, const Attribution&, const Started&)> trigger = {};
  std::function<void(const std::string& run_id, const Attribution&, const Done&)> terminate = {};
  std::function<void(const std::string& run_id, const Attribution&, const Done&)> kill = {};
};

// Those that are missing are the scheduler's, which outlives them.
Operations completed(Operations operations, Scheduler& scheduler);

}  // namespace kron::api
