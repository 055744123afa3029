#include "kron/report/why.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/core/catch_up.h"
#include "kron/forecast/local_time.h"
#include "kron/report/words.h"

namespace kron::report {
namespace {

constexpr std::array<std::string_view, 18> kVerdicts{
    "executed",    "running", "skipped",   "missed",       "excluded",  "no time",
    "passed over", "paused",  "suspended", "not loaded",   "no period", "clock gap",
    "at boot",     "due",     "ahead",     "record ahead", "forgotten", "not scheduled"};

// What is started within this long after its time is on time.
constexpr Seconds kOnTime{2};
// A wall clock jumps by an hour at most; who asks about a time within it means what the clock jumped over.
constexpr Seconds kLongestGap{3600};
constexpr Seconds kClockSlack{60};

class Inquiry {
 public:
  Inquiry(const WhyFacts& facts, const WhyQuestion& question) : facts_(facts), question_(question) {}

  WhyAnswer run() && {
    if (facts_.not_scheduled.empty()) {
      answer_.next = next_start(job(), facts_.state, !facts_.active.empty(), facts_.now);
      const auto& drawn = facts_.spread_start;
      if (answer_.next && drawn && drawn->period == answer_.next->period.nominal) {
        answer_.next->at = std::max(answer_.next->at, drawn->at);
      }
    }
    if (job().schedule.kind == Schedule::Kind::reboot) {
      at_boot();
    } else if (const auto period = period_meant(job(), question_, facts_.now)) {
      answer_.period = decide(job(), *period);
      judge_period();
    } else if (const history::Entry* other = entry_of_another_time()) {
      tell(*other);
    } else {
      no_period();
    }
    return std::move(answer_);
  }

 private:
  [[nodiscard]] const Job& job() const { return facts_.job; }
  [[nodiscard]] const JobState& state() const { return facts_.state; }
  [[nodiscard]] const Decision& period() const { return *answer_.period; }

  void say(Verdict verdict, const std::string& sentence) {
    answer_.verdict = verdict;
    answer_.sentence = std::string(name_of(verdict)) + (sentence.empty() ? "" : ": " + sentence);
  }

  // The record.

  [[nodiscard]] bool is_active(const std::string& run_id) const {
    return std::ranges::any_of(facts_.active, [&](const ActiveExecution& run) { return run.run_id == run_id; });
  }

  [[nodiscard]] bool has_open(Instant nominal) const {
    return std::ranges::binary_search(state().open_periods, nominal);
  }

  [[nodiscard]] bool is_beyond_last() const {
    return !state().last_handled || period().nominal > *state().last_handled;
  }

  // What the history tells of a period: a run rather than what else was said of it, and the newest of these.
  [[nodiscard]] const history::Entry* entry_of_period(Instant nominal) const {
    const history::Entry* best = nullptr;
    const auto rank = [](const history::Entry& entry) {
      return std::pair(history::kind_of(entry) == history::Kind::executed, entry.number);
    };
    for (const history::Entry& entry : facts_.entries) {
      if (entry.period != nominal || entry.passed_over) continue;
      if (best == nullptr || rank(entry) > rank(*best)) best = &entry;
    }
    return best;
  }

  // Without a period of the present schedule: what an earlier one had then, or a run that went on at the time.
  [[nodiscard]] const history::Entry* entry_of_another_time() const {
    if (question_.period) return entry_of_period(*question_.period);
    if (!question_.at) return nullptr;
    if (const history::Entry* entry = entry_of_period(*question_.at)) return entry;
    return run_at(*question_.at);
  }

  // The newest run that went on at this time.
  [[nodiscard]] const history::Entry* run_at(Instant t, std::optional<Instant> not_of = {}) const {
    const history::Entry* found = nullptr;
    for (const history::Entry& entry : facts_.entries) {
      if (history::kind_of(entry) != history::Kind::executed || !entry.started_at || *entry.started_at > t) continue;
      if (not_of && entry.period == not_of) continue;
      const bool has_ended = entry.ended_at ? *entry.ended_at < t : !is_running(entry);
      if (has_ended || (found != nullptr && *found->started_at >= *entry.started_at)) continue;
      found = &entry;
    }
    return found;
  }

