#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "kron/base/instant.h"

namespace kron::kube {

// In the order of their turn. `lease` is never held up: who cannot renew it stops being the leader. `write` is what a
// due run waits for, `remove` what nobody waits for: deletions, and statuses that only catch up.
enum class CallClass : std::uint8_t { lease, write, remove, event };

// How many calls a second may be made of the API server: a token bucket with a queue for each class. Stepped: it has
// neither a thread nor a clock; times are those of a clock that does not jump.
class Limiter {
 public:
  using Id = std::uint64_t;

  struct Options {
    double per_second = 200;
    double burst = 1000;
    Nanoseconds event_patience = Seconds(10);  // an event that has waited longer is not worth a call
    Nanoseconds event_courtesy = Seconds(1);   // so long an event waits for others that are at work
  };

  struct Released {
    std::vector<Id> now;      // make these calls, in this order
    std::vector<Id> dropped;  // events that came too late
  };

  explicit Limiter(Options options) : options_(options), tokens_(options.burst) {}

  // `id` is the caller's, who knows what it is for.
  void enqueue(CallClass of, Id id, Nanoseconds now);
  // Before the others of its class: what was begun is finished before anything else is begun.
  void enqueue_first(CallClass of, Id id, Nanoseconds now);
  // It is not to be made any more. Nothing happens when it was released.
  void withdraw(Id id);
  // The server has asked for a pause (Retry-After). The lease goes on: it tries again by itself.
  void hold(CallClass of, Nanoseconds until);

  // Calls of other classes are under way, or about to be made: an event would take a place from them.
  void others_work(bool do_they) { others_work_ = do_they; }

  // At most `room` of them, but for the lease.
  Released release(Nanoseconds now, std::size_t room = std::numeric_limits<std::size_t>::max());
  // When release() will have something to say; nothing: when something is enqueued. May be in the past.
  [[nodiscard]] std::optional<Nanoseconds> next(Nanoseconds now) const;

  [[nodiscard]] std::size_t waiting() const;

 private:
  static constexpr std::size_t kClasses = 4;
  struct Waiting {
    Id id;
    Nanoseconds since;
  };
  struct Queue {
    std::deque<Waiting> waiting;
    std::optional<Nanoseconds> held_until;
  };

  [[nodiscard]] double tokens_at(Nanoseconds now) const;
  [[nodiscard]] bool is_held(const Queue& queue, Nanoseconds now) const;
  // When events may go, as far as others are concerned; there is one.
  [[nodiscard]] Nanoseconds events_may_go(Nanoseconds now) const;

  Options options_;
  double tokens_;
  std::optional<Nanoseconds> counted_;  // when tokens_ was right
  std::array<Queue, kClasses> queues_;
  bool others_work_ = false;
};

}  // namespace kron::kube
