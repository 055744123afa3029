#include "kron/core/open_periods.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kron {
namespace {

constexpr Seconds kOne{1};

// A period's place in the order of trigger times.
auto due_order(const Decision& d) { return std::tuple(d.due(), d.nominal); }

bool in_span(const JobState& state, Instant period) {
  return std::ranges::any_of(state.passed_over, [&](const Span& s) { return s.first <= period && period <= s.last; });
}

bool beyond_last_handled(const JobState& state, Instant period) {
  return !state.last_handled || period > *state.last_handled;
}

void insert_sorted(std::vector<Instant>& sorted, Instant value) {
  const auto at = std::ranges::lower_bound(sorted, value);
  if (at == sorted.end() || *at != value) sorted.insert(at, value);
}

// The oldest go when there are too many, which closes their periods for good.
void keep_newest(std::vector<Span>& spans) {
  if (spans.size() > kMostSpans) spans.erase(spans.begin(), spans.end() - kMostSpans);
}

// Takes [first, last] out of the spans, splitting where needed.
void cut_from_spans(std::vector<Span>& spans, Instant first, Instant last) {
  std::vector<Span> kept;
  for (const Span& span : spans) {
    if (span.last < first || span.first > last) {
      kept.push_back(span);
      continue;
    }
    if (span.first < first) kept.push_back({span.first, first - kOne});
    if (span.last > last) kept.push_back({last + kOne, span.last});
  }
  spans = std::move(kept);
}

// Adds a span, merging what touches.
void add_span(std::vector<Span>& spans, Span added) {
  std::vector<Span> merged;
  for (const Span& span : spans) {
    if (span.last + kOne < added.first || added.last + kOne < span.first) {
      merged.push_back(span);
    } else {
      added = {std::min(added.first, span.first), std::max(added.last, span.last)};
    }
  }
  merged.push_back(added);
  std::ranges::sort(merged, {}, &Span::first);
  keep_newest(merged);
  spans = std::move(merged);
}

// The periods of one job as seen at one turn. A period's due time lies in its window, and windows have a constant reach
// around their nominal time; so everything about `now` concerns only nominal times within that reach of it.
class View {
 public:
  View(const Job& job, const JobState& state, Turn turn)
      : job_(job),
        state_(state),
        turn_(turn),
        opens_(window_of(job.window, instant_of(0)).start.time_since_epoch()),
        closes_(window_of(job.window, instant_of(0)).end.time_since_epoch()) {}

  // The last nominal time whose window has opened, and the last one that can only be late.
  [[nodiscard]] Instant last_opened() const { return turn_.now - opens_; }
  [[nodiscard]] Instant last_surely_late() const { return turn_.on_time_since - closes_ - kOne; }

  [[nodiscard]] bool is_open(const Decision& d) const {
    return (!state_.first_seen || d.due() >= *state_.first_seen) && !is_closed(state_, d, turn_);
  }
  [[nodiscard]] bool is_late(const Decision& d) const { return d.due() < turn_.on_time_since; }

  // Calls see(decision) for each period in [first, last], in order.
  template <class See>
  void each_in(Instant first, Instant last, See see) const {
    for (auto p = next_after(first - kOne); p && *p <= last; p = next_after(*p)) see(decide(job_, *p));
  }

  // The first nominal time that is not handled for being ≤ L, and that first sight does not rule out altogether.
  [[nodiscard]] Instant first_unhandled() const {
    Instant first = state_.last_handled ? *state_.last_handled + kOne : kFirstInstant;
    if (state_.first_seen) first = std::max(first, *state_.first_seen - closes_);
    return first;
  }