  [[nodiscard]] bool is_running(const history::Entry& entry) const {
    return !entry.ended_at && (is_active(entry.run_id) || !entry.host.empty());
  }

  // What kept krond from it. A job that was paused would not have run with krond up either.

  void find_cause(Instant t) {
    answer_.pause = pause_at(t);
    if (answer_.pause) return;
    answer_.down = history::down_at(facts_.up, t);
    if (answer_.down) answer_.down_host = facts_.host;
  }

  [[nodiscard]] std::optional<Pause> pause_at(Instant t) const {
    const auto holds = [&](const Pause& pause) { return pause.since <= t && (!pause.until || t < *pause.until); };
    for (auto pause = facts_.pauses.rbegin(); pause != facts_.pauses.rend(); ++pause) {
      if (holds(*pause)) return *pause;
    }
    if (!state().suspended) return std::nullopt;
    const Pause present = present_pause();
    return holds(present) ? std::optional(present) : std::nullopt;
  }

  [[nodiscard]] Pause present_pause() const {
    const Suspension& suspended = *state().suspended;
    if (!suspended.by.empty()) return {suspended.since, suspended.until, suspended.by, suspended.note};
    // A record of an earlier program does not say who asked; then the list may.
    const auto known = std::ranges::find(facts_.pauses, suspended.since, &Pause::since);
    Pause pause{suspended.since, suspended.until};
    if (known != facts_.pauses.end()) pause = {suspended.since, suspended.until, known->by, known->note};
    return pause;
  }

  [[nodiscard]] std::string cause_text() const {
    if (answer_.down && answer_.down_host.empty()) return down_text(*answer_.down);
    if (answer_.pause) return "the job was " + pause_text(*answer_.pause);
    return {};
  }

  // Of a cluster every host tells of itself alone: no cause, for any other could have done it.
  void add_own_part(Instant t) {
    if (facts_.host.empty() || answer_.pause) return;
    std::string own;
    if (answer_.down) {
      own = "on " + facts_.host + ", " + down_text(*answer_.down);
    } else if (history::was_up_at(facts_.up, t)) {
      own = "krond on " + facts_.host + " was up then";
    } else {
      return;
    }
    answer_.reason += (answer_.reason.empty() ? "" : "; ") + own + ", and of the other hosts this one does not know";
  }

  // The questions, in the order in which they decide.

  void judge_period() {
    if (const history::Entry* entry = entry_of_period(period().nominal)) return tell(*entry);
    const auto active = std::ranges::find(facts_.active, std::optional(period().nominal), &ActiveExecution::period);
    if (active != facts_.active.end()) return tell(history::entry_of(job().identity, *active));
    if (!facts_.not_scheduled.empty()) return not_scheduled();
    if (is_passed_over()) return passed_over();
    if (!counts()) return;
    if (is_closed(state(), period(), Turn::at(facts_.now))) return closed();
    if (is_held_back()) return;
    if (period().due() > facts_.now) return ahead();
    due();
  }

  void not_scheduled() {
    say(Verdict::not_scheduled, "the job never runs, because its record cannot be used");
    answer_.reason = facts_.not_scheduled;
    answer_.instead = "`kron doctor` tells what is wrong with it; `kron state reset` begins the record anew";
  }

  [[nodiscard]] const history::Entry* report_of_period() const {
    for (const history::Entry& entry : facts_.entries) {
      if (entry.passed_over && entry.passed_over->first <= period().nominal &&
          period().nominal <= entry.passed_over->last) {
        return &entry;
      }
    }
    return nullptr;
  }

