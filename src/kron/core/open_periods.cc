#include "kron/core/open_periods.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "kron/base/sha256.h"
#include "kron/core/period_spans.h"
#include "kron/core/period_view.h"

namespace kron {
namespace {

void insert_sorted(std::vector<Instant>& sorted, Instant value) {
  const auto at = std::ranges::lower_bound(sorted, value);
  if (at == sorted.end() || *at != value) sorted.insert(at, value);
}

void add_to(std::optional<PassedOver>& tally, Instant first, Instant last, std::uint64_t count) {
  if (count == 0) return;
  if (!tally) tally = {0, first, last};
  tally = {tally->count + count, std::min(tally->first, first), std::max(tally->last, last)};
}

// The span to give up when there are too many: of those with nothing ahead the one with the fewest periods. When all
// have something ahead, the fewest again, but not the present: losing that would silence the job until it is over.
std::vector<Span>::iterator least_worth_keeping(const PeriodView& view, std::vector<Span>& spans) {
  const auto rank = [&](const Span& span) {
    const bool is_ahead = view.reaches_into_future(span);
    return std::tuple(is_ahead, is_ahead && view.holds_present(span), view.count(span));
  };
  return std::ranges::min_element(spans, {}, rank);
}

// Keeps the state within its limits; what that closes for good. An open period that its span keeps open, too, because
// its window is still to open, costs nothing to leave out.
std::optional<PassedOver> limit(const Job& job, JobState& state, Turn turn) {
  std::optional<PassedOver> closed;
  const PeriodView view(job, state, turn);
  while (state.passed_over.size() > kMostSpans) {
    const auto lost = least_worth_keeping(view, state.passed_over);
    add_to(closed, lost->first, lost->last, view.count(*lost));
    state.passed_over.erase(lost);
  }
  std::vector<Instant>& open = state.open_periods;
  if (open.size() > kMostOpenPeriods) {
    std::erase_if(open, [&](Instant p) { return p > view.last_opened() && in_spans(state.passed_over, p); });
  }
  if (open.size() > kMostOpenPeriods) {
    const auto kept = open.end() - static_cast<std::ptrdiff_t>(kMostOpenPeriods);
    for (auto lost = open.begin(); lost != kept; ++lost) {
      add_to(closed, *lost, *lost, 1);
      cut_from_spans(state.passed_over, *lost, *lost);
    }
    open.erase(open.begin(), kept);
  }
  return closed;
}

// First sight that a wrong clock put into the future moves back to now, and must not go on closing what lies before it:
// L may already be beyond. Whatever was handled since was due at or after first sight, hence its nominal time is not
// further before it than the longest reach of the job's windows; what lies before that was never handled.
void lower_first_seen(const PeriodView& view, JobState& state) {
  const Instant now = view.now();
  const Instant before = *state.first_seen;
  state.first_seen = now;
  const Span never_handled{now + kOneSecond, before - std::max(state.first_seen_reach, view.closes()) - kOneSecond};
  if (!state.last_handled || never_handled.first > never_handled.last || !view.holds_period(never_handled)) return;
  add_span(state.passed_over, never_handled);
}

// Passed-over periods whose time is ahead again are open: those whose window has opened, and the next one, which must
// not be lost when the wake-up comes late.
void reopen_what_is_ahead(const Job& job, JobState& state, Instant now) {
  const JobState before = state;
  const PeriodView view(job, before, Turn::at(now));
  const auto reopen = [&](Instant period) {
    if (before.last_handled && period <= *before.last_handled) {
      insert_sorted(state.open_periods, period);
    } else {
      cut_from_spans(state.passed_over, period, period);
    }
  };
  bool any_ahead = false;
  for (const Span& span : before.passed_over) {
    if (span.last + view.closes() <= now) continue;
    any_ahead = true;
    view.each_in(std::max(span.first, now - view.closes()), std::min(span.last, view.last_opened()),
                 [&](const Decision& d) {
                   if (d.due() > now && view.is_open(d)) reopen(d.nominal);
                 });
  }
  if (!any_ahead) return;
  const std::optional<Decision> next = next_open_period(job, state, now);
  if (next && in_spans(state.passed_over, next->nominal)) reopen(next->nominal);
  std::erase_if(state.passed_over, [&](const Span& span) { return !view.holds_period(span); });
}

}  // namespace

OpenPeriods open_periods(const Job& job, const JobState& state, Turn turn) {
  OpenPeriods result = due_periods(job, state, turn);
  result.next = PeriodView(job, state, turn).next();
  return result;
}

OpenPeriods due_periods(const Job& job, const JobState& state, Turn turn) {
  const PeriodView view(job, state, turn);
  PeriodView::Due due = view.due();
  OpenPeriods result;
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
  return PeriodView(job, state, Turn::at(now)).next();
}

std::optional<PassedOver> mark_handled(const Job& job, JobState& state, Instant period, Turn turn) {
  const JobState before = state;
  const PeriodView view(job, before, turn);
  // Nothing beyond L was ever handled, whatever the schedule was at the time. So all that L jumps over is one span, the
  // periods in it that stay open included: what is handled of them later is cut out of it.
  view.add_unhandled(state.passed_over, view.first_unhandled(), period - kOneSecond);
  view.add_unhandled(state.passed_over, std::max(view.first_unhandled(), period + kOneSecond), view.last_surely_late());
  const auto settle_one = [&](const Decision& d) {
    if (!view.is_open(d)) return;
    if (view.is_late(d)) {
      std::erase(state.open_periods, d.nominal);
      add_span(state.passed_over, {d.nominal, d.nominal});
    } else if (d.nominal < period) {
      insert_sorted(state.open_periods, d.nominal);
    }
  };
  // `period` itself was decided when it was judged, and is seen to below.
  const Instant first = std::max(view.first_unhandled(), view.last_surely_late() + kOneSecond);
  view.each_in(first, std::min(period - kOneSecond, view.last_opened()), settle_one);
  view.each_in(std::max(first, period + kOneSecond), view.last_opened(), settle_one);
  for (const Instant p : before.open_periods) {
    if (p != period) settle_one(decide(job, p));
  }

  std::erase(state.open_periods, period);
  cut_from_spans(state.passed_over, period, period);
  std::erase_if(state.passed_over, [&](const Span& span) { return !view.holds_period(span); });
  state.last_handled = std::max(state.last_handled.value_or(period), period);
  if (state.first_seen) state.first_seen_reach = std::max(state.first_seen_reach, view.closes());
  return limit(job, state, turn);
}

Settled settle(const Job& job, JobState& state, Instant now) {
  const JobState before = state;
  const PeriodView view(job, before, Turn::at(now));
  if (state.first_seen && *state.first_seen > now && !state.first_seen_is_floor) lower_first_seen(view, state);
  if (state.schedule && state.schedule->since && *state.schedule->since > now) state.schedule->since = now;
  reopen_what_is_ahead(job, state, now);
  Settled settled;
  settled.closed = limit(job, state, Turn::at(now));
  settled.changed = state != before;
  return settled;
}

// Over the fields that decide, each as eight bytes, big-endian. How it was spelled does not count.
std::uint64_t schedule_hash(const Job& job) {
  const Schedule& s = job.schedule;
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  const auto bound = [&](const std::optional<Instant>& t) { return t ? number(epoch_seconds(*t)) : ~std::uint64_t{0}; };
  const auto fields = std::to_array<std::uint64_t>({number(s.kind),
                                                    s.seconds,
                                                    s.minutes,
                                                    s.hours,
                                                    s.days,
                                                    s.days_from_end,
                                                    s.near_weekday,
                                                    s.months,
                                                    number(s.last_weekday),
                                                    s.weekdays,
                                                    s.last_weekdays,
                                                    s.weekday_filter,
                                                    number(s.combine),
                                                    number(s.dst.gap),
                                                    number(s.dst.overlap),
                                                    s.nth_weekdays,
                                                    s.week_filter,
                                                    s.years[0],
                                                    s.years[1],
                                                    s.years[2],
                                                    s.years[3],
                                                    number(s.every.count()),
                                                    bound(s.not_before),
                                                    bound(s.not_after)});
  std::array<char, fields.size() * 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(fields[i / 8] >> (56 - 8 * (i % 8)) & 0xFFU);
  }
  return leading_u64(sha256({std::string_view(bytes.data(), bytes.size()), job.zone.name()}));
}

std::optional<PassedOver> notice_schedule(const Job& job, JobState& state, Instant now) {
  const std::uint64_t hash = schedule_hash(job);
  if (!state.schedule) {
    state.schedule = {hash, std::nullopt};
    return std::nullopt;
  }
  if (state.schedule->hash == hash) return std::nullopt;
  JobState beyond = state;  // what is open at or before L stays open
  beyond.open_periods.clear();
  const std::optional<PassedOver> late = PeriodView(job, beyond, Turn::at(now)).passed_over(std::nullopt);
  state.schedule = {hash, now};
  return late;
}

std::vector<Instant> drop_unknown_periods(const Job& job, JobState& state) {
  std::vector<Instant> dropped;
  std::erase_if(state.open_periods, [&](Instant p) {
    const bool unknown = !job.schedule.is_nominal(p, job.zone);
    if (unknown) dropped.push_back(p);
    return unknown;
  });
  const PeriodView view(job, state, Turn::at(kFirstInstant));
  std::erase_if(state.passed_over, [&](const Span& span) {
    const bool unknown = !view.holds_period(span);
    if (unknown) dropped.push_back(span.first);
    return unknown;
  });
  return dropped;
}

}  // namespace kron
