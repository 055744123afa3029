#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kron/base/instant.h"
#include "kron/env/log.h"
#include "kron/env/redis_connection.h"

namespace kron::cluster {

// Listens on channels of Redis, on a thread of its own, and subscribes again whenever the connection is gone, after
// 50 ms and up to 2 s. What is published while it is not subscribed is lost: whoever owns it reads the job list again
// after every on_subscribed.
class Subscriber {
 public:
  // All are called on the subscriber's thread, in order; they are quick (they post to the loop's mailbox).
  struct Handlers {
    std::function<void()> on_subscribed;                   // what is published from here on will come
    std::function<void(RedisMessage message)> on_message;  // of any channel
    std::function<void(const std::string& why)> on_lost;   // events may be missed until on_subscribed
  };

  // The log outlives it. Throws std::system_error where there is no thread to be had (with_thread).
  Subscriber(std::unique_ptr<RedisSubscription> subscription, std::vector<std::string> channels, Handlers handlers,
             Log& log);
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;
  ~Subscriber();  // within a second; no handler is called when it is gone

 private:
  void serve(const std::stop_token& stop);
  void listen(const std::stop_token& stop);
  void pause(const std::stop_token& stop, Nanoseconds delay);

  std::unique_ptr<RedisSubscription> subscription_;
  std::vector<std::string> channels_;
  Handlers handlers_;
  Log& log_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last: it uses the above
};

}  // namespace kron::cluster