  [[nodiscard]] bool is_passed_over() const {
    const auto holds = [&](const Span& s) { return s.first <= period().nominal && period().nominal <= s.last; };
    const bool is_ahead = period().due() > facts_.now;
    if (has_open(period().nominal) || is_ahead) return false;
    if (std::ranges::any_of(state().passed_over, holds)) return true;
    return report_of_period() != nullptr && (!is_beyond_last() || !would_be_judged());
  }

  // It is open after all, and nothing but time is in its way: it was passed over by a clock that has gone back since.
  [[nodiscard]] bool would_be_judged() const {
    const Evaluation evaluation = evaluate(job(), state(), false, Turn::at(facts_.now));
    const auto is_it = [&](const Decision& judged) { return judged.nominal == period().nominal; };
    if (const auto* record = std::get_if<Record>(&evaluation.action)) return is_it(record->period);
    if (const auto* start = std::get_if<Start>(&evaluation.action)) return is_it(start->period);
    return false;
  }

  void passed_over() {
    find_cause(period().due());
    const history::Entry* report = report_of_period();
    const std::string cause = cause_text();
    say(Verdict::passed_over,
        (cause.empty() ? "it was late" : cause) + ", and of all that is late only the latest is made up for");
    if (report != nullptr) {
      answer_.entry = *report;
      answer_.reason = counted(report->passed_over->count, "period") + " from " + rfc3339(report->passed_over->first) +
                       " to " + rfc3339(report->passed_over->last) +
                       (report->passed_over->count == 1 ? " was" : " were") + " passed over" +
                       (report->ended_at ? " at " + rfc3339(*report->ended_at) : "");
    }
    add_own_part(period().due());
    answer_.instead = "no setting makes up for more than the latest; what it would have done is done by a run by hand";
  }

  // Whether the record lets it count at all.
  bool counts() {
    if (state().first_seen && period().due() < *state().first_seen) {
      const std::string since = rfc3339(*state().first_seen);
      say(Verdict::not_loaded,
          facts_.is_kron_job ? "the KronJob is there since " + since : "krond has known the job since " + since);
      answer_.reason = "the period was due at " + rfc3339(period().due()) + ", and only what is due later counts";
      return false;
    }
    const auto since = state().schedule ? state().schedule->since : std::nullopt;
    if (since && period().due() < *since && !has_open(period().nominal)) {
      say(Verdict::not_loaded, "the schedule is what it is since " + rfc3339(*since));
      answer_.reason = "by this schedule the period was due at " + rfc3339(period().due()) +
                       ", and a change of the schedule starts nothing that lay in the past";
      return false;
    }
    return true;
  }

  void closed() {
    const Instant last = *state().last_handled;
    if (period().due() > facts_.now || last > facts_.now + reach_before() + kClockSlack) {
      say(Verdict::record_ahead,
          "the record has come to the period " + rfc3339(last) + ", and the clock to " + rfc3339(facts_.now));
      answer_.reason = "a clock that once showed a later time has left it there; no period up to that one will run";
      answer_.instead = facts_.is_kron_job
                            ? "a KronJob of another name begins a record of its own"
                            : "`kron state reset` begins the record anew, and what is due from then on runs";
      return;
    }
    say(Verdict::forgotten, "it was handled, and how is not known any more");
    if (facts_.is_kron_job) {
      answer_.reason = "the status of a KronJob tells the outcomes of its last periods only";
    } else if (facts_.history_age > Seconds(0)) {
      answer_.reason =
          "the history remembers " + duration_text(facts_.history_age) + ", or less when there is much of it";
    }
  }

  // How long before its nominal time a period may be due.
  [[nodiscard]] Seconds reach_before() const { return period().nominal - period().window.start; }

