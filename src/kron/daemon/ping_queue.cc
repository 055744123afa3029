#include "kron/daemon/ping_queue.h"

#include <algorithm>
#include <iterator>

#include "kron/jobs/ping_url.h"

namespace kron::daemon {

bool PingQueue::push(Ping ping, Nanoseconds now) {
  if (size_ >= kMost) return false;
  ++size_;
  const std::string job = ping.job;
  std::deque<Waiting>& pings = jobs_[job];
  pings.push_back({std::move(ping), now});
  if (pings.size() == 1) make_ready(job);
  return true;
}

void PingQueue::make_ready(const std::string& job) {
  receivers_[std::string(jobs::place_of_url(*jobs_[job].front().ping.url))].jobs.push_back(job);
}

// Each in turn. At most one of them can have all that it may have, so this does not look at many.
PingQueue::Receivers::iterator PingQueue::next_receiver() {
  const auto has_turn = [](const Receivers::value_type& receiver) {
    return !receiver.second.jobs.empty() && receiver.second.under_way < kMostOfReceiver;
  };
  const auto after = receivers_.upper_bound(last_receiver_);
  const auto found = std::find_if(after, receivers_.end(), has_turn);
  if (found != receivers_.end()) return found;
  const auto before = std::find_if(receivers_.begin(), after, has_turn);
  return before != after ? before : receivers_.end();
}

std::optional<PingQueue::Try> PingQueue::take(Nanoseconds now) {
  while (!pauses_.empty() && pauses_.begin()->first <= now) {
    make_ready(pauses_.begin()->second);
    pauses_.erase(pauses_.begin());
  }
  for (auto receiver = next_receiver(); receiver != receivers_.end(); receiver = next_receiver()) {
    last_receiver_ = receiver->first;
    const std::string job = std::move(receiver->second.jobs.front());
    receiver->second.jobs.pop_front();
    Waiting& first = jobs_[job].front();
    if (now < first.made + kLasts) {
      ++receiver->second.under_way;
      return Try{first.ping, std::min(now + kOneTry, first.made + kLasts)};
    }
    if (receiver->second.jobs.empty() && receiver->second.under_way == 0) receivers_.erase(receiver);
    expired_.push_back(std::move(first.ping));
    pop(job);
  }
  return std::nullopt;
}

void PingQueue::end_try(const std::string& job) {
  const auto receiver = receivers_.find(jobs::place_of_url(*jobs_[job].front().ping.url));
  if (--receiver->second.under_way == 0 && receiver->second.jobs.empty()) receivers_.erase(receiver);
}

// The first of the job is done with, and the next has its turn.
void PingQueue::pop(const std::string& job) {
  const auto pings = jobs_.find(job);
  pings->second.pop_front();
  --size_;
  if (pings->second.empty()) {
    jobs_.erase(pings);
  } else {
    make_ready(job);
  }
}

void PingQueue::sent(const std::string& job) {
  end_try(job);
  pop(job);
}

bool PingQueue::failed(const std::string& job, Nanoseconds now) {
  end_try(job);
  Waiting& first = jobs_[job].front();
  const Nanoseconds again = now + kFirstPause * (1 << first.tries);
  if (++first.tries < kTries && again < first.made + kLasts) {
    pauses_.emplace(again, job);
    return false;
  }
  pop(job);
  return true;
}

std::optional<Nanoseconds> PingQueue::next() const {
  return pauses_.empty() ? std::nullopt : std::optional(pauses_.begin()->first);
}

}  // namespace kron::daemon
