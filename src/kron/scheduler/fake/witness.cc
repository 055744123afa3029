#include "kron/scheduler/fake/witness.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/base/sha256.h"
#include "kron/core/catch_up.h"
#include "kron/core/decision.h"
#include "kron/core/failure_pause.h"

namespace kron::testing {
namespace {

// How many of a job's handled periods are looked at again each time; all of them would make years quadratic.
constexpr int kLookedAtAgain = 24;

std::uint64_t shortened(std::string_view run_id) { return std::hash<std::string_view>()(run_id); }

std::optional<bool> is_paused_for_good(const JobState& periods) {
  if (periods.suspended && periods.suspended->until) return std::nullopt;
  return periods.suspended.has_value();
}

// A turn may be worked off for so long after it found what is late.
constexpr Seconds kTurnMayTake{60};

// The id of a message's task, as the contract has it.
std::string task_of(std::string_view identity, const std::string& key, const std::string& to) {
  return "notify-" + hex(sha256({identity, "\n", key, "\n", to})).substr(0, 32);
}

std::string text_of(std::optional<Instant> time) { return time ? rfc3339(*time) : "none"; }

}  // namespace

void Witness::accuse(std::string violation) {
  if (violation_.empty()) violation_ = std::move(violation);
}

const Witness::Facts* Witness::facts(const std::string& identity) const {
  const auto known = jobs_.find(identity);
  return known == jobs_.end() ? nullptr : &known->second;
}

void Witness::note_outcome(const std::string& identity, Facts& facts, Instant period, Outcome outcome) {
  const auto [known, is_new] = facts.outcomes.try_emplace(period, outcome);
  outcomes_ += is_new ? 1 : 0;
  if (!is_new) {
    accuse(identity + " " + rfc3339(period) + " has a second outcome: " + std::string(name_of(known->second)) +
           ", then " + std::string(name_of(outcome)));
  }
}

void Witness::check_started(const std::string& identity, Facts& facts, const ActiveExecution& run, const Job* job) {
  started_.insert(shortened(run.run_id));
  if (!run.period) return;
  note_outcome(identity, facts, *run.period, Outcome::executed);
  // A run that replaced another has waited for it, and the clock may have been set meanwhile.
  if (run.trigger != Trigger::schedule || job == nullptr || job->policy.concurrency == Concurrency::replace) return;
  const Seconds late = run.started_at - run.chosen.value();
  if (late < Seconds(0) || late > std::max(job->policy.deadline, kBusyAllowance)) {
    accuse(identity + " " + rfc3339(*run.period) + " started at " + rfc3339(run.started_at) + ", chosen " +
           text_of(run.chosen));
  }
}

void Witness::check_bookkeeping(const std::string& identity, const Facts& facts, const JobState& periods) {
  if (facts.last_handled && (!periods.last_handled || *periods.last_handled < *facts.last_handled)) {
    accuse(identity + ": the last handled period went back from " + text_of(facts.last_handled) + " to " +
           text_of(periods.last_handled));
  }
  if (periods.open_periods.size() > kMostOpenPeriods || periods.passed_over.size() > kMostSpans) {
    accuse(identity + ": more open periods or passed-over spans than allowed");
  }
  int left = kLookedAtAgain;
  for (auto handled = facts.outcomes.rbegin(); handled != facts.outcomes.rend() && left > 0; ++handled, --left) {
    const Instant period = handled->first;
    const bool is_open =
        !periods.last_handled || period > *periods.last_handled ||
        std::ranges::binary_search(periods.open_periods, period) ||
        std::ranges::any_of(periods.passed_over, [&](const Span& s) { return s.first <= period && period <= s.last; });
    if (is_open) accuse(identity + " " + rfc3339(period) + " was handled and is open again");
  }
}

// The count is told anew from what the step says of runs that ended. Of those that were replaced it is not known here
// which were ended for it.
void Witness::check_pause(const LedgerStep& step, const Facts& facts, const Job* job) {
  const std::optional<Suspension>& after = step.now.periods.suspended;
  const auto is_scheduled = [](const StartedRun& run) { return run.trigger == Trigger::schedule; };
  const bool was_paused = facts.is_paused.value_or(false);
  if (was_paused && after && std::ranges::any_of(step.started, is_scheduled)) {
    accuse(step.identity + ": a period is started while the job is paused");
  }
  for (const ActiveExecution& run : step.now.active) {
    const bool is_new = !facts.active.contains(run.run_id) && run.trigger == Trigger::schedule;
    const bool has_resumed = facts.unanswered != 0 && (!after || after->until != facts.paused_until);
    if (is_new && facts.paused_until && run.started_at < *facts.paused_until && !has_resumed) {
      accuse(step.identity + ": a period is started at " + rfc3339(run.started_at) + ", and the job is paused until " +
             rfc3339(*facts.paused_until));
    }
  }
  if (was_paused && !after && facts.unanswered == 0) accuse(step.identity + ": a pause ends that nobody has ended");
  const bool by_failures = after && after->by == kPausedByFailures;
  if (by_failures && !was_paused) ++paused_;
  if (job == nullptr) return;
  std::uint32_t failures = facts.failures;
  bool must_pause = false;
  bool may_pause = false;
  for (const HistoryEntry& entry : step.history) {
    const bool counts = entry.outcome == Outcome::executed && entry.trigger != Trigger::manual && entry.exit_code;
    if (!counts) continue;
    failures = entry.failed.value_or(*entry.exit_code != 0) ? failures + 1 : 0;
    may_pause = may_pause || failures != 0;
    if (job->policy.pause_after == 0 || failures < job->policy.pause_after) continue;
    must_pause = true;
    failures = 0;
  }
  if (job->policy.pause_after == 0 && step.now.periods.failures_in_a_row > facts.failures) {
    accuse(step.identity + ": failures are counted that no policy asks for");
  }
  const bool is_exact = job->policy.concurrency != Concurrency::replace;
  if (is_exact && must_pause && !after) accuse(step.identity + ": so many failures in a row, and it is not paused");
  if (by_failures && facts.is_paused == false && !may_pause) {
    accuse(step.identity + ": it is paused for failures that its step does not tell of");
  }
}

void Witness::check_slots(const std::string& started, std::size_t max_running, const PoolOf& pool_of) {
  std::size_t running = 0;
  std::map<std::string, std::size_t> used;
  for (auto& [identity, facts] : jobs_) {
    if (!facts.is_known || facts.active.empty()) continue;
    if (const auto pool = pool_of(identity)) facts.pool = *pool;
    running += facts.active.size();
    if (facts.pool) used[facts.pool->name] += facts.active.size();
  }
  if (max_running != 0 && running > max_running) {
    accuse(started + " started as one of " + std::to_string(running) + " runs, of " + std::to_string(max_running) +
           " at most");
  }
  const auto& pool = jobs_[started].pool;
  if (pool && used[pool->name] > pool->slots) {
    accuse(started + " started as one of " + std::to_string(used[pool->name]) + " runs in the pool " + pool->name +
           ", which has " + std::to_string(pool->slots) + " slots");
  }
}

void Witness::restarted() {
  for (auto& [identity, facts] : jobs_) {
    facts.is_known = false;
    facts.waits.clear();
  }
}

void Witness::check_overlap(const LedgerStep& step, const Job& job) {
  const bool is_alone = job.policy.concurrency == Concurrency::forbid || job.policy.concurrency == Concurrency::queue;
  const bool starts =
      std::ranges::any_of(step.started, [](const StartedRun& r) { return r.trigger != Trigger::reboot; });
  if (is_alone && starts && step.now.active.size() > 1) accuse(step.identity + ": a run starts beside another");
}

void Witness::told_of_wait(const std::string& identity, Instant period, std::optional<Instant> spread_until) {
  Facts& facts = jobs_[identity];
  if (facts.waits.size() > 100) facts.waits.clear();
  facts.waits[period] = spread_until;
}

// How long it has to wait is the same whenever it was found, as long as its deadline does not bound that.
void Witness::check_spread(const std::string& identity, const ActiveExecution& run, const Job& job) {
  const Seconds spread = job.policy.catch_up_spread.value_or(Seconds(0));
  if (!hears_log_ || !run.period || run.trigger != Trigger::schedule || spread == Seconds(0)) return;
  Facts& facts = jobs_[identity];
  if (const auto told = facts.waits.find(*run.period); told != facts.waits.end()) {
    if (!told->second) return;  // it has waited for something else
    ++spread_;
    if (run.started_at < *told->second) accuse(identity + " " + rfc3339(*run.period) + " starts before it was to");
    return;
  }
  const Decision period = decide(job, *run.period);
  const Seconds late = run.started_at - run.chosen.value();
  const bool is_judged_before = job.policy.concurrency == Concurrency::replace || period.chosen != run.chosen;
  if (is_judged_before || late <= kFoundLate + kTurnMayTake || job.policy.deadline - late < spread) return;
  if (catch_up_start(period, job.policy.deadline, spread, run.started_at) > run.started_at) {
    accuse(identity + " " + rfc3339(*run.period) + " was found late, and is not spread");
  }
}

void Witness::call_for(const std::string& identity, Facts& facts, const std::vector<AlarmModel::Message>& messages) {
  for (const AlarmModel::Message& message : messages) {
    for (const std::string& to : message.to) facts.called_for.insert(task_of(identity, message.key, to));
  }
}

void Witness::submitted(const std::string& identity, const AlarmMessage& message, const std::string& to) {
  const std::string key = key_of(message);
  const std::string task = task_of(identity, key, to);
  if (!jobs_[identity].called_for.contains(task)) accuse(identity + ": nothing calls for the message " + key);
  if (!queue_.insert(task).second) return;
  if (message.sign.kind != AlarmKind::recovered) {
    ++(message.number == 0 ? opened_ : repeated_);
    late_ += message.sign.kind == AlarmKind::late ? 1 : 0;
    return;
  }
  ++closed_;
  AlarmMessage opening;
  opening.sign.kind = message.opened_as;
  opening.first = message.first;
  const std::string opened = task_of(identity, key_of(opening), to);
  if (jobs_[identity].called_for.contains(opened) && !queue_.contains(opened)) {
    accuse(identity + ": " + key + " closes an alarm of which " + to + " was not told");
  }
}

void Witness::check_all_submitted(const std::vector<jobs::JobDefinition>& wanted) {
  for (const jobs::JobDefinition& definition : wanted) {
    for (const std::string& task : jobs_[definition.job.identity].called_for) {
      if (!queue_.contains(task)) {
        accuse(definition.job.identity + ": the message " + task + " is called for, and was never submitted");
      }
    }
  }
}

void Witness::tried(const LedgerStep& step) {
  Facts& facts = jobs_[step.identity];
  AlarmModel perhaps = facts.alarm;
  perhaps.take(step);
  facts.alarm_perhaps.push_back(std::move(perhaps));
}

void Witness::wrote(const LedgerStep& step, const Job* job, const std::vector<AlarmMessage>& owed) {
  Facts& facts = jobs_[step.identity];
  facts.is_known = true;
  check_pause(step, facts, job);
  if (job != nullptr) check_overlap(step, *job);
  const std::vector<AlarmModel::Message> called_for = facts.alarm.take(step);
  facts.alarm_perhaps.clear();
  call_for(step.identity, facts, called_for);
  const bool is_owed = std::ranges::equal(called_for, owed, [](const auto& ours, const AlarmMessage& theirs) {
    return ours.key == key_of(theirs) && ours.to == theirs.to;
  });
  if (!is_owed) {
    accuse(step.identity + ": a step owes " + (owed.empty() ? "nothing" : key_of(owed.front())) + ", and not " +
           (called_for.empty() ? "nothing" : called_for.front().key));
  }
  facts.failures = step.now.periods.failures_in_a_row;
  std::set<std::string> active;
  std::vector<StartedRun> started;
  for (const ActiveExecution& run : step.now.active) {
    active.insert(run.run_id);
    if (facts.active.contains(run.run_id)) continue;
    check_started(step.identity, facts, run, job);
    started.push_back({run.run_id, run.period, run.chosen, run.trigger});
  }
  const bool is_told = std::ranges::equal(started, step.started, {}, &StartedRun::run_id, &StartedRun::run_id) &&
                       std::ranges::equal(started, step.started, {}, &StartedRun::period, &StartedRun::period);
  if (!is_told) accuse(step.identity + ": a step does not name the runs that it starts");
  for (const HistoryEntry& entry : step.history) {
    if (!entry.period || entry.passed_over) continue;
    if (entry.reason == Reason::superseded_while_waiting) ++superseded_;
    if (entry.reason == Reason::no_slot) ++without_slot_;
    if (entry.attempts) ++retried_;
    if (entry.failed) ++ruled_;
    if (entry.outcome != Outcome::executed) {
      note_outcome(step.identity, facts, *entry.period, *entry.outcome);
      continue;
    }
    // The end of a run; its start may have been durable without anybody being told.
    const auto [known, is_new] = facts.outcomes.try_emplace(*entry.period, Outcome::executed);
    if (known->second != Outcome::executed) accuse(step.identity + " " + rfc3339(*entry.period) + " ended unstarted");
  }
  facts.active = std::move(active);
  facts.is_paused = is_paused_for_good(step.now.periods);
  facts.paused_until = step.now.periods.suspended ? step.now.periods.suspended->until : std::nullopt;
  check_bookkeeping(step.identity, facts, step.now.periods);
  facts.last_handled = step.now.periods.last_handled;
  if (!step.last_outcome) return;
  const auto last = facts.outcomes.find(facts.last_handled.value());
  if (last == facts.outcomes.end() || last->second != *step.last_outcome) {
    accuse(step.identity + ": LastOutcome is not the outcome of " + text_of(facts.last_handled));
  }
}

void Witness::loaded(const std::string& identity, const KnownJob& known, const std::vector<HistoryEntry>& history,
                     const std::optional<Alarm>& alarm) {
  Facts& facts = jobs_[identity];
  facts.is_known = true;
  // Who was told of no step may find it all the same.
  std::vector<AlarmModel> perhaps = std::exchange(facts.alarm_perhaps, {});
  const auto found = std::ranges::find_if(perhaps, [&](const AlarmModel& model) { return model.is_told_by(alarm); });
  if (!facts.alarm.is_told_by(alarm)) {
    if (found == perhaps.end()) accuse(identity + ": its alarm is not what its outcomes make of it");
    if (found != perhaps.end()) facts.alarm = std::move(*found);
    call_for(identity, facts, facts.alarm.owed());
  }
  check_bookkeeping(identity, facts, known.periods);
  // The end of a run may have been durable, and what it says of failures, without anybody being told.
  const bool has_failed = known.periods.suspended && known.periods.suspended->by == kPausedByFailures;
  facts.failures = known.periods.failures_in_a_row;
  if (std::exchange(facts.unanswered, 0) == 0 && facts.is_paused &&
      *facts.is_paused != known.periods.suspended.has_value() && !has_failed) {
    accuse(identity + (*facts.is_paused ? ": a pause is forgotten" : ": a pause that nobody asked for"));
  }
  facts.is_paused = is_paused_for_good(known.periods);
  facts.paused_until = known.periods.suspended ? known.periods.suspended->until : std::nullopt;
  if (known.periods.last_handled) facts.last_handled = known.periods.last_handled;
  std::set<std::string> active;
  for (const ActiveExecution& run : known.active) {
    active.insert(run.run_id);
    started_.insert(shortened(run.run_id));
  }
  for (const std::string& run : facts.active) {
    // Its end may have been durable without anybody being told.
    const bool has_ended = std::ranges::find(history, run, &HistoryEntry::run_id) != history.end();
    if (!active.contains(run) && !has_ended) accuse(identity + ": run " + run + " was active and is forgotten");
  }
  facts.active = std::move(active);
}

void Witness::executed(std::string_view run_id) {
  if (!started_.contains(shortened(run_id))) accuse("run " + std::string(run_id) + " was executed before its record");
  if (!executed_.insert(shortened(run_id)).second) accuse("run " + std::string(run_id) + " was executed twice");
}

void Witness::asked(const std::string& identity) { ++jobs_[identity].unanswered; }

// Of a disk that fails nobody knows what it has.
Witness::Facts& Witness::note_answer(const std::string& identity, const Error* error) {
  Facts& facts = jobs_[identity];
  --facts.unanswered;
  if (error == nullptr || error->code != Code::io) return facts;
  facts.is_paused.reset();
  facts.paused_until.reset();
  return facts;
}

void Witness::answered(const std::string& identity, const Result<Triggered>& triggered) {
  note_answer(identity, triggered ? nullptr : &triggered.error());
  const bool is_promised = triggered && triggered->how == Triggered::How::started;
  if (is_promised && !started_.contains(shortened(triggered->run_id))) {
    accuse(identity + ": a run was promised before its record");
  }
}

void Witness::answered(const std::string& identity, const Status& done, bool is_paused) {
  const Facts& facts = note_answer(identity, done ? nullptr : &done.error());
  if (done && facts.is_paused.value_or(is_paused) != is_paused) {
    accuse(identity +
           (is_paused ? ": a pause was promised before its record" : ": a pause was ended before its record"));
  }
}

void Witness::found(const StateRecord& record, std::uint32_t history_cap) {
  if (record.history.size() > history_cap) accuse(record.identity + ": more history than its cap");
  const Facts* known = facts(record.identity);
  if (known == nullptr) return;
  check_bookkeeping(record.identity, *known, record.periods);
  std::set<Instant> seen;
  for (const HistoryEntry& entry : record.history) {
    if (!entry.period || entry.passed_over) continue;
    if (!seen.insert(*entry.period).second) accuse(record.identity + ": two lines of history for one period");
    const auto outcome = known->outcomes.find(*entry.period);
    if (outcome != known->outcomes.end() && entry.outcome != outcome->second) {
      accuse(record.identity + " " + rfc3339(*entry.period) + " has another outcome in its history");
    }
  }
}

}  // namespace kron::testing
