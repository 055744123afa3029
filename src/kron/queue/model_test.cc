#include <gtest/gtest.h>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "kron/queue/redis_queue_rig.h"
#include "kron/testing/property.h"

// FileQueue, with its index and its files, and two queues in one Redis, against MemoryQueue, which looks at every task
// for every answer: the same requests get the same answers, also when the file queue is restarted in between, and
// whichever of the two queues in Redis is asked.
namespace kron::testing {
namespace {

const QueueOptions kOptions{.ageing = Seconds(20), .concurrency_limits = {{"B", 2}}};

// Both a value, and the same; or both an error of the same kind.
template <class T>
bool is_same(const Result<T>& a, const Result<T>& b) {
  return a.has_value() == b.has_value() && (a ? *a == *b : a.error().code == b.error().code);
}

// Two queues on clocks that go alike. Tokens and sequence numbers may differ: a restart skips some.
template <class Rig>
class Pair {
 public:
  Pair() : memory_(kOptions), other_(kOptions) {}

  void step() {
    switch (*rc::gen::inRange(0, 14)) {
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
      case 11:
      case 12:
        return round();
      default:
        disturb(other_);
    }
  }

  void compare() {
    const auto of_memory = memory_.queue().list({.limit = 1000}).value();
    const auto of_other = other_.queue().list({.limit = 1000}).value();
    RC_ASSERT(of_memory.size() == of_other.size());
    for (std::size_t i = 0; i < of_memory.size(); ++i) {
      RC_ASSERT(of_memory[i].spec == of_other[i].spec);
      RC_ASSERT(state_of(of_memory[i]) == state_of(of_other[i]));
      RC_ASSERT(of_memory[i].executions.size() == of_other[i].executions.size());
      RC_ASSERT(of_memory[i].result == of_other[i].result);
    }
    RC_ASSERT(*memory_.queue().counts() == *other_.queue().counts());
    // A restart forgets what has ended before it.
    const TaskSummary one = memory_.queue().summary().value();
    TaskQueue& queue = other_.queue();
    const TaskSummary other = queue.summary().value();
    RC_ASSERT(one.types == other.types);
    RC_ASSERT(one.oldest_pending == other.oldest_pending);
    RC_ASSERT(queue.expire().value().empty());  // and one that is not alone knows of all leases
    RC_ASSERT(memory_.queue().next_expiry() == queue.next_expiry());
  }

 private:
  static constexpr bool kLosesAnswers = std::is_same_v<Rig, TwoRedisQueuesRig>;

  struct Held {
    Lease memory;
    Lease other;
  };

  void disturb(FileRig& rig) {
    if (!has_leases()) rig.restart();  // a kept lease would get another term
  }
  void disturb(TwoRedisQueuesRig& rig) {
    rig.lose_an_answer_after(static_cast<std::uint64_t>(*rc::gen::inRange(0, 5)));
  }

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
    const auto of_other = other_.queue().submit(tasks);
    for (std::size_t i = 0; i < tasks.size(); ++i) RC_ASSERT(is_same(of_memory[i], of_other[i]));
  }