  bool is_held_back() {
    if (!is_suspended(job(), state(), facts_.now)) return false;
    if (job().policy.suspend) {
      say(Verdict::suspended, std::string(facts_.is_kron_job ? "by policy.suspend of its spec" : "by its definition") +
                                  ": nothing is started, and nothing is judged");
    } else {
      const Pause pause = present_pause();
      if (pause.until && period().due() >= *pause.until) return false;
      answer_.pause = pause;
      say(Verdict::paused, pause_text(pause).substr(std::string_view("paused ").size()));
    }
    answer_.reason = "the period is due at " + rfc3339(period().due()) + " and waits";
    answer_.instead = if_resumed();
    return true;
  }

  // What would become of it if nobody held it back.
  [[nodiscard]] std::string if_resumed() const {
    if (period().due() > facts_.now) {
      return period().chosen ? "resumed before, it starts at " + rfc3339(*period().chosen) : std::string();
    }
    Job resumed = job();
    resumed.policy.suspend = false;
    JobState without = state();
    without.suspended.reset();
    const Evaluation evaluation = evaluate(resumed, without, !facts_.active.empty(), Turn::at(facts_.now));
    if (const auto* start = std::get_if<Start>(&evaluation.action)) {
      if (start->period.nominal == period().nominal) return "resumed now, it would start at once";
    }
    if (const auto* wait = std::get_if<Wait>(&evaluation.action);
        wait != nullptr && wait->is_queued && wait->next->nominal == period().nominal) {
      return "resumed now, it would wait for the run that goes on";
    }
    if (const auto* record = std::get_if<Record>(&evaluation.action)) {
      if (record->period.nominal == period().nominal) {
        return "resumed now, it would be recorded as " + outcome_text(record->outcome, record->reason);
      }
    }
    return "resumed now, it would be passed over, because a later period is due as well";
  }

  void ahead() {
    if (!period().chosen) return no_time(why_no_time(job(), period().nominal), "will not run");
    say(Verdict::ahead, "it will start at " + rfc3339(*period().chosen));
  }

  void due() {
    const std::string since = "it is due since " + rfc3339(period().due());
    if (!facts_.not_started.empty()) {
      say(Verdict::due, since + ", and nothing is started: " + facts_.not_started);
      return;
    }
    const Evaluation evaluation = evaluate(job(), state(), !facts_.active.empty(), Turn::at(facts_.now));
    const auto is_it = [&](const Decision& judged) { return judged.nominal == period().nominal; };
    if (const auto* start = std::get_if<Start>(&evaluation.action); start != nullptr && is_it(start->period)) {
      if (facts_.slot_wait) return waits_for_slot(since);
      say(Verdict::due, since + ", and " + about_to_start());
    } else if (const auto* wait = std::get_if<Wait>(&evaluation.action); wait != nullptr && wait->is_queued) {
      queued(*wait, since);
    } else if (const auto* record = std::get_if<Record>(&evaluation.action);
               record != nullptr && is_it(record->period)) {
      say(Verdict::due, since + ", and about to be recorded as " + outcome_text(record->outcome, record->reason));
    } else {
      say(Verdict::due, since + ", and will be passed over, because a later period is due as well");
    }
  }

  [[nodiscard]] std::optional<Instant> drawn_start() const {
    const auto& drawn = facts_.spread_start;
    return drawn && drawn->period == period().nominal ? std::optional(drawn->at) : std::nullopt;
  }

  [[nodiscard]] std::string about_to_start() const {
    const Seconds spread = job().policy.catch_up_spread.value_or(facts_.catch_up_spread);
    if (spread <= Seconds(0) || facts_.now - period().due() <= kFoundLate) return "about to start";
    if (const auto at = drawn_start()) {
      return "to start at " + rfc3339(*at) + ": it was found late, and what is late starts spread over " +
             duration_text(spread);
    }
    return "to start within " + duration_text(spread) + " of when it was found late";
  }

