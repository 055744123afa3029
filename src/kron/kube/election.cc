#include "kron/kube/election.h"

#include <algorithm>

#include "kron/kube/api_error.h"

namespace kron::kube {

Nanoseconds Election::jittered(Nanoseconds pause) const {
  if (!options_.jitter) return pause;
  const double share = std::clamp(options_.jitter(), 0.0, 1.0);
  return pause + Nanoseconds(static_cast<std::int64_t>(static_cast<double>(pause.count()) * 0.2 * share));
}

bool Election::is_in_time(Nanoseconds boot) const { return boot - renewed_at_ < options_.renew_within; }

// Who gives it back may have done so already, and not know yet.
bool Election::is_leader(Nanoseconds boot) const {
  return state_ == State::leader && !is_releasing_ && is_in_time(boot);
}

const std::string& Election::holder() const {
  static const std::string kNobody;
  return known_ ? known_->holder : kNobody;
}

bool Election::is_free(Nanoseconds boot) const {
  if (is_absent_ || known_->holder.empty() || known_->holder == options_.identity) return true;
  return boot - changed_at_ >= known_->duration;
}

void Election::release(std::optional<WallTime> idle_since) {
  if (state_ != State::leader || is_releasing_) return;
  is_releasing_ = true;
  idle_since_ = idle_since;
}

Election::Step Election::call(UnderWay what, Request request, Nanoseconds boot) {
  under_way_ = what;
  sent_at_ = boot;
  return Call{std::move(request)};
}

Election::Step Election::write(UnderWay what, Lease wanted, Nanoseconds boot) {
  const bool is_new = what == UnderWay::create;
  return call(what,
              {.verb = is_new ? Verb::create : Verb::update,
               .path = is_new ? leases_path(options_.ns) : lease_path(options_.ns, options_.name),
               .body = lease_body(wanted)},
              boot);
}

Election::Step Election::next(Nanoseconds boot, WallTime wall) {
  if (state_ == State::leader && !is_in_time(boot)) state_ = is_releasing_ ? State::released : State::lost;
  constexpr auto kFar = std::chrono::hours(24);
  if (state_ == State::lost || state_ == State::released) return Rest{boot + kFar};
  if (under_way_ != UnderWay::nothing) {
    // The answer may never come: the leader must notice by itself.
    return Rest{state_ == State::leader ? renewed_at_ + options_.renew_within : boot + kFar};
  }
  if (state_ == State::standby) return stand_by(boot, wall);

  if (boot < next_at_ && (!is_releasing_ || must_read_)) {
    return Rest{std::min(next_at_, renewed_at_ + options_.renew_within)};
  }
  if (must_read_) return call(UnderWay::read, {.path = lease_path(options_.ns, options_.name)}, boot);
  if (is_absent_ && is_releasing_) {
    state_ = State::released;
    return Rest{boot + kFar};
  }
  if (is_absent_) {  // somebody deleted it; unless another makes it anew first, it stays ours
    const Lease anew{.ns = options_.ns,
                     .name = options_.name,
                     .holder = options_.identity,
                     .duration = options_.duration,
                     .acquired = wall,
                     .renewed = wall};
    return write(UnderWay::create, anew, boot);
  }
  Lease wanted = *known_;
  wanted.renewed = wall;
  if (is_releasing_) {
    wanted.holder.clear();
    wanted.renewed = idle_since_.value_or(wall);
    wanted.duration = Seconds(1);  // as others of Kubernetes do: who does not know an empty holder waits a second
    return write(UnderWay::release, std::move(wanted), boot);
  }
  wanted.duration = options_.duration;
  return write(UnderWay::update, std::move(wanted), boot);
}

Election::Step Election::stand_by(Nanoseconds boot, WallTime wall) {
  if (!must_read_ && is_free(boot)) {
    const bool is_ours = !is_absent_ && known_->holder == options_.identity;  // an answer was lost
    Lease wanted{.ns = options_.ns, .name = options_.name, .holder = options_.identity, .duration = options_.duration};
    wanted.acquired = is_ours ? known_->acquired : wall;
    wanted.renewed = wall;
    if (is_absent_) {
      wanted_hand_over_ = std::nullopt;
      return write(UnderWay::create, std::move(wanted), boot);
    }
    wanted.transitions = known_->transitions + (is_ours ? 0 : 1);
    wanted.resource_version = known_->resource_version;
    if (!is_ours) wanted_hand_over_ = known_->holder.empty() ? known_->renewed : std::nullopt;
    return write(UnderWay::update, std::move(wanted), boot);
  }
  if (boot >= next_at_) return call(UnderWay::read, {.path = lease_path(options_.ns, options_.name)}, boot);
  // Exactly when it expires, too: the next look could be a second later.
  return Rest{must_read_ ? next_at_ : std::min(next_at_, changed_at_ + Nanoseconds(known_->duration))};
}

void Election::fall_back(Nanoseconds pause, Nanoseconds boot) {
  must_read_ = true;
  next_at_ = boot + jittered(pause);
}

void Election::answered(const Reply& reply, Nanoseconds boot) {
  const UnderWay what = under_way_;
  under_way_ = UnderWay::nothing;
  if (state_ == State::lost || state_ == State::released) return;
  const Nanoseconds pause = state_ == State::leader ? options_.retry_after : options_.look_every;
  const auto* answer = std::get_if<Answer>(&reply);
  if (answer == nullptr) return fall_back(pause, boot);  // it may have been done: the Lease will tell
  if (const auto error = error_in(*answer)) {
    if (what == UnderWay::read && error->code == 404) {
      is_absent_ = true;
      must_read_ = false;
      known_.reset();
      next_at_ = boot;
      seen_at_ = boot;
      return;
    }
    // Another was faster, or our own earlier write has landed: what is there now is asked at once.
    if (error->code == 409) return fall_back(Nanoseconds(0), boot);
    return fall_back(
        std::max<Nanoseconds>(pause, std::min<Nanoseconds>(error->retry_after.value_or(Seconds(0)), Seconds(2))), boot);
  }
  take_answer(*answer, what, boot);
}

void Election::observe(Lease lease, Nanoseconds boot) {
  if (!known_ || *known_ != lease) changed_at_ = boot;
  known_ = std::move(lease);
  is_absent_ = false;
  seen_at_ = boot;
}

void Election::take_answer(const Answer& answer, UnderWay what, Nanoseconds boot) {
  Result<Lease> lease = read_lease(answer.body);
  if (!lease) return fall_back(options_.look_every, boot);
  const bool is_ours = lease->holder == options_.identity;
  observe(*std::move(lease), boot);
  must_read_ = false;
  if (what == UnderWay::release) {
    state_ = State::released;
    return;
  }
  if (what == UnderWay::read) {
    next_at_ = boot;  // the leader renews it at once
    if (state_ == State::leader && !is_ours) state_ = is_releasing_ ? State::released : State::lost;
    if (state_ == State::standby && !is_free(boot)) next_at_ = boot + jittered(options_.look_every);
    return;
  }
  if (!is_ours) return fall_back(options_.look_every, boot);  // a server that stores something else
  renewed_at_ = sent_at_;                                     // it counts from before the server can have seen it
  next_at_ = boot + jittered(options_.renew_every);
  if (state_ == State::standby) {
    state_ = State::leader;
    handed_over_ = wanted_hand_over_;
  }
}

}  // namespace kron::kube
