#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "kron/base/instant.h"
#include "kron/env/clock.h"
#include "kron/kube/lease.h"
#include "kron/kube/request.h"

namespace kron::kube {

// Who of several operators works: the one that holds a Lease. For economy, not for safety: two that both believe to
// hold it cost calls and nothing else.
//
// Stepped, without thread and clock: next() says the one call to make, answered() what came of it. Ages are counted on
// our own boot clock, from when we saw the record change: the clocks of the others do not matter.
class Election {
 public:
  struct Options {
    std::string ns;
    std::string name;
    std::string identity;  // unlike that of any other process, also of an earlier one on this host
    Seconds duration{15};
    Nanoseconds renew_within =
        Seconds(10);  // of no success: it is lost. Shorter than the duration, so that we know first
    Nanoseconds renew_every = Seconds(2);
    Nanoseconds retry_after = std::chrono::milliseconds(500);  // when a renewal failed
    Nanoseconds look_every = Seconds(1);                       // while another holds it
    std::function<double()> jitter = {};  // from 0 up to 1: pauses are up to a fifth longer; none: never
  };

  enum class State : std::uint8_t {
    standby,   // another holds it, or nobody is known to
    leader,    // until a renewal is late: ask is_leader()
    lost,      // for good: a process that has lost it starts anew
    released,  // given back, or given up giving it back
  };

  struct Rest {
    Nanoseconds until;  // of the boot clock
  };
  struct Call {
    Request request;
  };
  using Step = std::variant<Rest, Call>;

  explicit Election(Options options) : options_(std::move(options)) {}

  // A Call is under way until answered(); Rest until then. `boot` never goes back.
  Step next(Nanoseconds boot, WallTime wall);
  void answered(const Reply& reply, Nanoseconds boot);

  // The leader gives it back, so that the next one need not wait, and is none from here on. `idle_since`: when it began
  // nothing new any more, which is what the next one is told; none: when it is given back. Nothing happens when we are
  // none.
  void release(std::optional<WallTime> idle_since = {});

  [[nodiscard]] State state() const { return state_; }
  // At this moment, also when next() was not asked in time.
  [[nodiscard]] bool is_leader(Nanoseconds boot) const;
  // Who holds it as far as we know; empty: nobody.
  [[nodiscard]] const std::string& holder() const;
  // When the server last answered with the Lease, for readiness.
  [[nodiscard]] std::optional<Nanoseconds> seen_at() const { return seen_at_; }
  // As leader, when our predecessor has released it: the time of that. What became due since then is not late by
  // anybody's fault.
  [[nodiscard]] std::optional<WallTime> handed_over() const { return handed_over_; }

 private:
  enum class UnderWay : std::uint8_t { nothing, read, create, update, release };

  Step call(UnderWay what, Request request, Nanoseconds boot);
  Step write(UnderWay what, Lease wanted, Nanoseconds boot);
  Step stand_by(Nanoseconds boot, WallTime wall);
  void take_answer(const Answer& answer, UnderWay what, Nanoseconds boot);
  void observe(Lease lease, Nanoseconds boot);
  void fall_back(Nanoseconds pause, Nanoseconds boot);
  [[nodiscard]] Nanoseconds jittered(Nanoseconds pause) const;
  [[nodiscard]] bool is_free(Nanoseconds boot) const;
  [[nodiscard]] bool is_in_time(Nanoseconds boot) const;

  Options options_;
  State state_ = State::standby;
  UnderWay under_way_ = UnderWay::nothing;
  bool is_releasing_ = false;
  std::optional<WallTime> idle_since_ = {};
  Nanoseconds sent_at_{0};
  Nanoseconds next_at_{0};
  Nanoseconds renewed_at_{0};        // when the last successful renewal was sent
  bool must_read_ = true;            // what we know is not what the server has
  bool is_absent_ = false;           // the server has none
  std::optional<Lease> known_ = {};  // as the server has shown it last
  Nanoseconds changed_at_{0};        // when we saw it change
  std::optional<Nanoseconds> seen_at_ = {};
  std::optional<WallTime> wanted_hand_over_ = {};
  std::optional<WallTime> handed_over_ = {};
};

}  // namespace kron::kube