  void waits_for_slot(const std::string& since) {
    const std::string& pool = facts_.slot_wait->pool;
    say(Verdict::due, since + ", and waits for a slot" +
                          (pool.empty() ? std::string(" of the host (krond --max-running)") : " of the pool " + pool) +
                          " since " + rfc3339(facts_.slot_wait->since));
    answer_.reason = "those before it, by chosen time and name, go first; it starts if that is not later than " +
                     rfc3339(*period().chosen + job().policy.deadline) + ", and is missed (no slot) otherwise";
    answer_.instead =
        pool.empty() ? "`kron runs --result running` shows what runs; krond --max-running says how many may"
                     : "`kron runs --result running` shows what runs; more slots in pools of a job file let more run";
  }

  // It waits, or a later one does, which takes its place.
  void queued(const Wait& wait, const std::string& since) {
    if (wait.next->nominal != period().nominal) {
      return say(Verdict::due, since + ", and will be passed over, because a later period is due as well");
    }
    say(Verdict::due, since + ", and waits for the run before it to end (concurrency=queue)");
    answer_.reason =
        "it starts then, if that is not later than " + rfc3339(*wait.until - Seconds(1)) + ", and is missed otherwise";
    if (facts_.active.empty()) return;
    const ActiveExecution& run = facts_.active.front();
    answer_.reason = "the run " + run.run_id + " goes on since " + rfc3339(run.started_at) + "; " + answer_.reason;
  }

  // What the history tells.

  void tell(const history::Entry& entry) {
    answer_.entry = entry;
    switch (history::kind_of(entry)) {
      case history::Kind::executed:
        return executed(entry);
      case history::Kind::missed:
        return missed(entry);
      case history::Kind::skipped:
        return skipped(entry);
      case history::Kind::unschedulable:
        return no_time({entry.reason, entry.clause}, "was not run");
      case history::Kind::passed_over:
        break;
    }
  }

  void executed(const history::Entry& entry) {
    const std::string by = entry.host.empty() ? "" : " on " + entry.host;
    if (is_running(entry)) {
      say(Verdict::running, "since " + rfc3339(entry.started_at.value_or(facts_.now)) + by);
    } else {
      say(Verdict::executed, exit_text(entry) + by);
    }
    if (!entry.period) answer_.reason = std::string(entry.trigger == Trigger::manual ? "by hand" : "at boot") + ", ";
    if (!entry.started_at) return;
    answer_.reason += "started at " + rfc3339(*entry.started_at);
    const Instant chosen = entry.chosen.value_or(*entry.started_at);
    if (*entry.started_at - chosen > kOnTime) {
      find_cause(chosen);
      const std::string cause = cause_text();
      answer_.reason += ", " + duration_text(*entry.started_at - chosen) + " after its chosen time " + rfc3339(chosen) +
                        (cause.empty() ? "" : ": " + cause);
    }
    if (entry.ended_at) answer_.reason += ", ended at " + rfc3339(*entry.ended_at);
    if (*entry.started_at - chosen > kOnTime) add_own_part(chosen);
  }

  void missed(const history::Entry& entry) {
    const Instant chosen = entry.chosen.value_or(period_of(entry));
    find_cause(chosen);
    const std::string cause = cause_text();
    if (entry.reason == Reason::no_slot) return missed_for_slot(entry, chosen);
    say(Verdict::missed, cause.empty() ? "it could not be started before its deadline was over" : cause);
    answer_.reason = "it was to start at " + rfc3339(chosen);
    if (entry.ended_at) {
      answer_.reason += " and could be judged at " + rfc3339(*entry.ended_at) + ", " +
                        duration_text(std::max(*entry.ended_at - chosen, Seconds(0))) + " later";
    }
    answer_.reason += "; its deadline is " + duration_text(job().policy.deadline);
    add_own_part(chosen);
    if (answer_.period && entry.ended_at) with_deadline(*entry.ended_at);
  }

