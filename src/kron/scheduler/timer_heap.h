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
  void set(std::uint32_t job, std::optional<Instant> at) {
    if (job >= times_.size()) times_.resize(job + 1, kNever);
    times_[job] = at.value_or(kNever);
    if (!at) return;
    heap_.emplace_back(*at, job);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  [[nodiscard]] std::optional<Instant> earliest() {
    drop_replaced();
    if (heap_.empty()) return std::nullopt;
    return heap_.front().first;
  }

  // Takes out one job whose time is at or before `now`; jobs of the same time come in the order of their numbers.
  std::optional<std::uint32_t> pop_due(Instant now) {
    drop_replaced();
    if (heap_.empty() || heap_.front().first > now) return std::nullopt;
    const std::uint32_t job = heap_.front().second;
    pop_front();
    times_[job] = kNever;
    return job;
  }

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

  std::vector<Place> heap_;
  std::vector<Instant> times_;  // kNever: none
};

}  // namespace kron
