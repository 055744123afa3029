#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "kron/core/open_periods.h"

namespace kron {

// Jobs that were due in a turn and could not be looked at yet, each with the turn that judges it: that the daemon is
// busy changes no outcome. Those with a period that is on time come before those that are late.
class Backlog {
 public:
  using Job = std::uint32_t;
  enum class Place : std::uint8_t { on_time, late };

  // `longest`: for how long a turn calls on time what it finds, when it is made of two.
  explicit Backlog(Seconds longest) : longest_(longest) {}

  // A job that is here already is judged by both turns in one.
  void add(Job job, Turn turn, Place place) {
    const auto [known, is_new] = turns_.try_emplace(job, turn);
    if (!is_new) known->second = both(known->second, turn);
    if (is_new || place == Place::on_time) (place == Place::on_time ? on_time_ : late_).push_back(job);
  }

  // The turn of a job that is here, which is so no longer.
  std::optional<Turn> take(Job job) {
    const auto known = turns_.find(job);
    if (known == turns_.end()) return std::nullopt;
    const Turn turn = known->second;
    turns_.erase(known);
    return turn;
  }

  // The same for a job that is due in `turn`, be it here or not.
  Turn take(Job job, Turn turn) {
    const std::optional<Turn> earlier = take(job);
    return earlier ? both(*earlier, turn) : turn;
  }

  [[nodiscard]] std::optional<Turn> turn_of(Job job) const {
    const auto known = turns_.find(job);
    return known == turns_.end() ? std::nullopt : std::optional(known->second);
  }

  // The earliest of all turns.
  [[nodiscard]] std::optional<Instant> on_time_since() const {
    std::optional<Instant> since;
    for (const auto& [job, turn] : turns_) since = std::min(since.value_or(turn.on_time_since), turn.on_time_since);
    return since;
  }

  // The next job to look at.
  std::optional<std::pair<Job, Turn>> pop() {
    for (std::deque<Job>* jobs : {&on_time_, &late_}) {
      while (!jobs->empty()) {
        const Job job = jobs->front();
        jobs->pop_front();
        if (const auto turn = take(job)) return std::pair(job, *turn);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool empty() const { return turns_.empty(); }
  [[nodiscard]] std::size_t size() const { return turns_.size(); }
  [[nodiscard]] bool has_late() const { return !late_.empty(); }

 private:
  [[nodiscard]] Turn both(Turn a, Turn b) const {
    const Instant now = std::max(a.now, b.now);
    return {now, std::max(std::min(a.on_time_since, b.on_time_since), now - longest_)};
  }

  Seconds longest_;
  std::unordered_map<Job, Turn> turns_;
  std::deque<Job> on_time_;  // and those that were taken since
  std::deque<Job> late_;     // likewise
};

}  // namespace kron
