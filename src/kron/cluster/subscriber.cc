#include "kron/cluster/subscriber.h"

#include <algorithm>

#include "kron/env/work_thread.h"

namespace kron::cluster {
namespace {

constexpr Nanoseconds kFirstDelay = std::chrono::milliseconds(50);
constexpr Nanoseconds kLongestDelay = std::chrono::seconds(2);
constexpr Nanoseconds kSubscribeTimeout = std::chrono::seconds(5);
// How long a stop may have to wait.
constexpr Nanoseconds kListen = std::chrono::milliseconds(250);

}  // namespace

Subscriber::Subscriber(std::unique_ptr<RedisSubscription> subscription, std::vector<std::string> channels,
                       Handlers handlers, Log& log)
    : subscription_(std::move(subscription)),
      channels_(std::move(channels)),
      handlers_(std::move(handlers)),
      log_(log),
      thread_([this](const std::stop_token& stop) { serve(stop); }) {}

Subscriber::~Subscriber() = default;  // the thread is asked to stop, and waited for

void Subscriber::serve(const std::stop_token& stop) {
  become_background_thread();
  Nanoseconds delay = kFirstDelay;
  bool has_said = false;
  while (!stop.stop_requested()) {
    const Status subscribed = subscription_->subscribe(channels_, kSubscribeTimeout);
    if (subscribed) {
      delay = kFirstDelay;
      has_said = false;
      handlers_.on_subscribed();
      listen(stop);
      subscription_->close();
    } else if (!has_said) {
      has_said = true;  // once for each outage
      log_.warning("cluster_subscription_failed", {{"reason", subscribed.error().message}});
    }
    pause(stop, delay);
    delay = std::min(2 * delay, kLongestDelay);
  }
  subscription_->close();
}

void Subscriber::listen(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Result<std::optional<RedisMessage>> message = subscription_->next(kListen);
    if (!message) {
      handlers_.on_lost(message.error().message);
      return;
    }
    if (*message) handlers_.on_message(**std::move(message));
  }
}

void Subscriber::pause(const std::stop_token& stop, Nanoseconds delay) {
  std::unique_lock lock(mutex_);
  stopped_.wait_for(lock, stop, delay, [] { return false; });
}

}  // namespace kron::cluster
