#include "kron/operator/work_queue.h"

#include <algorithm>
#include <vector>

namespace kron::kronjobs {

WorkQueue::Entry& WorkQueue::entry(std::string_view identity) {
  const auto found = entries_.find(identity);
  if (found != entries_.end()) return found->second;
  const auto made = entries_.try_emplace(std::string(identity)).first;
  made->second.identity = made->first;
  return made->second;
}

const WorkQueue::Entry* WorkQueue::find(std::string_view identity) const {
  const auto found = entries_.find(identity);
  return found != entries_.end() ? &found->second : nullptr;
}

void WorkQueue::set_time(Entry& entry, std::optional<Instant> at) {
  if (entry.time) times_.erase({*entry.time, entry.identity});
  entry.time = at;
  if (at) times_.emplace(*at, entry.identity);
}

void WorkQueue::set_retry(Entry& entry, std::optional<Nanoseconds> at) {
  if (entry.retry) retries_.erase({*entry.retry, entry.identity});
  entry.retry = at;
  entry.is_link = false;
  if (at) retries_.emplace(*at, entry.identity);
}

void WorkQueue::make_ready(Entry& entry, bool first) {
  set_retry(entry, std::nullopt);
  if (entry.state == State::ready) return;
  entry.state = State::ready;
  if (first) {
    ready_.push_front(entry.identity);
  } else {
    ready_.push_back(entry.identity);
  }
}

void WorkQueue::touch(std::string_view identity, Instant since) {
  Entry& touched = entry(identity);
  // Its time may have come already, and nobody has noticed yet.
  if (touched.time) since = std::min(since, *touched.time);
  if (!touched.since) touched.since = since;
  if (touched.state == State::busy) return;  // it is looked at after the answer anyway
  make_ready(touched, false);
}

void WorkQueue::advance(Instant now, Nanoseconds monotonic) {
  while (!times_.empty() && times_.begin()->first <= now) {
    const auto [at, identity] = *times_.begin();
    touch(identity, at);
    set_time(entry(identity), std::nullopt);
  }
  while (!retries_.empty() && retries_.begin()->first <= monotonic) {
    make_ready(entry(retries_.begin()->second), false);
  }
}

std::optional<std::string> WorkQueue::next() {
  while (!ready_.empty()) {
    const std::string_view identity = ready_.front();
    ready_.pop_front();
    Entry& found = entry(identity);
    if (found.state != State::ready) continue;
    found.state = State::resting;
    return std::string(identity);
  }
  return std::nullopt;
}

void WorkQueue::rest(std::string_view identity, std::optional<Instant> until) {
  Entry& rests = entry(identity);
  rests.since.reset();
  wait(identity, until);
}

void WorkQueue::wait(std::string_view identity, std::optional<Instant> until) {
  Entry& waits = entry(identity);
  if (waits.state == State::busy) waits.state = State::resting;
  set_retry(waits, std::nullopt);
  set_time(waits, until);
}

void WorkQueue::begin(std::string_view identity) {
  Entry& busy = entry(identity);
  busy.state = State::busy;
  set_retry(busy, std::nullopt);
  set_time(busy, std::nullopt);
}

void WorkQueue::end(std::string_view identity) {
  Entry& ended = entry(identity);
  if (ended.state == State::busy) ended.state = State::resting;
  make_ready(ended, true);
}

void WorkQueue::back_off(std::string_view identity, Nanoseconds monotonic, const Failed& failed) {
  Entry& backs_off = entry(identity);
  if (backs_off.state == State::busy) backs_off.state = State::resting;
  Nanoseconds pause = options_.first_pause;
  for (int i = 0; i < backs_off.failures && pause < options_.longest_pause; ++i) pause *= 2;
  ++backs_off.failures;
  pause = std::min(pause, options_.longest_pause);
  // Up to a tenth longer, so that those who failed together do not come together.
  pause += Nanoseconds(static_cast<std::int64_t>(static_cast<double>(pause.count()) * 0.1 * failed.jitter));
  set_time(backs_off, failed.until);
  set_retry(backs_off, monotonic + std::max(pause, failed.least));
  backs_off.is_link = failed.is_link;
}

void WorkQueue::succeeded(std::string_view identity) { entry(identity).failures = 0; }

void WorkQueue::link_is_back() {
  std::vector<std::string_view> waiting;
  for (const auto& [at, identity] : retries_) {
    if (find(identity)->is_link) waiting.push_back(identity);
  }
  for (const std::string_view identity : waiting) make_ready(entry(identity), false);
}

void WorkQueue::forget(std::string_view identity) {
  const auto found = entries_.find(identity);
  if (found == entries_.end() || found->second.state == State::busy) return;
  set_time(found->second, std::nullopt);
  set_retry(found->second, std::nullopt);
  std::erase(ready_, found->second.identity);
  entries_.erase(found);
}

void WorkQueue::clear() {
  ready_.clear();
  times_.clear();
  retries_.clear();
  entries_.clear();
}

Turn WorkQueue::turn(std::string_view identity, Instant now) const {
  const Entry* found = find(identity);
  const Instant since = found != nullptr ? found->since.value_or(now) : now;
  return {now, std::clamp(since, now - kLongestTurn, now)};
}

int WorkQueue::failures(std::string_view identity) const {
  const Entry* found = find(identity);
  return found != nullptr ? found->failures : 0;
}

bool WorkQueue::is_busy(std::string_view identity) const {
  const Entry* found = find(identity);
  return found != nullptr && found->state == State::busy;
}

std::optional<Instant> WorkQueue::next_time() const {
  return times_.empty() ? std::nullopt : std::optional(times_.begin()->first);
}

std::optional<Nanoseconds> WorkQueue::next_retry() const {
  return retries_.empty() ? std::nullopt : std::optional(retries_.begin()->first);
}

}  // namespace kron::kronjobs