  // How long it would have had to wait nobody knows.
  void missed_for_slot(const history::Entry& entry, Instant chosen) {
    answer_.pause.reset();
    answer_.down.reset();
    say(Verdict::missed, meaning_of(Reason::no_slot, {}));
    answer_.reason = "it was to start at " + rfc3339(chosen);
    if (entry.ended_at) answer_.reason += " and was given up at " + rfc3339(*entry.ended_at);
    answer_.reason += "; its deadline is " + duration_text(job().policy.deadline);
    add_own_part(chosen);
    answer_.instead =
        (facts_.pool.empty() ? std::string("a higher krond --max-running") : "more slots in the pool " + facts_.pool) +
        ", a longer deadline, or a window that spreads the starts";
  }

  // The deadline that would have let it start when it was judged.
  void with_deadline(Instant judged) {
    if (!period().chosen || judged < *period().chosen) return;
    const Seconds deadline = at_least(judged - *period().chosen);
    if (deadline <= job().policy.deadline) return;
    Job alone = job();
    alone.schedule.not_before = alone.schedule.not_after = period().nominal;
    alone.policy.deadline = deadline;
    alone.policy.suspend = false;
    JobState fresh;
    fresh.last_handled = period().nominal - Seconds(1);
    const bool is_busy = run_at(judged, period().nominal) != nullptr;
    const Evaluation evaluation = evaluate(alone, fresh, is_busy, Turn::at(judged));
    const std::string with = "with deadline=" + duration_text(deadline) + " it would have ";
    if (std::holds_alternative<Start>(evaluation.action)) {
      answer_.instead = with + "started at " + rfc3339(judged);
    } else if (const auto* record = std::get_if<Record>(&evaluation.action)) {
      answer_.instead = with + "been recorded as " + outcome_text(record->outcome, record->reason);
    }
  }

  void skipped(const history::Entry& entry) {
    if (entry.reason == Reason::paused) {
      answer_.pause = pause_at(entry.chosen.value_or(period_of(entry)));
      say(Verdict::skipped, "the job was " + (answer_.pause ? pause_text(*answer_.pause) : std::string("paused")) +
                                ", by somebody who wanted what became due meanwhile to be skipped");
      answer_.instead = "without --skip-missed the latest of these would have been judged when the pause ended";
      return;
    }
    say(Verdict::skipped, meaning_of(entry.reason, entry.detail));
    if (entry.reason != Reason::concurrency_forbid && entry.reason != Reason::lock_held) return;
    const Instant judged = entry.ended_at.value_or(entry.chosen.value_or(period_of(entry)));
    if (const history::Entry* other = run_at(judged, entry.period)) {
      answer_.reason = "the run " + other->run_id +
                       (other->period ? " of the period " + rfc3339(*other->period) : std::string()) +
                       " went on then: it was started at " + rfc3339(*other->started_at) +
                       (other->ended_at ? " and ended at " + rfc3339(*other->ended_at) : " and has not ended");
    }
    if (entry.reason == Reason::concurrency_forbid) {
      answer_.instead = "with concurrency=allow it would have started at " + rfc3339(judged) +
                        " beside that run, with concurrency=replace in its place";
    }
  }

  [[nodiscard]] static Instant period_of(const history::Entry& entry) {
    return entry.period.value_or(entry.ended_at.value_or(Instant{}));
  }

  void no_time(const NoTime& why, const std::string& tense) {
    if (why.reason == Reason::excluded) {
      say(Verdict::excluded, "it " + tense + ": the constraints allow no second of its window (" + why.clause + ")");
    } else {
      say(Verdict::no_time, "it " + tense + ": none of the " + std::to_string(kSamplingBudget) +
                                " draws met a second that the constraints allow");
      if (answer_.period) {
        answer_.reason = percent(allowed_share(job(), period().nominal).share) + " of its window is allowed by " +
                         summary_of(job().constraints);
      }
    }
    if (answer_.period) answer_.instead = without_constraints();
  }