  struct Due {
    std::vector<Decision> on_time;
    std::optional<Decision> latest_late;
  };
  [[nodiscard]] Due due() const {
    Due found;
    const auto consider = [&](const Decision& d) {
      if (d.due() > turn_.now || !is_open(d)) return;
      if (!is_late(d)) {
        found.on_time.push_back(d);
      } else if (!found.latest_late || due_order(d) > due_order(*found.latest_late)) {
        found.latest_late = d;
      }
    };
    // Newest first, and no further than a period could still be later than the best one found.
    const Instant stop = first_unhandled();
    for (auto p = at_or_before(last_opened()); p && *p >= stop; p = at_or_before(*p - kOne)) {
      if (*p <= last_surely_late() && found.latest_late && *p + closes_ < found.latest_late->due()) break;
      consider(decide(job_, *p));
    }
    for (const Instant p : state_.open_periods) consider(decide(job_, p));
    for (const Span& span : state_.passed_over) {
      if (beyond_last_handled(state_, span.first)) continue;  // seen by the loop above
      each_in(std::max(span.first, last_surely_late() + kOne), std::min(span.last, last_opened()), consider);
    }
    std::ranges::sort(found.on_time, {}, &Decision::nominal);
    return found;
  }

  [[nodiscard]] std::optional<Decision> next() const {
    std::optional<Decision> best;
    const auto consider = [&](const Decision& d) {
      if (d.due() > turn_.now && is_open(d) && (!best || due_order(d) < due_order(*best))) best = d;
    };
    const auto scan = [&](Instant first, Instant last) {
      for (auto p = next_after(std::max(first, turn_.now - closes_) - kOne); p && *p <= last; p = next_after(*p)) {
        if (best && *p + opens_ > best->due()) break;
        consider(decide(job_, *p));
      }
    };
    for (const Instant p : state_.open_periods) consider(decide(job_, p));
    for (const Span& span : state_.passed_over) scan(span.first, span.last);
    scan(first_unhandled(), kLastInstant);
    return best;
  }

  // Late open periods except `evaluated`.
  [[nodiscard]] std::optional<PassedOver> passed_over(std::optional<Instant> evaluated) const {
    PassedOver tally;
    const auto add = [&](Instant first, Instant last, std::uint64_t count) {
      tally.first = tally.count == 0 ? first : std::min(tally.first, first);
      tally.last = tally.count == 0 ? last : std::max(tally.last, last);
      tally.count += count;
    };
    const auto add_if_late = [&](const Decision& d) {
      if (is_late(d) && is_open(d) && d.nominal != evaluated) add(d.nominal, d.nominal, 1);
    };
    for (const Span& span : jumped_over(evaluated)) {
      add(span.first, span.last, job_.schedule.count_between(span.first, span.last, job_.zone));
    }
    each_in(std::max(first_unhandled(), last_surely_late() + kOne), last_opened(), add_if_late);
    for (const Instant p : state_.open_periods) add_if_late(decide(job_, p));
    if (tally.count == 0) return std::nullopt;
    return tally;
  }

  // The stretches of (L, last_surely_late] that hold late open periods: no period in them was ever handled, whatever
  // the schedule was at the time, because L is behind them. `evaluated` is left out.
  [[nodiscard]] std::vector<Span> jumped_over(std::optional<Instant> evaluated) const {
    Instant first = first_unhandled();
    if (state_.first_seen) {
      // Around first sight the due time decides which periods count; skip to the first that does.
      for (auto p = next_after(first - kOne); p && *p + opens_ < *state_.first_seen; p = next_after(*p)) {
        if (is_counted(*p)) break;
        first = *p + kOne;
      }
    }
    if (first > last_surely_late()) return {};
    std::vector<Span> spans{{first, last_surely_late()}};
    if (evaluated) cut_from_spans(spans, *evaluated, *evaluated);
    for (const Span& known : state_.passed_over) cut_from_spans(spans, known.first, known.last);
    std::erase_if(spans, [&](const Span& span) { return !holds_period(span); });
    for (Span& span : spans) span = {*next_after(span.first - kOne), *at_or_before(span.last)};
    return spans;
  }

  [[nodiscard]] bool holds_period(const Span& span) const {
    const auto p = next_after(span.first - kOne);
    return p && *p <= span.last;
  }

  [[nodiscard]] Seconds closes() const { return closes_; }

