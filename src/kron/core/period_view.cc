#include "kron/core/period_view.h"

#include <algorithm>
#include <tuple>

#include "kron/core/period_spans.h"

namespace kron {
namespace {

// A period's place in the order of trigger times.
auto due_order(const Decision& d) { return std::tuple(d.due(), d.nominal); }

bool beyond_last_handled(const JobState& state, Instant period) {
  return !state.last_handled || period > *state.last_handled;
}

// When the schedule last changed, if it did.
std::optional<Instant> changed_at(const JobState& state) {
  return state.schedule ? state.schedule->since : std::nullopt;
}

}  // namespace

PeriodView::PeriodView(const Job& job, const JobState& state, Turn turn)
    : job_(job),
      state_(state),
      turn_(turn),
      opens_(window_of(job.window, instant_of(0)).start.time_since_epoch()),
      closes_(window_of(job.window, instant_of(0)).end.time_since_epoch()) {}

bool PeriodView::counts(const Decision& d) const {
  if (!is_seen(d)) return false;
  const std::optional<Instant> since = changed_at(state_);
  return !since || d.due() >= *since || !beyond_last_handled(state_, d.nominal);
}

Instant PeriodView::first_unhandled() const {
  Instant first = state_.last_handled ? *state_.last_handled + kOneSecond : kFirstInstant;
  if (state_.first_seen) first = std::max(first, *state_.first_seen - closes_);
  return first;
}

Instant PeriodView::first_counted() const {
  const std::optional<Instant> since = changed_at(state_);
  return since ? std::max(first_unhandled(), *since - closes_) : first_unhandled();
}

PeriodView::Due PeriodView::due() const {
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
  const Instant stop = first_counted();
  for (auto p = at_or_before(last_opened()); p && *p >= stop; p = at_or_before(*p - kOneSecond)) {
    if (*p <= last_surely_late() && found.latest_late && *p + closes_ < found.latest_late->due()) break;
    consider(decide(job_, *p));
  }
  for (const Instant p : state_.open_periods) consider(decide(job_, p));
  const auto consider_passed_over = [&](const Decision& d) {
    if (beyond_last_handled(state_, d.nominal)) return;                            // seen by the loop above
    if (!std::ranges::binary_search(state_.open_periods, d.nominal)) consider(d);  // else seen above, too
  };
  for (const Span& span : state_.passed_over) {
    each_in(std::max(span.first, last_surely_late() + kOneSecond), std::min(span.last, last_opened()),
            consider_passed_over);
  }
  std::ranges::sort(found.on_time, {}, &Decision::nominal);
  return found;
}

std::optional<Decision> PeriodView::next() const {
  std::optional<Decision> best;
  const auto consider = [&](const Decision& d) {
    if (d.due() > turn_.now && is_open(d) && (!best || due_order(d) < due_order(*best))) best = d;
  };
  const auto scan = [&](Instant first, Instant last) {
    for (auto p = next_after(std::max(first, turn_.now - closes_) - kOneSecond); p && *p <= last; p = next_after(*p)) {
      if (best && *p + opens_ > best->due()) break;
      consider(decide(job_, *p));
    }
  };
  for (const Instant p : state_.open_periods) consider(decide(job_, p));
  for (const Span& span : state_.passed_over) scan(span.first, span.last);
  scan(first_counted(), kLastInstant);
  return best;
}

std::optional<PassedOver> PeriodView::passed_over(std::optional<Instant> evaluated) const {
  PassedOver tally;
  const auto add = [&](Instant first, Instant last, std::uint64_t count) {
    tally.first = tally.count == 0 ? first : std::min(tally.first, first);
    tally.last = tally.count == 0 ? last : std::max(tally.last, last);
    tally.count += count;
  };
  const auto add_if_late = [&](const Decision& d) {
    if (is_late(d) && is_open(d) && d.nominal != evaluated) add(d.nominal, d.nominal, 1);
  };
  // Around first sight and around a change of the schedule the due time decides which periods count; around now it
  // decides which are late. What lies between is counted without being looked at.
  const Instant first = first_counted();
  Instant all_count = first;
  for (const std::optional<Instant>& bound : {state_.first_seen, changed_at(state_)}) {
    if (bound) all_count = std::max(all_count, *bound - opens_);
  }
  std::vector<Span> between;
  if (all_count <= last_surely_late()) between.push_back({all_count, last_surely_late()});
  for (const Span& known : state_.passed_over) cut_from_spans(between, known.first, known.last);
  if (evaluated) cut_from_spans(between, *evaluated, *evaluated);
  for (const Span& span : between) {
    if (holds_period(span)) add(*next_after(span.first - kOneSecond), *at_or_before(span.last), count(span));
  }
  each_in(first, std::min(all_count - kOneSecond, last_opened()), add_if_late);
  each_in(std::max(all_count, last_surely_late() + kOneSecond), last_opened(), add_if_late);
  for (const Instant p : state_.open_periods) add_if_late(decide(job_, p));
  if (tally.count == 0) return std::nullopt;
  return tally;
}

void PeriodView::add_unhandled(std::vector<Span>& spans, Instant first, Instant last) const {
  if (first > last || !holds_period({first, last})) return;
  add_span(spans, {*next_after(first - kOneSecond), *at_or_before(last)});
}

bool PeriodView::reaches_into_future(const Span& span) const {
  if (span.last > last_opened() && holds_period({std::max(span.first, last_opened() + kOneSecond), span.last}))
    return true;
  bool is_ahead = false;
  each_in(std::max(span.first, turn_.now - closes_), std::min(span.last, last_opened()), [&](const Decision& d) {
    is_ahead |= d.due() > turn_.now && !std::ranges::binary_search(state_.open_periods, d.nominal);
  });
  return is_ahead;
}

bool PeriodView::holds_period(const Span& span) const {
  const auto p = next_after(span.first - kOneSecond);
  return p && *p <= span.last;
}

std::uint64_t PeriodView::count(const Span& span) const {
  return job_.schedule.count_between(span.first, span.last, job_.zone);
}

bool is_closed(const JobState& state, const Decision& decision, Turn turn) {
  if (std::ranges::binary_search(state.open_periods, decision.nominal)) return false;
  if (in_spans(state.passed_over, decision.nominal)) return decision.due() < turn.on_time_since;
  return !beyond_last_handled(state, decision.nominal);
}

}  // namespace kron