  // The first constraint without which it would have a time; all of them when it takes more than one.
  [[nodiscard]] std::string without_constraints() const {
    const auto starts_at = [&](const Constraints& constraints) {
      Job freer = job();
      freer.constraints = constraints;
      return decide(freer, period().nominal).chosen;
    };
    for (ConstraintSet Constraints::*side : {&Constraints::only, &Constraints::avoid}) {
      for (const ConstraintSet& kind : kinds_of(job().constraints.*side)) {
        Constraints one;
        one.*side = kind;
        if (const auto chosen = starts_at(without(job().constraints, side, kind))) {
          return "without `" + summary_of(one) + "` its time would be " + rfc3339(*chosen);
        }
      }
    }
    const auto chosen = starts_at({});
    return chosen ? "without any constraint its time would be " + rfc3339(*chosen) : std::string();
  }

  // A time without a period.

  void at_boot() {
    const history::Entry* run = question_.at ? run_at(*question_.at) : last_run();
    if (run != nullptr) return tell(*run);
    say(Verdict::at_boot, "@reboot runs once after each boot of the machine, and no clock says when");
  }

  [[nodiscard]] const history::Entry* last_run() const {
    const history::Entry* last = nullptr;
    for (const history::Entry& entry : facts_.entries) {
      if (history::kind_of(entry) == history::Kind::executed && (last == nullptr || entry.number > last->number)) {
        last = &entry;
      }
    }
    return last;
  }

  void no_period() {
    const Instant at = question_.period ? *question_.period : question_.at.value_or(facts_.now);
    if (const auto before = job().schedule.at_or_before(at, job().zone)) answer_.before = decide(job(), *before);
    if (const auto after = job().schedule.next_after(at, job().zone)) answer_.after = decide(job(), *after);
    if (jumped_over(at)) return;
    answer_.mismatches = mismatches_of(job().schedule, job().zone, at);
    say(Verdict::no_period, why_none(at));
    answer_.reason = neighbours_text(job(), answer_.before, answer_.after);
  }

  bool jumped_over(Instant at) {
    for (const jobs::DstEffect& effect : jobs::dst_effects(job(), at - kLongestGap, at)) {
      if (effect.kind != jobs::DstEffect::Kind::dropped) continue;
      say(Verdict::clock_gap, "the wall clock of " + job().zone.name() + " jumped over " +
                                  wall_clock_text(effect.local) + " at " + rfc3339(effect.change) +
                                  ", and gap=skip leaves such a period out");
      answer_.reason = neighbours_text(job(), answer_.before, answer_.after);
      answer_.instead = "with gap=run it would have its nominal time at " + rfc3339(effect.change);
      return true;
    }
    return false;
  }

  [[nodiscard]] std::string why_none(Instant at) const {
    const Schedule& schedule = job().schedule;
    if (!answer_.before && !answer_.after) return "the schedule has no time at all";
    if (schedule.not_before && at < *schedule.not_before) {
      return "the schedule begins with " + rfc3339(*schedule.not_before);
    }
    if (schedule.not_after && at > *schedule.not_after) {
      return "the schedule ended with " + rfc3339(*schedule.not_after);
    }
    if (schedule.kind == Schedule::Kind::every) {
      return "it is no multiple of " + duration_text(schedule.every) + " since the epoch";
    }
    if (!answer_.mismatches.empty()) return mismatch_text(answer_.mismatches, job().zone, at);
    return "the wall clock of " + job().zone.name() + " shows " + wall_clock_text(job().zone.to_civil(at)) +
           " twice, and this is not the one that counts (" + to_string(schedule.dst) + ")";
  }

  const WhyFacts& facts_;
  const WhyQuestion& question_;
  WhyAnswer answer_;
};

}  // namespace

std::string_view name_of(Verdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }

WhyAnswer why(const WhyFacts& facts, const WhyQuestion& question) { return Inquiry(facts, question).run(); }

}  // namespace kron::report
