#include <gtest/gtest.h>

#include "kron/queue/queue_rig.h"
#include "kron/testing/property.h"

// FileQueue, with its index and its files, against MemoryQueue, which looks at every task for every answer: the same
// requests get the same answers, also when the file queue is restarted in between.
namespace kron::testing {
namespace {

const QueueOptions kOptions{.ageing = Seconds(20), .concurrency_limits = {{"B", 2}}};

// Both a value, and the same; or both an error of the same kind.
template <class T>
bool is_same(const Result<T>& a, const Result<T>& b) {
  return a.has_value() == b.has_value() && (a ? *a == *b : a.error().code == b.error().code);
}

// Two queues on clocks that go alike. Tokens and sequence numbers may differ: a restart skips some.
class Pair {
 public:
  Pair() : memory_(kOptions), file_(kOptions) {}

  void step() {
    switch (*rc::gen::inRange(0, 12)) {
      case 0:
      case 1:
      case 2:
        return submit();
      case 3:
      case 4:
        return lease();
      case 5:
        return commit();
      case 6:
        return fail();
      case 7:
        return cancel();
      case 8:
        return retry();
      case 9:
        return pass(Seconds(*rc::gen::inRange(0, 60)));
      case 10:
        return renew();
      default:
        if (!has_leases()) file_.restart();  // a kept lease would get another term
    }
  }

  void compare() {
    const auto of_memory = memory_.queue().list({.limit = 1000}).value();
    const auto of_file = file_.queue().list({.limit = 1000}).value();
    RC_ASSERT(of_memory.size() == of_file.size());
    for (std::size_t i = 0; i < of_memory.size(); ++i) {
      RC_ASSERT(of_memory[i].spec == of_file[i].spec);
      RC_ASSERT(state_of(of_memory[i]) == state_of(of_file[i]));
      RC_ASSERT(of_memory[i].executions.size() == of_file[i].executions.size());
      RC_ASSERT(of_memory[i].result == of_file[i].result);
    }
    RC_ASSERT(*memory_.queue().counts() == *file_.queue().counts());
    // A restart forgets what has ended before it.
    const TaskSummary one = memory_.queue().summary().value();
    const TaskSummary other = file_.queue().summary().value();
    RC_ASSERT(one.types == other.types);
    RC_ASSERT(one.oldest_pending == other.oldest_pending);
    RC_ASSERT(memory_.queue().next_expiry() == file_.queue().next_expiry());
  }

 private:
  struct Held {
    Lease memory;
    Lease file;
  };

  static std::string any_id() { return "t" + std::to_string(*rc::gen::inRange(0, 12)); }

  NewTask any_task() {
    NewTask task =
        task_named(any_id(), *rc::gen::element<std::string>("A", "B"), *rc::gen::element<std::string>("1", "2"));
    task.priority = *rc::gen::inRange(-2, 3);
    task.retry = {*rc::gen::inRange(1, 4), Seconds(*rc::gen::inRange(0, 30)), Seconds(100)};
    if (*rc::gen::inRange(0, 4) == 0) task.run_at = now(memory_.clock) + Seconds(*rc::gen::inRange(-50, 50));
    if (*rc::gen::inRange(0, 4) == 0) task.timeout = Seconds(*rc::gen::inRange(1, 50));
    if (*rc::gen::inRange(0, 4) == 0) task.unique_key = "k" + std::to_string(*rc::gen::inRange(0, 3));
    return task;
  }

  bool has_leases() { return memory_.queue().counts()->running > 0; }

  void submit() {
    std::vector<NewTask> tasks;
    const int count = *rc::gen::inRange(1, 4);
    for (int i = 0; i < count; ++i) tasks.push_back(any_task());
    const auto of_memory = memory_.queue().submit(tasks);
    const auto of_file = file_.queue().submit(tasks);
    for (std::size_t i = 0; i < tasks.size(); ++i) RC_ASSERT(is_same(of_memory[i], of_file[i]));
  }

  void lease() {
    LeaseRequest request{.worker = "w", .count = static_cast<std::size_t>(*rc::gen::inRange(1, 4)), .starts = true};
    if (*rc::gen::inRange(0, 2) == 0) request.types = {"A"};
    const auto of_memory = memory_.queue().lease(request).value();
    const auto of_file = file_.queue().lease(request).value();
    RC_ASSERT(of_memory.size() == of_file.size());
    for (std::size_t i = 0; i < of_memory.size(); ++i) {
      RC_ASSERT(of_memory[i].task_id == of_file[i].task_id);
      RC_ASSERT(of_memory[i].attempt == of_file[i].attempt);
      held_.push_back({of_memory[i], of_file[i]});
    }
  }

  // Also leases that were lost long ago.
  const Held* any_held() {
    return held_.empty() ? nullptr : &held_[static_cast<std::size_t>(*rc::gen::inRange(0, 1000)) % held_.size()];
  }

  void commit() {
    const Held* held = any_held();
    if (held == nullptr) return;
    CommitRequest request{.key = held->memory.key, .result = "r"};
    if (*rc::gen::inRange(0, 2) == 0) request.follow_ups = {any_task()};
    const auto of_memory = memory_.queue().commit(request);
    request.key = held->file.key;
    const auto of_file = file_.queue().commit(request);
    RC_ASSERT(of_memory.has_value() == of_file.has_value());
    if (!of_memory) {
      RC_ASSERT(of_memory.error().code == of_file.error().code);
      return;
    }
    RC_ASSERT(of_memory->outcome == of_file->outcome);
    RC_ASSERT(of_memory->follow_ups == of_file->follow_ups);
  }

  void fail() {
    const Held* held = any_held();
    if (held == nullptr) return;
    const bool counts = *rc::gen::arbitrary<bool>();
    const auto of_memory = memory_.queue().fail_attempt({held->memory.key, "x", counts});
    const auto of_file = file_.queue().fail_attempt({held->file.key, "x", counts});
    RC_ASSERT(of_memory->outcome == of_file->outcome);
    RC_ASSERT(of_memory->state == of_file->state);
  }

  void renew() {
    if (const Held* held = any_held()) {
      RC_ASSERT(is_same(memory_.queue().renew(held->memory.key), file_.queue().renew(held->file.key)));
    }
  }

  void cancel() {
    const std::string id = any_id();
    RC_ASSERT(is_same(memory_.queue().cancel(id), file_.queue().cancel(id)));
  }

  void retry() {
    const std::string id = any_id();
    RC_ASSERT(is_same(memory_.queue().retry(id, 1), file_.queue().retry(id, 1)));
  }

  void pass(Seconds time) {
    memory_.clock.advance(time);
    file_.clock.advance(time);
    RC_ASSERT(memory_.queue().expire().value().size() == file_.queue().expire().value().size());
  }

  MemoryRig memory_;
  FileRig file_;
  std::vector<Held> held_;
};

TEST(QueueModel, TheFileQueueAnswersAsTheModelDoes) {
  for_all(40, [] {
    Pair pair;
    const int steps = *rc::gen::inRange(1, 120);
    for (int i = 0; i < steps; ++i) pair.step();
    pair.compare();
  });
}

}  // namespace
}  // namespace kron::testing
