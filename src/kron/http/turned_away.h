#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>

#include "kron/base/instant.h"
#include "kron/env/descriptor.h"
#include "kron/http/limits.h"
#include "kron/http/message.h"

namespace kron::http {

// Clients that are not served and were told why, without waiting for a request. Each costs a descriptor and no more,
// until it has had the time to send what it had to say and to read the answer: one that is closed upon while its
// request is under way gets a broken pipe or a reset instead. For one thread.
class TurnedAway {
 public:
  // So many at a time; one more, and the oldest is closed at once.
  static constexpr std::size_t kMost = 256;

  // `limits`: how long and how much they may go on sending.
  explicit TurnedAway(const Limits& limits) : linger_(limits.linger), drained_(limits.drained) {}

  // Sends the answer, and nothing behind it.
  void add(Descriptor socket, const Response& response);

  // Closes those whose time is over. Returns when to come again; nothing when nobody is left.
  std::optional<Nanoseconds> close_due();

  bool is_empty() const { return clients_.empty(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Client {
    Descriptor socket;
    Clock::time_point until;
  };

  void close_oldest();

  Nanoseconds linger_;
  std::size_t drained_;
  std::deque<Client> clients_;
};

}  // namespace kron::http
