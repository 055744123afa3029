#include "kron/kube/limiter.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace kron::kube {
namespace {

double seconds_of(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

constexpr auto kEvents = static_cast<std::size_t>(CallClass::event);
// A whole token, but for what is lost by adding up parts of one.
constexpr double kOneToken = 1 - 1e-6;

}  // namespace

void Limiter::enqueue(CallClass of, Id id, Nanoseconds now) {
  queues_[static_cast<std::size_t>(of)].waiting.push_back({id, now});
}

void Limiter::enqueue_first(CallClass of, Id id, Nanoseconds now) {
  queues_[static_cast<std::size_t>(of)].waiting.push_front({id, now});
}

void Limiter::withdraw(Id id) {
  for (Queue& queue : queues_) std::erase_if(queue.waiting, [&](const Waiting& one) { return one.id == id; });
}

void Limiter::hold(CallClass of, Nanoseconds until) {
  auto& held = queues_[static_cast<std::size_t>(of)].held_until;
  held = held ? std::max(*held, until) : until;
}

double Limiter::tokens_at(Nanoseconds now) const {
  if (!counted_) return tokens_;
  const double gained = seconds_of(std::max(now - *counted_, Nanoseconds(0))) * options_.per_second;
  return std::min(options_.burst, tokens_ + gained);
}

bool Limiter::is_held(const Queue& queue, Nanoseconds now) const { return queue.held_until && now < *queue.held_until; }

Nanoseconds Limiter::events_may_go(Nanoseconds now) const {
  return others_work_ ? queues_[kEvents].waiting.front().since + options_.event_courtesy : now;
}

Limiter::Released Limiter::release(Nanoseconds now, std::size_t room) {
  tokens_ = tokens_at(now);
  counted_ = counted_ ? std::max(*counted_, now) : now;

  Released released;
  auto& lease = queues_.front().waiting;
  for (const Waiting& one : lease) released.now.push_back(one.id);
  lease.clear();

  auto& events = queues_[kEvents].waiting;
  while (!events.empty() && now - events.front().since > options_.event_patience) {
    released.dropped.push_back(events.front().id);
    events.pop_front();
  }
  for (std::size_t i = 1; i < kClasses; ++i) {
    Queue& queue = queues_[i];
    if (is_held(queue, now)) continue;
    for (; room > 0 && !queue.waiting.empty() && tokens_ >= kOneToken; --room) {
      if (i == kEvents && events_may_go(now) > now) break;
      tokens_ -= 1;
      released.now.push_back(queue.waiting.front().id);
      queue.waiting.pop_front();
    }
  }
  return released;
}

std::optional<Nanoseconds> Limiter::next(Nanoseconds now) const {
  if (!queues_.front().waiting.empty()) return now;
  const double missing = std::max(0.0, 1 - tokens_at(now));
  // Rounded up, so that the token is there when it is asked for.
  const Nanoseconds token =
      now + Nanoseconds(static_cast<std::int64_t>(std::ceil(missing / options_.per_second * 1e9)));
  std::optional<Nanoseconds> earliest;
  const auto consider = [&](Nanoseconds at) { earliest = earliest ? std::min(*earliest, at) : at; };
  for (std::size_t i = 1; i < kClasses; ++i) {
    const Queue& queue = queues_[i];
    if (queue.waiting.empty()) continue;
    const Nanoseconds at = i == kEvents ? std::max(token, events_may_go(now)) : token;
    consider(is_held(queue, now) ? std::max(at, *queue.held_until) : at);
  }
  const auto& events = queues_[kEvents].waiting;
  if (!events.empty()) consider(events.front().since + options_.event_patience + Nanoseconds(1));
  return earliest;
}

std::size_t Limiter::waiting() const {
  std::size_t count = 0;
  for (const Queue& queue : queues_) count += queue.waiting.size();
  return count;
}

}  // namespace kron::kube
