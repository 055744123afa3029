#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kron/daemon/ping_queue.h"
#include "kron/jobs/definition.h"
#include "kron/scheduler/event.h"

namespace kron::daemon {

// What the check of the event's job is told, but for where that is; nothing when it is not told of such an event.
std::optional<Ping> ping_of(const Event& event);

// An observer of the scheduler that makes pings of what happens to jobs with `ping`. On the loop; it waits for nobody.
class PingSink {
 public:
  explicit PingSink(std::function<void(Ping)> send) : send_(std::move(send)) {}
  PingSink(const PingSink&) = delete;
  PingSink& operator=(const PingSink&) = delete;

  void take(const Event& event);

  // Jobs that are about to be in force: all of them, or some beside those that are.
  void replace(const std::vector<jobs::JobDefinition>& all);
  void put(const std::vector<jobs::JobDefinition>& some);
  // Those are in force no longer. The ends of their runs are told of.
  void drop(std::span<const std::string> names);

  // Jobs whose checks are known.
  [[nodiscard]] std::size_t size() const { return checks_.size(); }

 private:
  struct Check {
    std::shared_ptr<const std::string> url;
    std::size_t runs = 0;  // that go on
    bool is_wanted = true;
  };
  using Checks = std::unordered_map<std::string, Check>;

  void release(Checks::iterator check);

  std::function<void(Ping)> send_;
  Checks checks_;  // by job
};

}  // namespace kron::daemon
