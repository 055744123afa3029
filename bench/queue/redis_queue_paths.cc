#include "redis_queue_paths.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <optional>

#include "bare_queue_scripts.h"
#include "ground.h"
#include "kron/env/real_redis_connection.h"
#include "kron/queue/queue_thread.h"
#include "kron/queue/redis_queue.h"

namespace kron::bench {
namespace {

constexpr std::size_t kSubmittedAtOnce = 512;

struct Ground {
  RealClock clock;
  NoLog log;
};

std::unique_ptr<RedisQueue> queue_at(const Redis& redis, Ground& ground) {
  RedisUrl url{.addresses = {{.host = "127.0.0.1", .port = static_cast<std::uint16_t>(redis.port())}}};
  return std::make_unique<RedisQueue>(std::make_unique<RealRedisConnection>(std::move(url)), ground.clock, ground.log,
                                      RedisQueueOptions{.name_space = kBenchNamespace});
}

std::vector<NewTask> tasks_from(std::size_t first, std::size_t count) {
  std::vector<NewTask> tasks;
  for (std::size_t i = first; i < first + count; ++i) tasks.push_back(task_number(i));
  return tasks;
}

void fill(Redis& redis, std::size_t count) {
  BareQueueScripts scripts(redis);
  for (std::size_t first = 0; first < count; first += kSubmittedAtOnce) {
    scripts.submit(tasks_from(first, std::min(kSubmittedAtOnce, count - first)));
  }
}

LeaseRequest request_for(std::size_t count) {
  return {.worker = "w", .types = {kTaskType}, .count = count, .starts = true};
}

// krond's queue, which others ask from their threads.
class AtKrond {
 public:
  explicit AtKrond(const Redis& redis)
      : queue_([&redis, this](bool) { return OpenedQueue{.queue = queue_at(redis, ground_)}; }, ground_.clock,
               ground_.log, {.place = redis.url()}) {
    std::promise<void> opened;
    queue_.open([&](const Status& status) {
      require(status.has_value());
      opened.set_value();
    });
    opened.get_future().wait();
  }
  QueueThread& operator*() { return queue_; }

 private:
  Ground ground_;
  QueueThread queue_;
};

// Those who ask, each a chain of questions: the next when the one before is answered, all on the queue's thread.
class Chains {
 public:
  explicit Chains(std::size_t count) : count_(count) {}

  // The number of the next question, below their count; none when all are asked.
  std::optional<std::size_t> next() {
    const std::size_t number = next_++;
    return number < count_ ? std::optional(number) : std::nullopt;
  }
  void answered() {
    if (++answered_ == count_) over_.set_value();
  }
  void wait() { over_.get_future().wait(); }

