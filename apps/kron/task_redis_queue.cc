#include "task_redis_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "kron/env/real_redis_connection.h"
#include "kron/env/real_redis_subscription.h"
#include "kron/env/thread_start.h"

namespace kron::cli {
namespace {

LeaseRequest own_request(LeaseRequest request) {
  request.holder = Holder::outside;
  request.starts = true;
  return request;
}

}  // namespace

Result<std::unique_ptr<RedisQueue>> open_redis_queue(const ClusterOptions& options, const Clock& clock, Log& log) {
  auto place = redis_of(options);
  if (!place) return fail(place.error());
  const auto name_space = namespace_of(options);
  if (!name_space) return fail(name_space.error());
  auto connection = std::make_unique<RealRedisConnection>(*std::move(place), RedisQueueKeys(*name_space).limits());
  return std::make_unique<RedisQueue>(std::move(connection), clock, log, RedisQueueOptions{.name_space = *name_space});
}

Result<std::unique_ptr<RedisTasks>> RedisTasks::open(const ClusterOptions& options, bool hears, const Clock& clock,
                                                     Log& log) {
  auto queue = open_redis_queue(options, clock, log);
  if (!queue) return fail(queue.error());
  const std::string channel = (*queue)->keys().wake();
  auto tasks = std::make_unique<RedisTasks>(*std::move(queue), clock);
  if (!hears) return tasks;
  const auto place = redis_of(options);
  if (!place) return fail(place.error());
  const Status heard = tasks->hear(std::make_unique<RealRedisSubscription>(*place), channel, log);
  if (!heard) return fail(heard.error());
  return tasks;
}

RedisTasks::RedisTasks(std::unique_ptr<TaskQueue> queue, const Clock& clock)
    : DirectTasks(clock), queue_(std::move(queue)), wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

RedisTasks::~RedisTasks() = default;

// What was published while nobody listened is made up for by one look.
Status RedisTasks::hear(std::unique_ptr<RedisSubscription> subscription, std::string channel, Log& log) {
  auto subscriber = with_thread("hearing of tasks", [&] {
    return std::make_unique<cluster::Subscriber>(
        std::move(subscription), std::vector{std::move(channel)},
        cluster::Subscriber::Handlers{.on_subscribed = [this] { wake(); },
                                      .on_message = [this](const RedisMessage&) { wake(); },
                                      .on_lost = [](const std::string&) {}},
        log);
  });
  if (!subscriber) return fail(subscriber.error());
  subscriber_ = *std::move(subscriber);
  return {};
}

void RedisTasks::wake() {
  if (!is_waiting_.exchange(false)) return;
  const std::uint64_t one = 1;
  (void)::write(wakeup_.get(), &one, sizeof one);
}

void RedisTasks::forget_wakes() {
  is_waiting_ = false;
  std::uint64_t count = 0;
  (void)::read(wakeup_.get(), &count, sizeof count);
}

void RedisTasks::stop_leasing() { forget_wakes(); }

bool RedisTasks::may_have_expired() const {
  const auto next = queue_->next_expiry();
  return next && *next <= clock_.boot_time();
}

// Whoever asks sees to what has run out: there may be no krond that does.
Result<std::vector<Lease>> RedisTasks::lease(const LeaseRequest& request) {
  forget_wakes();
  if (may_have_expired()) {
    if (const auto expired = queue_->expire(); !expired) return fail(expired.error());
  }
  // Before it is asked: what is submitted after Redis has answered is heard of.
  is_waiting_ = true;
  auto leases = queue_->lease(own_request(request));
  if (leases && leases->size() >= request.count) forget_wakes();
  return leases;
}

CommitsAndLeases RedisTasks::commit_and_lease(std::span<const CommitRequest> requests, const LeaseRequest& then) {
  if (may_have_expired()) return {queue_->commit(requests)};
  forget_wakes();
  is_waiting_ = true;
  const QueueRound round{.commits = {requests.begin(), requests.end()}, .leases = {own_request(then)}};
  QueueRoundAnswers answers = queue_->do_round(round);
  const auto& leases = answers.leases.front();
  if (leases && leases->size() >= then.count) forget_wakes();
  return {std::move(answers.commits), std::move(answers.leases.front())};
}

}  // namespace kron::cli
