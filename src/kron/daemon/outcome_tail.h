#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "kron/cluster/link.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/history/history.h"

namespace kron::daemon {

// Reads a cluster's stream of outcomes into this host's history, so that what all hosts did is known on each. Stepped
// by the loop, which never waits: answers are worked on by another thread. Where it has come to is on disk after what
// was read is, so a crash repeats some and loses none; what comes twice is merged.
class OutcomeTail {
 public:
  struct World {
    cluster::Link& link;
    const Clock& clock;
    Log& log;
    history::History& history;
    // Has this done on a thread that has time for it, and never at once; false: not now.
    std::function<bool(std::function<void()>)> aside;
    std::function<void(const std::string& run_id)> on_end = {};  // a run of any host has ended; on that thread
    // What has just happened on any host, and not what is read of the time before this daemon; on that thread.
    std::function<void(const history::Entry&)> on_news = {};
  };
  // All of the world outlives it, and nothing of it is called after stop().
  OutcomeTail(World world, std::string stream_key, const std::string& state_directory);
  ~OutcomeTail();
  OutcomeTail(const OutcomeTail&) = delete;
  OutcomeTail& operator=(const OutcomeTail&) = delete;

  // Asks for more when it is time to; when to call again, on Clock::monotonic.
  Nanoseconds step();

  // After this no answer is taken any more.
  void stop();

  // The id up to which all is in the history; empty: nothing was read yet.
  [[nodiscard]] std::string position() const;

 private:
  struct Shared;  // lives as long as an answer may come

  static void take(const std::shared_ptr<Shared>& shared, const RedisReply& reply);
  static void keep(const std::shared_ptr<Shared>& shared, const std::string& id);

  std::shared_ptr<Shared> shared_;
};

}  // namespace kron::daemon
