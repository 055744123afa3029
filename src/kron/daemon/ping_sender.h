#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kron/base/result.h"
#include "kron/daemon/ping_queue.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"

namespace kron::daemon {

// Sends pings by threads of its own, which yield to everybody. There are none before the first ping.
class PingSender {
 public:
  static constexpr std::size_t kThreads = 8;

  // Makes one try; it takes no longer than `most`. Of one thread.
  using Post = std::function<Status(const Ping& ping, Nanoseconds most)>;
  enum class End : std::uint8_t { sent, failed, no_room };

  // All of it outlives the sender.
  struct World {
    const Clock& clock;
    Log& log;
    std::function<Post()> make_post;              // on the thread that uses it, and anew after it had nothing to do
    std::function<void(End)> count = [](End) {};  // on any thread; it waits for nothing
    std::function<void()> before_each = [] {};    // on the thread that is about to send
  };
  explicit PingSender(World world) : world_(std::move(world)) {}
  PingSender(const PingSender&) = delete;
  PingSender& operator=(const PingSender&) = delete;
  ~PingSender() { finish(Nanoseconds(0)); }

  // On one thread, which waits for nothing.
  void send(Ping ping);

  // Sends what it can within that time, and then no more. Whoever tries a receiver now does so to the end of the try.
  void finish(Nanoseconds patience);

  [[nodiscard]] std::size_t waiting() const;

 private:
  bool has_threads();
  void serve();
  bool is_over(Nanoseconds now) const;
  void rest(std::unique_lock<std::mutex>& lock, Nanoseconds now, bool has_connection);
  void end(const Ping& ping, End end, const std::string& reason);

  World world_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  PingQueue queue_;
  std::optional<Nanoseconds> ends_at_;
  bool has_ended_ = false;
  std::optional<Nanoseconds> said_at_;  // when the log was last told of one that was not sent
  std::int64_t unsaid_ = 0;             // how many there were since
  std::vector<std::thread> threads_;
};

// sent, failed, no_room
std::string_view name_of(PingSender::End end);

}  // namespace kron::daemon
