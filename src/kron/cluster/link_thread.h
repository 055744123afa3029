#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kron/cluster/cluster_clock.h"
#include "kron/cluster/fence_watch.h"
#include "kron/cluster/keys.h"
#include "kron/cluster/link.h"
#include "kron/cluster/rights_watch.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"

namespace kron::cluster {

// The link of a daemon: one thread that owns the connection for commands. It takes what is queued (urgent, then bulk,
// 256 KiB at most), sends it as one pipeline, reads all answers, and takes again: batches form by themselves.
//
// When the connection breaks it connects again (after 50 ms, doubling up to 2 s), loads all scripts, sees that the
// server is a master, raises the fencing counter, and sends again what was posted, in its order. While nothing is sent
// it asks once a second, so that the cluster's clock and lost writes are noticed also by a host that has nothing to do.
class LinkThread : public Link {
 public:
  // All on the link's thread: quick, and never back into ask(). post() may be called.
  struct Listener {
    std::function<void()> on_up = {};                                  // connected, scripts loaded
    std::function<void(const Error& why)> on_down = {};                // it was up
    std::function<void(const TimeSample&)> on_time = {};               // of every answer of a script
    std::function<void(const FenceWatch::Lost&)> on_lost_writes = {};  // before on_up, when it is found on connecting
  };

  struct Options {
    Nanoseconds connect_timeout = std::chrono::seconds(3);
    Nanoseconds call_timeout = std::chrono::seconds(3);
    Nanoseconds first_pause = std::chrono::milliseconds(50);  // before it connects again …
    Nanoseconds longest_pause = std::chrono::seconds(2);      // … at most
    Nanoseconds quiet = std::chrono::seconds(1);              // then it asks for the time
    std::size_t bulk_bytes = std::size_t{256} << 10;          // of a batch
    std::uint64_t outcomes_cap = 100'000;
    std::string host = {};  // who tells of lost writes
    // What to log of an error of Redis; none: the error.
    std::function<std::string(std::string_view error)> explained = {};
  };

  // Clock and log outlive it.
  LinkThread(std::unique_ptr<RedisConnection> connection, Keys keys, const Clock& clock, Log& log, Options options);
  LinkThread(std::unique_ptr<RedisConnection> connection, Keys keys, const Clock& clock, Log& log);
  LinkThread(const LinkThread&) = delete;
  LinkThread& operator=(const LinkThread&) = delete;
  ~LinkThread() override;  // stops

  // Before start().
  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }
  // Called on the link's thread about every `period`, up or down; the first time at once. Before start().
  void every(Nanoseconds period, std::function<void()> function);

  Status start();
  // Works off what is posted, for `patience` at most; what is left is answered `not_sent` or `lost`.
  void stop(Nanoseconds patience);

  // `urgent` overtakes `bulk`: who wants an end after its output posts it when the output is answered.
  void post(RedisCommand command, Urgency urgency, Answered answered) override;
  std::vector<TimedReply> ask(std::vector<RedisCommand> commands, Nanoseconds timeout) override;
  [[nodiscard]] bool is_up() const override { return is_up_.load(std::memory_order_acquire); }

  // Why it is down; empty when it is up, or has not tried yet.
  [[nodiscard]] std::string why_down() const;
  // What Redis does not let this host's user do, while it is up; empty: it lets it.
  [[nodiscard]] std::string why_forbidden() const;

 private:
  struct Question;
  struct Posted {
    RedisCommand command;
    Answered answered;
  };
  // Either something posted, or a question, which is one pipeline.
  struct Item {
    Posted posted = {};
    std::shared_ptr<Question> question = {};
  };
  struct Timer {
    Nanoseconds period{0};
    Nanoseconds next{0};
    std::function<void()> function;
  };
  struct Outgoing;

  void run();
  bool run_timers();
  bool connect();
  Status greet();
  void go_down(const Error& why);
  Outgoing take_batch();
  void send(Outgoing batch);
  void settle(Outgoing batch, std::vector<RedisReply> replies, Nanoseconds sent);
  bool resend_unknown_scripts(const std::vector<RedisCommand>& commands, std::vector<RedisReply>& replies);
  void put_back(std::vector<Item> items, std::vector<Item> bulk);
  std::vector<RedisReply> call(const std::vector<RedisCommand>& commands);
  void note(const RedisReply& reply, Nanoseconds sent, Nanoseconds received);
  void note_rights(const RedisCommand& command, RedisReply& reply);
  void ask_for_the_time();
  void give_up_all();
  Nanoseconds next_timer() const;

  std::unique_ptr<RedisConnection> connection_;
  Keys keys_;
  const Clock& clock_;
  Log& log_;
  Options options_;
  std::vector<Listener> listeners_;
  std::vector<Timer> timers_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> urgent_;  // guarded, as are the next
  std::deque<Item> bulk_;
  std::string why_down_;
  std::string why_forbidden_;
  bool is_stopping_ = false;
  std::optional<Nanoseconds> stop_at_;

  std::atomic<bool> is_up_{false};
  std::atomic<bool> is_late_{false};  // somebody has waited in vain, and nothing has been answered since

  // The thread's own.
  FenceWatch fence_;
  RightsWatch rights_;
  Nanoseconds pause_{0};
  Nanoseconds connect_at_{0};
  Nanoseconds last_call_{0};

  std::thread thread_;  // last: it uses the above
};

}  // namespace kron::cluster
