#include "kron/cluster/subscriber.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <gtest/gtest.h>

#include "kron/env/fake/capturing_log.h"

namespace kron::cluster {
namespace {

// What the subscription does next, as the test says; it waits when there is nothing to do.
struct SubscriptionScript {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Status> subscribes;  // none left: it succeeds
  std::deque<Result<std::optional<RedisMessage>>> messages;
  std::vector<std::string> seen;

  void note(std::string what) {
    const std::lock_guard lock(mutex);
    seen.push_back(std::move(what));
    changed.notify_all();
  }
  void say(Result<std::optional<RedisMessage>> message) {
    const std::lock_guard lock(mutex);
    messages.push_back(std::move(message));
    changed.notify_all();
  }
  // What was seen, once there are that many; all of it after a minute.
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::minutes(1), [&] { return seen.size() >= count; });
    return seen;
  }
};

class ScriptedSubscription : public RedisSubscription {
 public:
  explicit ScriptedSubscription(SubscriptionScript& script) : script_(script) {}

  Status subscribe(std::span<const std::string> channels, Nanoseconds) override {
    const std::lock_guard lock(script_.mutex);
    if (script_.subscribes.empty()) {
      EXPECT_EQ(channels.size(), 2U);
      return {};
    }
    const Status next = script_.subscribes.front();
    script_.subscribes.pop_front();
    return next;
  }
  Result<std::optional<RedisMessage>> next(Nanoseconds timeout) override {
    std::unique_lock lock(script_.mutex);
    script_.changed.wait_for(lock, timeout, [&] { return !script_.messages.empty(); });
    if (script_.messages.empty()) return std::optional<RedisMessage>();
    auto message = std::move(script_.messages.front());
    script_.messages.pop_front();
    return message;
  }
  void close() override {}

 private:
  SubscriptionScript& script_;
};

Subscriber::Handlers noting(SubscriptionScript& script) {
  return {.on_subscribed = [&] { script.note("subscribed"); },
          .on_message = [&](RedisMessage message) { script.note(message.channel + " " + message.payload); },
          .on_lost = [&](const std::string& why) { script.note("lost " + why); }};
}

TEST(Subscriber, SaysThatItIsSubscribedBeforeWhatItHears) {
  SubscriptionScript script;
  kron::testing::CapturingLog log;
  script.say(std::optional<RedisMessage>({"c", "first"}));
  Subscriber subscriber(std::make_unique<ScriptedSubscription>(script), {"c", "d"}, noting(script), log);
  script.say(std::optional<RedisMessage>({"d", "second"}));
  EXPECT_EQ(script.wait_for(3), (std::vector<std::string>{"subscribed", "c first", "d second"}));
}

TEST(Subscriber, SubscribesAgainWhenTheConnectionIsGone) {
  SubscriptionScript script;
  kron::testing::CapturingLog log;
  script.subscribes = {fail(Code::unreachable, "nobody there"), fail(Code::unreachable, "nobody there")};
  script.say(fail(Code::unreachable, "closed"));
  {
    Subscriber subscriber(std::make_unique<ScriptedSubscription>(script), {"c", "d"}, noting(script), log);
    EXPECT_EQ(script.wait_for(3), (std::vector<std::string>{"subscribed", "lost closed", "subscribed"}));
  }
  EXPECT_EQ(log.lines_of("cluster_subscription_failed").size(), 1U);
}

}  // namespace
}  // namespace kron::cluster
