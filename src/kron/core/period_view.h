#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kron/core/open_periods.h"

namespace kron {

// The periods of one job as seen at one turn. A period's due time lies in its window, and windows have a constant reach
// around their nominal time; so everything about `now` concerns only nominal times within that reach of it. Internal to
// core; `job` and `state` must outlive it.
class PeriodView {
 public:
  PeriodView(const Job& job, const JobState& state, Turn turn);

  // The last nominal time whose window has opened, and the last one that can only be late.
  [[nodiscard]] Instant last_opened() const { return turn_.now - opens_; }
  [[nodiscard]] Instant last_surely_late() const { return turn_.on_time_since - closes_ - Seconds(1); }

  // The first nominal time that is not handled for being ≤ L, and that first sight does not rule out altogether.
  [[nodiscard]] Instant first_unhandled() const;

  [[nodiscard]] bool is_open(const Decision& d) const { return counts(d) && !is_closed(state_, d, turn_); }
  [[nodiscard]] bool is_late(const Decision& d) const { return d.due() < turn_.on_time_since; }
  // Whether it is a period that first sight lets count.
  [[nodiscard]] bool is_seen(const Decision& d) const { return !state_.first_seen || d.due() >= *state_.first_seen; }

  struct Due {
    std::vector<Decision> on_time;  // oldest nominal first
    std::optional<Decision> latest_late;
  };
  [[nodiscard]] Due due() const;

  [[nodiscard]] std::optional<Decision> next() const;

  // Late open periods except `evaluated`.
  [[nodiscard]] std::optional<PassedOver> passed_over(std::optional<Instant> evaluated) const;

  // Adds the nominal times of [first, last], where there are any. The caller knows that none was ever handled, by
  // whatever schedule, because they are beyond L.
  void add_unhandled(std::vector<Span>& spans, Instant first, Instant last) const;

  // A period of the span is ahead of now, and nothing but the span says so.
  [[nodiscard]] bool reaches_into_future(const Span& span) const;
  [[nodiscard]] bool holds_present(const Span& span) const {
    return span.first + opens_ <= turn_.now && turn_.now <= span.last + closes_;
  }
  [[nodiscard]] bool holds_period(const Span& span) const;
  [[nodiscard]] std::uint64_t count(const Span& span) const;

  // Calls see(decision) for each period in [first, last], in order.
  template <class See>
  void each_in(Instant first, Instant last, See see) const {
    for (auto p = next_after(first - Seconds(1)); p && *p <= last; p = next_after(*p)) see(decide(job_, *p));
  }

  [[nodiscard]] Seconds closes() const { return closes_; }
  [[nodiscard]] Instant now() const { return turn_.now; }

 private:
  [[nodiscard]] bool counts(const Decision& d) const;
  [[nodiscard]] Instant first_counted() const;
  [[nodiscard]] std::optional<Instant> next_after(Instant t) const { return job_.schedule.next_after(t, job_.zone); }
  [[nodiscard]] std::optional<Instant> at_or_before(Instant t) const {
    return job_.schedule.at_or_before(t, job_.zone);
  }

  const Job& job_;
  const JobState& state_;
  Turn turn_;
  Seconds opens_;   // window start − nominal, ≤ 0
  Seconds closes_;  // window end − nominal, ≥ 0
};

// open_periods() without `next`, which is not needed as long as something is due.
OpenPeriods due_periods(const Job& job, const JobState& state, Turn turn);

}  // namespace kron
