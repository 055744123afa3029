#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/jobs/definition.h"
#include "kron/queue/task_queue.h"
#include "kron/scheduler/scheduler.h"

namespace kron::daemon {

// Brings the messages of alarms to the queue, as tasks `kron.notify`, and looks for what is late. All of it is on
// the loop; nothing waits for the queue. What it knows is in memory alone: a message is owed in the job's record until
// the queue has it (core/alarm.h), and the next daemon finds it there.
class Notifier {
 public:
  using Submitted = std::function<void(std::vector<Result<SubmitAnswer>>)>;

  // All of it outlives the notifier.
  struct World {
    const Clock& clock;  // that jobs go by
    Log& log;
    std::function<void(std::vector<NewTask>, Submitted)> submit;  // answers on any thread
    std::function<void(std::function<void()>)> on_loop;
    std::function<void(const std::string& identity, AlarmNotes)> note;
    std::function<std::optional<Scheduler::View>(const std::string& identity)> view;
    std::string host;
  };
  explicit Notifier(World world) : world_(std::move(world)) {}
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // An observer of the scheduler.
  void take(const Event& event);

  // Jobs that are about to be in force, beside those that are.
  void prepare(const std::vector<jobs::JobDefinition>& definitions);
  // Whether any of them has been told of `notify`: without one, there is nothing to deliver.
  [[nodiscard]] bool is_wanted() const { return is_wanted_; }

  // When to come again, on Clock::monotonic.
  Nanoseconds tick();

  // Messages that the queue has not taken yet.
  [[nodiscard]] std::size_t waiting() const { return on_their_way_.size() + again_.size(); }
  // Whether it has been asked to take some, and has not answered.
  [[nodiscard]] bool is_submitting() const { return !on_their_way_.empty(); }
  // Why it does not; empty: it has refused none since it took the last one.
  [[nodiscard]] const std::string& waits_because() const { return waits_because_; }

 private:
  struct Owed {
    std::string identity;
    AlarmMessage message;
  };
  struct Watched {
    std::optional<Instant> check = {};
    std::set<Instant> told = {};  // periods
  };

  void submit(Owed owed);
  void take_answers(const Owed& owed, const std::vector<Result<SubmitAnswer>>& answers);
  void touch(const std::string& identity);
  void look(const std::string& identity, Instant now);

  World world_;
  bool is_wanted_ = false;
  std::set<std::pair<std::string, std::string>> on_their_way_;  // identity, key
  std::vector<Owed> again_;                                     // which the queue could not take …
  Nanoseconds again_at_{0};                                     // … and when it is asked again
  std::string waits_because_;
  std::map<std::string, Watched> late_;  // jobs that can be late
  std::set<std::string> touched_;        // of these
  std::set<std::pair<Instant, std::string>> checks_;
  bool has_noted_ = false;
};

// One task of a message for each of its destinations.
std::vector<NewTask> tasks_of(const std::string& identity, const AlarmMessage& message, const std::string& host);

}  // namespace kron::daemon
