#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kron/env/redis_connection.h"

namespace kron::cluster {

// A timed reply: when the pipeline that it was part of was sent and received, by CLOCK_BOOTTIME.
struct TimedReply {
  RedisReply reply;
  Nanoseconds sent{0};
  Nanoseconds received{0};
};

// The way to Redis of all parts of a daemon: commands that arrive together go together, in one pipeline. The real one
// is a thread with one connection (link_thread.h); tests have one that calls at once (fake/direct_link.h).
class Link {
 public:
  virtual ~Link() = default;

  enum class Urgency : std::uint8_t {
    urgent,  // steps, renewals, ends
    bulk,    // output: after all that is urgent, and little at a time
  };
  using Answered = std::function<void(const TimedReply&)>;  // on the link's thread: quick, and never back into ask()

  // From any thread. Sent again over new connections until Redis answers, in the order of all that was posted: a
  // command must be safe to repeat. The answer is `reply` or `error`; `not_sent` or `lost` only when the link ends.
  virtual void post(RedisCommand command, Urgency urgency, Answered answered) = 0;

  // From any thread but the link's. One pipeline, and nothing of it is sent again. Waits at most `timeout`; `not_sent`
  // at once while the link is down.
  virtual std::vector<TimedReply> ask(std::vector<RedisCommand> commands, Nanoseconds timeout) = 0;

  // Whether the last attempt to talk to Redis succeeded, scripts are loaded and it is a master.
  [[nodiscard]] virtual bool is_up() const = 0;
};

}  // namespace kron::cluster