 private:
  [[nodiscard]] bool is_counted(Instant p) const { return decide(job_, p).due() >= *state_.first_seen; }
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

}  // namespace

bool is_closed(const JobState& state, const Decision& decision, Turn turn) {
  if (in_span(state, decision.nominal)) return decision.due() < turn.on_time_since;
  if (beyond_last_handled(state, decision.nominal)) return false;
  return !std::ranges::binary_search(state.open_periods, decision.nominal);
}

OpenPeriods open_periods(const Job& job, const JobState& state, Turn turn) {
  const View view(job, state, turn);
  View::Due due = view.due();
  OpenPeriods result;
  result.next = view.next();
  if (due.latest_late) {
    // A catch-up runs at most one period: the latest, and that is the one on time where there is one.
    const bool evaluates_late = due.on_time.empty();
    result.passed_over =
        view.passed_over(evaluates_late ? std::optional(due.latest_late->nominal) : std::optional<Instant>());
    if (evaluates_late) due.on_time.push_back(*due.latest_late);
  }
  result.due = std::move(due.on_time);
  return result;
}

std::optional<Decision> next_open_period(const Job& job, const JobState& state, Instant now) {
  return View(job, state, Turn::at(now)).next();
}

void mark_handled(const Job& job, JobState& state, Instant period, Turn turn) {
  const JobState before = state;
  const View view(job, before, turn);
  for (const Span& span : view.jumped_over(period)) add_span(state.passed_over, span);
  const auto settle_one = [&](const Decision& d) {
    if (d.nominal == period || !view.is_open(d)) return;
    if (view.is_late(d)) {
      std::erase(state.open_periods, d.nominal);
      add_span(state.passed_over, {d.nominal, d.nominal});
    } else if (d.nominal < period) {
      insert_sorted(state.open_periods, d.nominal);
    }
  };
  view.each_in(std::max(view.first_unhandled(), view.last_surely_late() + kOne), view.last_opened(), settle_one);
  for (const Instant p : before.open_periods) settle_one(decide(job, p));
  // Beyond the windows that have opened, nothing is late and nothing was looked at: ahead of now, hence open.
  const Span unopened{std::max(view.first_unhandled(), view.last_opened() + kOne), period - kOne};
  if (unopened.first <= unopened.last && view.holds_period(unopened)) add_span(state.passed_over, unopened);

  std::erase(state.open_periods, period);
  cut_from_spans(state.passed_over, period, period);
  std::erase_if(state.passed_over, [&](const Span& span) { return !view.holds_period(span); });
  keep_newest(state.passed_over);
  if (state.open_periods.size() > kMostOpenPeriods) state.open_periods.erase(state.open_periods.begin());
  state.last_handled = std::max(state.last_handled.value_or(period), period);
}

bool settle(const Job& job, JobState& state, Instant now) {
  const JobState before = state;
  if (state.first_seen && *state.first_seen > now && !state.first_seen_is_floor) state.first_seen = now;
  const auto reopen = [&](Instant period) {
    cut_from_spans(state.passed_over, period, period);
    if (!beyond_last_handled(state, period)) insert_sorted(state.open_periods, period);
  };
  const View view(job, before, Turn::at(now));
  bool any_ahead = false;
  for (const Span& span : before.passed_over) {
    if (span.last + view.closes() <= now) continue;
    any_ahead = true;
    view.each_in(std::max(span.first, now - view.closes()), std::min(span.last, view.last_opened()),
                 [&](const Decision& d) {
                   if (d.due() > now) reopen(d.nominal);
                 });
  }
  if (any_ahead) {
    // The one waited for must not be lost when the wake-up comes late, so it leaves its span now.
    const std::optional<Decision> next = next_open_period(job, state, now);
    if (next && in_span(state, next->nominal)) reopen(next->nominal);
    std::erase_if(state.passed_over, [&](const Span& span) { return !view.holds_period(span); });
    keep_newest(state.passed_over);
  }
  return state != before;
}

std::vector<Instant> drop_unknown_periods(const Job& job, JobState& state) {
  std::vector<Instant> dropped;
  std::erase_if(state.open_periods, [&](Instant p) {
    const bool unknown = !job.schedule.is_nominal(p, job.zone);
    if (unknown) dropped.push_back(p);
    return unknown;
  });
  const View view(job, state, Turn::at(kFirstInstant));
  std::erase_if(state.passed_over, [&](const Span& span) {
    const bool unknown = !view.holds_period(span);
    if (unknown) dropped.push_back(span.first);
    return unknown;
  });
  return dropped;
}

}  // namespace kron
