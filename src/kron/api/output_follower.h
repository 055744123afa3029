#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "kron/base/result.h"
#include "kron/env/descriptor.h"
#include "kron/env/event_loop.h"
#include "kron/env/mailbox.h"
#include "kron/http/reply.h"

namespace kron::api {

// Sends what runs write to those who follow it, as it comes, and not faster than they read. A thread of its own.
class OutputFollower {
 public:
  // `runs_directory`: <state-dir>/runs.
  static Result<std::unique_ptr<OutputFollower>> start(std::string runs_directory);
  OutputFollower(const OutputFollower&) = delete;
  OutputFollower& operator=(const OutputFollower&) = delete;
  ~OutputFollower();

  // All of the run's output, then what is added to it; ends when `has_ended`, or when run_ended() is called for it
  // later, and everything is sent. From any thread.
  void follow(std::string run_id, std::shared_ptr<http::Stream> stream, bool has_ended);
  void run_ended(std::string run_id);

 private:
  struct Followed {
    std::string run_id;
    std::shared_ptr<http::Stream> stream;
    bool has_ended = false;
    bool waits_for_reader = false;
    int watch = -1;
    Descriptor file;
    std::uint64_t at = 0;    // in the file
    std::uint64_t mark = 0;  // bytes of the line that says how much was cut, at the file's start
    std::uint64_t cut = 0;   // bytes that the command wrote and that are not in the file any more
    std::uint64_t written() const { return at < mark ? cut : cut + at - mark; }  // by the command, up to `at`
  };
  using Key = std::uint64_t;

  OutputFollower(std::string runs_directory, std::unique_ptr<EventLoop> loop, Descriptor changes);

  void serve();
  void add(Followed followed);
  void take_changes();
  void advance(Key key);
  bool send_what_is_there(Key key, Followed& followed);
  bool open_newest(Followed& followed) const;
  void forget(Key key);

  std::string runs_directory_;
  std::unique_ptr<EventLoop> loop_;
  Descriptor changes_;  // inotify
  Mailbox mailbox_;
  std::map<Key, Followed> followed_;
  Key next_key_ = 1;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace kron::api
