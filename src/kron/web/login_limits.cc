#include "kron/web/login_limits.h"

#include <algorithm>

namespace kron::web {

std::optional<Seconds> LoginLimits::wrong(const std::string& key, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (!known_.contains(key) && known_.size() >= kMostAddresses) forget_oldest();
  Known& known = known_[key];
  known.last = now;
  const auto wait = known.limit.wrong(now);
  if (wait) return wait;
  if (second_ < Nanoseconds(0) || now - second_ >= Seconds(1)) {
    second_ = now;
    in_second_ = 0;
  }
  return ++in_second_ > kMostInASecond ? std::optional(Seconds(1)) : std::nullopt;
}

void LoginLimits::right(const std::string& key) {
  const std::lock_guard lock(mutex_);
  known_.erase(key);
}

std::optional<Seconds> LoginLimits::waits(const std::string& key, Nanoseconds now) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  return found == known_.end() ? std::nullopt : found->second.limit.waits(now);
}

void LoginLimits::forget_oldest() {
  known_.erase(std::ranges::min_element(known_, {}, [](const auto& one) { return one.second.last; }));
}

}  // namespace kron::web