  void lease() {
    LeaseRequest request{.worker = "w", .count = static_cast<std::size_t>(*rc::gen::inRange(1, 4)), .starts = true};
    if (*rc::gen::inRange(0, 2) == 0) request.types = {"A"};
    const auto of_memory = memory_.queue().lease(request).value();
    const auto of_other = other_.queue().lease(request).value();
    RC_ASSERT(of_memory.size() == of_other.size());
    for (std::size_t i = 0; i < of_memory.size(); ++i) {
      RC_ASSERT(of_memory[i].task_id == of_other[i].task_id);
      RC_ASSERT(of_memory[i].attempt == of_other[i].attempt);
      held_.push_back({of_memory[i], of_other[i]});
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
    request.key = held->other.key;
    const auto of_other = other_.queue().commit(request);
    RC_ASSERT(of_memory.has_value() == of_other.has_value());
    if (!of_memory) {
      RC_ASSERT(of_memory.error().code == of_other.error().code);
      return;
    }
    RC_ASSERT(of_memory->outcome == of_other->outcome);
    RC_ASSERT(of_memory->follow_ups == of_other->follow_ups);
  }

  void fail() {
    const Held* held = any_held();
    if (held == nullptr) return;
    const bool counts = *rc::gen::arbitrary<bool>();
    const auto of_memory = memory_.queue().fail_attempt({held->memory.key, "x", counts});
    const auto of_other = other_.queue().fail_attempt({held->other.key, "x", counts});
    RC_ASSERT(of_memory->outcome == of_other->outcome);
    RC_ASSERT(of_memory->state == of_other->state);
  }

  void renew() {
    if (const Held* held = any_held()) {
      RC_ASSERT(is_same(memory_.queue().renew(held->memory.key), other_.queue().renew(held->other.key)));
    }
  }

  // Some of each kind, in one go. Of one task it ends one attempt: who says in the same round that another has failed
  // may be told what was so before it. And who starts or renews what the same round ends may be told that it has ended:
  // it is, when the first answer was lost and the round was repeated.
  void round() {
    QueueRound of_memory;
    QueueRound of_other;
    std::set<std::string> ended;
    const auto some = [&](auto add) {
      for (int i = *rc::gen::inRange(0, 3); i > 0; --i) add();
    };
    const auto keys = [&](auto add) {
      some([&] {
        if (const Held* held = any_held()) add(held->memory.key, held->other.key);
      });
    };
    some([&] { of_memory.submits.push_back(of_other.submits.emplace_back(any_task())); });
    keys([&](const LeaseKey& a, const LeaseKey& b) {
      of_memory.starts.push_back(a);
      of_other.starts.push_back(b);
    });
    keys([&](const LeaseKey& a, const LeaseKey& b) {
      of_memory.renewals.push_back(a);
      of_other.renewals.push_back(b);
    });
    keys([&](const LeaseKey& a, const LeaseKey& b) {
      if (!ended.emplace(task_of_exec_id(a.exec_id).value()).second) return;
      of_memory.commits.push_back({.key = a, .result = "r"});
      of_other.commits.push_back({.key = b, .result = "r"});
    });
    keys([&](const LeaseKey& a, const LeaseKey& b) {
      if (!ended.emplace(task_of_exec_id(a.exec_id).value()).second) return;
      of_memory.fails.push_back({a, "x"});
      of_other.fails.push_back({b, "x"});
    });
    some(
        [&] { of_memory.leases.push_back(of_other.leases.emplace_back(LeaseRequest{.worker = "w", .starts = true})); });
    const auto of_ended = [&](const std::vector<LeaseKey>& asked) {
      std::vector<bool> is_ended;
      for (const LeaseKey& key : asked) is_ended.push_back(ended.contains(std::string(*task_of_exec_id(key.exec_id))));
      return is_ended;
    };
    compare_answers(memory_.queue().do_round(of_memory), other_.queue().do_round(of_other), of_ended(of_memory.starts),
                    of_ended(of_memory.renewals));
  }

  void compare_answers(const QueueRoundAnswers& a, const QueueRoundAnswers& b, const std::vector<bool>& starts_of_ended,
                       const std::vector<bool>& renewals_of_ended) {
    const auto all_same = [](const auto& some, const auto& others, auto is_same_value) {
      RC_ASSERT(some.size() == others.size());
      for (std::size_t i = 0; i < some.size(); ++i) {
        RC_ASSERT(some[i].has_value() == others[i].has_value());
        RC_ASSERT((some[i] ? is_same_value(*some[i], *others[i]) : some[i].error().code == others[i].error().code));
      }
    };
    const auto is_equal = [](const auto& one, const auto& other) { return one == other; };
    all_same(a.submits, b.submits, is_equal);
    const auto same_or_ended = [](const auto& some, const auto& others, const std::vector<bool>& is_ended) {
      RC_ASSERT(some.size() == others.size());
      for (std::size_t i = 0; i < some.size(); ++i) {
        RC_ASSERT((kLosesAnswers && is_ended[i]) || is_same(some[i], others[i]));
      }
    };
    same_or_ended(a.starts, b.starts, starts_of_ended);
    same_or_ended(a.renewals, b.renewals, renewals_of_ended);
    all_same(a.commits, b.commits,
             [](const CommitAnswer& one, const CommitAnswer& other) { return one.outcome == other.outcome; });
    all_same(a.fails, b.fails, [](const FailAnswer& one, const FailAnswer& other) {
      return one.outcome == other.outcome && one.state == other.state;
    });
    all_same(a.leases, b.leases, [this](const std::vector<Lease>& some, const std::vector<Lease>& others) {
      if (some.size() != others.size()) return false;
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (some[i].task_id != others[i].task_id || some[i].attempt != others[i].attempt) return false;
        held_.push_back({some[i], others[i]});
      }
      return true;
    });
  }

  void cancel() {
    const std::string id = any_id();
    RC_ASSERT(is_same(memory_.queue().cancel(id), other_.queue().cancel(id)));
  }

  void retry() {
    const std::string id = any_id();
    RC_ASSERT(is_same(memory_.queue().retry(id, 1), other_.queue().retry(id, 1)));
  }

  void pass(Seconds time) {
    memory_.clock.advance(time);
    other_.clock.advance(time);
    RC_ASSERT(memory_.queue().expire().value().size() == other_.queue().expire().value().size());
  }

  MemoryRig memory_;
  Rig other_;
  std::vector<Held> held_;
};

TEST(QueueModel, TheFileQueueAnswersAsTheModelDoes) {
  for_all(40, [] {
    Pair<FileRig> pair;
    const int steps = *rc::gen::inRange(1, 120);
    for (int i = 0; i < steps; ++i) pair.step();
    pair.compare();
  });
}

TEST(QueueModel, TwoQueuesInOneRedisAnswerAsTheModelDoes) {
  for_all(40, [] {
    Pair<TwoRedisQueuesRig> pair;
    const int steps = *rc::gen::inRange(1, 120);
    for (int i = 0; i < steps; ++i) pair.step();
    pair.compare();
  });
}

}  // namespace
}  // namespace kron::testing