 private:
  std::size_t count_;
  std::atomic<std::size_t> next_{0};
  std::size_t answered_ = 0;
  std::promise<void> over_;
};

void submit_next(QueueThread& queue, Chains& chains) {
  const auto number = chains.next();
  if (!number) return;
  queue.submit({task_number(*number)}, [&](const auto& answers) {
    require(answers.front().has_value() && answers.front()->outcome == SubmitOutcome::accepted);
    submit_next(queue, chains);
    chains.answered();
  });
}

// One after the other, until none is left.
void live_on(QueueThread& queue, Chains& chains, const Lease& lease) {
  const auto committed = [](const auto& answer) {
    require(answer.has_value() && answer->outcome == LeaseOutcome::accepted);
  };
  queue.commit_and_lease({.key = lease.key, .result = "ok"}, committed, request_for(1), [&](const auto& leases) {
    require(leases.has_value());
    for (const Lease& next : *leases) live_on(queue, chains, next);
    chains.answered();
    return true;
  });
}

void begin_to_live(QueueThread& queue, Chains& chains) {
  queue.lease(request_for(1), Seconds(0), [&](const auto& leases) {
    require(leases.has_value() && leases->size() == 1);
    live_on(queue, chains, leases->front());
    return true;
  });
}

double rate(std::size_t count, auto&& work) { return static_cast<double>(count) / seconds_of(work); }

}  // namespace

double submits_directly(Redis& redis, std::size_t batch, std::size_t count) {
  redis.ask({"FLUSHALL"});
  Ground ground;
  const auto queue = queue_at(redis, ground);
  require(queue->counts().has_value());  // it is connected now
  return rate(count, [&] {
    for (std::size_t first = 0; first < count; first += batch) {
      for (const auto& answer : queue->submit(tasks_from(first, batch))) require(answer.has_value());
    }
  });
}

double submits_at_krond(Redis& redis, std::size_t submitters, std::size_t count) {
  redis.ask({"FLUSHALL"});
  Chains chains(count);
  AtKrond krond(redis);
  return rate(count, [&] {
    for (std::size_t i = 0; i < submitters; ++i) submit_next(*krond, chains);
    chains.wait();
  });
}

double bare_submits(Redis& redis, std::size_t batch, std::size_t count) {
  redis.ask({"FLUSHALL"});
  BareQueueScripts scripts(redis);
  return rate(count, [&] {
    for (std::size_t first = 0; first < count; first += batch) scripts.submit(tasks_from(first, batch));
  });
}

double lives_directly(Redis& redis, std::size_t at_a_time, std::size_t count) {
  redis.ask({"FLUSHALL"});
  fill(redis, count);
  Ground ground;
  const auto queue = queue_at(redis, ground);
  require(queue->counts().has_value());
  return rate(count, [&] {
    QueueRound round{.leases = {request_for(at_a_time)}};
    for (std::size_t done = 0; done < count;) {
      const QueueRoundAnswers answers = queue->do_round(round);
      for (const auto& answer : answers.commits) require(answer->outcome == LeaseOutcome::accepted);
      done += round.commits.size();
      round.commits.clear();
      for (const Lease& lease : answers.leases.front().value()) {
        round.commits.push_back({.key = lease.key, .result = "ok"});
      }
      require(done == count || !round.commits.empty());
    }
  });
}

double lives_at_krond(Redis& redis, std::size_t workers, std::size_t count) {
  redis.ask({"FLUSHALL"});
  fill(redis, count);
  Chains chains(count);
  AtKrond krond(redis);
  return rate(count, [&] {
    for (std::size_t i = 0; i < workers; ++i) begin_to_live(*krond, chains);
    chains.wait();
  });
}

double bare_lives(Redis& redis, std::size_t workers, std::size_t count) {
  redis.ask({"FLUSHALL"});
  fill(redis, count);
  BareQueueScripts scripts(redis);
  return rate(count, [&] {
    std::vector<BareQueueScripts::Leased> leased;
    for (std::size_t done = 0; done < count;) {
      done += leased.size();
      leased = scripts.commit_and_lease(leased, workers);
      require(done == count || !leased.empty());
    }
  });
}

TaskMemory memory_per_task(std::size_t data_bytes, std::size_t count) {
  Redis redis;
  BareQueueScripts scripts(redis);
  const auto used = [&] {
    const std::string text = redis.ask({"INFO", "memory"}).text;
    constexpr std::string_view kKey = "used_memory:";
    return std::stod(text.substr(text.find(kKey) + kKey.size()));
  };
  const auto per_task = [&](double before) { return (used() - before) / static_cast<double>(count); };
  const double before = used();
  for (std::size_t first = 0; first < count; first += kSubmittedAtOnce) {
    std::vector<NewTask> tasks = tasks_from(first, std::min(kSubmittedAtOnce, count - first));
    for (NewTask& task : tasks) task.data = '"' + std::string(data_bytes - 2, 'x') + '"';
    scripts.submit(tasks);
  }
  TaskMemory memory;
  memory.waits = per_task(before);
  std::vector<BareQueueScripts::Leased> leased;
  do {
    leased = scripts.commit_and_lease(leased, kSubmittedAtOnce);
  } while (!leased.empty());
  // So that requests that can be repeated are not counted: they are forgotten a minute later.
  for (const RedisValue& key : redis.ask({"KEYS", "*:grant:*"}).items) redis.ask({"DEL", key.text});
  memory.has_succeeded = per_task(before);
  return memory;
}

}  // namespace kron::bench
