#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kron/base/instant.h"

namespace kron::daemon {

// What is told to the check of a job.
struct Ping {
  std::string job;
  std::shared_ptr<const std::string> url;  // a secret (jobs/ping_url.h)
  std::string signal;                      // start, fail, log, or an exit code
  std::string run_id = {};                 // empty: it is about no run
  std::string body = {};                   // text; of the end of a run, when it has left no output
  bool is_end = false;                     // of a run, whose output is the body
};

// Pings on their way, those of a job one after the other. In memory alone: a ping is sent soon or not at all, because
// one that comes late would lie about when it happened. A value; time is an argument, by Clock::monotonic.
class PingQueue {
 public:
  static constexpr std::size_t kMost = 10'000;  // that wait or are tried
  static constexpr Nanoseconds kLasts = std::chrono::seconds(30);
  static constexpr std::size_t kTries = 3;
  // Three tries and the two pauses between them are just as long as a ping lasts.
  static constexpr Nanoseconds kOneTry = std::chrono::seconds(8);
  static constexpr Nanoseconds kFirstPause = std::chrono::seconds(2);  // then twice as long
  // How many at once are for one receiver, of those whom several threads try: one that hangs leaves room for others.
  static constexpr std::size_t kMostOfReceiver = 6;

  // False: there is no room.
  bool push(Ping ping, Nanoseconds now);

  struct Try {
    Ping ping;
    Nanoseconds until;  // it is over then
  };
  // What is to be tried now; its job has no other until sent() or failed() says how it went.
  std::optional<Try> take(Nanoseconds now);
  void sent(const std::string& job);
  // True: it is given up.
  bool failed(const std::string& job, Nanoseconds now);

  // Those whose time was over before their turn came; each once.
  std::vector<Ping> take_expired() { return std::exchange(expired_, {}); }

  // When the first of those that failed may be tried again.
  [[nodiscard]] std::optional<Nanoseconds> next() const;
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Waiting {
    Ping ping;
    Nanoseconds made;
    std::size_t tries = 0;
  };
  struct Receiver {
    std::deque<std::string> jobs;  // whose first ping may be tried
    std::size_t under_way = 0;
  };
  using Receivers = std::map<std::string, Receiver, std::less<>>;

  void make_ready(const std::string& job);
  void pop(const std::string& job);
  void end_try(const std::string& job);
  Receivers::iterator next_receiver();

  std::unordered_map<std::string, std::deque<Waiting>> jobs_;
  std::size_t size_ = 0;
  Receivers receivers_;  // by scheme and host
  std::string last_receiver_;
  std::set<std::pair<Nanoseconds, std::string>> pauses_;
  std::vector<Ping> expired_;
};

}  // namespace kron::daemon
