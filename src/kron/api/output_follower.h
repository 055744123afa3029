#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "kron/base/result.h"
#include "kron/env/descriptor.h"
#include "kron/env/event_loop.h"
#include "kron/env/mailbox.h"
#include "kron/http/reply.h"
#include "kron/runner/output_tail.h"

namespace kron::api {

// Sends what runs write to those who follow it, as it comes, and not faster than they read; and tells those who wait
// for the end of a run. A thread of its own.
class OutputFollower {
 public:
  // `runs_directory`: <state-dir>/runs.
  static Result<std::unique_ptr<OutputFollower>> start(std::string runs_directory);
  OutputFollower(const OutputFollower&) = delete;
  OutputFollower& operator=(const OutputFollower&) = delete;
  ~OutputFollower();

  // The run's output from its byte `from` on, then what is added to it; ends when `has_ended`, or when run_ended() is
  // called for it later, and everything is sent. From any thread.
  void follow(std::string run_id, std::shared_ptr<http::Stream> stream, bool has_ended, std::uint64_t from = 0);
  void run_ended(std::string run_id);

  // Calls back once, on the follower's thread: when run_ended() is called for the run, or after `longest`. Never after
  // withdraw(), and not when the follower ends first. From any thread.
  using Ticket = std::uint64_t;
  Ticket new_ticket() { return ++tickets_; }
  void await_end(Ticket ticket, std::string run_id, Nanoseconds longest, std::function<void()> call);
  void withdraw(Ticket ticket);

 private:
  struct Followed {
    std::string run_id;
    std::shared_ptr<http::Stream> stream;
    bool has_ended = false;
    std::uint64_t from = 0;
    bool waits_for_reader = false;
    bool is_within_line = false;  // by what was sent
    int watch = -1;
    std::optional<runner::OutputTail> tail;
  };
  using Key = std::uint64_t;
  struct Waiter {
    std::string run_id;
    Nanoseconds until;  // on the monotonic clock
    std::function<void()> call;
  };

  OutputFollower(std::string runs_directory, std::unique_ptr<EventLoop> loop, Descriptor changes);

  void serve();
  void add(Followed followed);
  void watch(Followed& followed);
  void watch_new_directories();
  void take_changes();
  void advance(Key key);
  bool send_what_is_there(Key key, Followed& followed);
  void forget(Key key);
  std::optional<Nanoseconds> next_deadline() const;
  void call_those_who_waited(const std::function<bool(const Waiter&)>& is_over);

  std::string runs_directory_;
  std::unique_ptr<EventLoop> loop_;
  Descriptor changes_;  // inotify
  Mailbox mailbox_;
  std::map<Key, Followed> followed_;
  Key next_key_ = 1;
  int runs_watch_ = -1;  // of the directory of all runs, while one is followed that has none of its own yet
  std::atomic<Ticket> tickets_ = 0;
  std::map<Ticket, Waiter> waiters_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace kron::api
