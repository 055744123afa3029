#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kron/base/instant.h"

namespace kron {

// When each job must be looked at next; the earliest first. An idle job costs its one place here and nothing else.
// Jobs are small numbers; a job has at most one time, and setting another replaces it.
class TimerHeap {
 public:
  // One job whose time has come.
  struct Due {
    std::uint32_t job;
    Instant at;
  };

  void set(std::uint32_t job, std::optional<Instant> at) {
    if (job >= times_.size()) times_.resize(job + 1, kNever);
    const Instant before = std::exchange(times_[job], at.value_or(kNever));
    if (times_[job] == before) return;
    if (before == kNever) ++planned_;
    if (!at) {
      --planned_;
      return;
    }
    heap_.emplace_back(*at, job);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    if (heap_.size() > 2 * planned_ + kMostReplaced) drop_all_replaced();
  }

  [[nodiscard]] std::optional<Instant> time_of(std::uint32_t job) const {
    if (job >= times_.size() || times_[job] == kNever) return std::nullopt;
    return times_[job];
  }

  [[nodiscard]] std::optional<Instant> earliest() {
    drop_replaced();
    if (heap_.empty()) return std::nullopt;
    return heap_.front().first;
  }

  // Takes out one job whose time is at or before `now`; jobs of the same time come in the order of their numbers.
  std::optional<Due> pop_due(Instant now) {
    drop_replaced();
    if (heap_.empty() || heap_.front().first > now) return std::nullopt;
    const Due due{heap_.front().second, heap_.front().first};
    pop_front();
    times_[due.job] = kNever;
    --planned_;
    return due;
  }

  // How many places are taken, those included that were replaced: no more than twice the jobs, and a few.
  [[nodiscard]] std::size_t places() const { return heap_.size(); }

  static constexpr std::size_t kMostReplaced = 1024;  // of as many jobs as there are, and these

 private:
  using Place = std::pair<Instant, std::uint32_t>;
  static constexpr Instant kNever = Instant::max();

  // A place whose time is no longer the job's was replaced by a later set(); it is skipped when it comes up.
  void drop_replaced() {
    while (!heap_.empty() && times_[heap_.front().second] != heap_.front().first) pop_front();
  }
  void pop_front() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }
  // Far times may never come up: jobs that are planned again and again would fill the memory with them.
  void drop_all_replaced() {
    heap_.clear();
    for (std::uint32_t job = 0; job < times_.size(); ++job) {
      if (times_[job] != kNever) heap_.emplace_back(times_[job], job);
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  std::vector<Place> heap_;
  std::vector<Instant> times_;  // kNever: none
  std::size_t planned_ = 0;     // jobs that have a time
};

}  // namespace kron
