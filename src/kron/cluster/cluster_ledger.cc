#include "kron/cluster/cluster_ledger.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <thread>
#include <utility>

#include "kron/base/text.h"
#include "kron/cluster/outcome_text.h"
#include "kron/cluster/rundata.h"
#include "kron/core/make_job.h"

namespace kron::cluster {
namespace {

using How = RedisReply::How;
using Word = StepAnswer::Word;

// How often a step is sent again because its record had to be put back first.
constexpr int kMostRepeats = 4;

// How long to wait before a step whose answer was lost is sent again: a link needs about that to connect.
constexpr Nanoseconds kBeforeResending = std::chrono::milliseconds(50);

// A start that is granted so long after its deadline was held up on its way.
constexpr Seconds kGrantWithin{10};

// cronken tries twice for a lock, a tenth of a second apart; a trigger without an id reaches hosts at different times.
constexpr Nanoseconds kHoldBesideCronken = std::chrono::milliseconds(250);
constexpr Nanoseconds kHoldAfterTrigger = std::chrono::seconds(1);

// Redis says these before the first write of a script: nothing has happened.
bool has_not_happened(std::string_view error) {
  constexpr std::array<std::string_view, 12> kCodes = {"OOM ",      "READONLY ", "MISCONF ",    "NOREPLICAS ",
                                                       "LOADING ",  "BUSY ",     "MASTERDOWN ", "CLUSTERDOWN ",
                                                       "TRYAGAIN ", "NOAUTH ",   "NOSCRIPT ",   "WRONGKEY "};
  if (error.starts_with("NOPERM ")) return true;
  // Redis 6 tells them within a text of its own.
  return std::ranges::any_of(kCodes, [&](std::string_view code) {
    return error.starts_with(code) || error.find("-" + std::string(code)) != std::string_view::npos;
  });
}

bool is_scheduled(const StartedRun& run) { return run.period.has_value(); }

// A period that got its outcome without a run.
bool is_outcome(const HistoryEntry& entry) {
  return entry.period && entry.outcome && entry.outcome != Outcome::executed;
}

// A requested run that was given up.
bool is_dropped_request(const HistoryEntry& entry) {
  return !entry.period && entry.outcome && entry.outcome != Outcome::executed;
}

// Definitions whose tasks no queue would take are refused when they are read.
std::optional<NewTask> task_of(const StartedRun& run) {
  if (!run.task) return std::nullopt;
  NewTask task{.id = run.task->id, .type = run.task->type, .data = run.task->data};
  Result<NewTask> good = checked(task);
  return good ? *std::move(good) : std::move(task);
}

// All of them, not only what a step has made: one whose answer was lost may have made some, too.
std::vector<AlarmMessage> owed_in(const ClusterRecord& record) {
  return record.state.alarm ? record.state.alarm->owed : std::vector<AlarmMessage>();
}

Error unreachable(const std::string& why) { return {Code::unreachable, "Redis cannot be reached: " + why}; }

}  // namespace

ClusterLedger::ClusterLedger(World world, Options options) : world_(std::move(world)), options_(std::move(options)) {
  if (!world_.wait) {
    world_.wait = [](Nanoseconds time) { std::this_thread::sleep_for(time); };
  }
}

std::vector<Written> ClusterLedger::write(std::span<const LedgerStep> steps) {
  std::vector<Written> answers(steps.size());
  std::vector<Pending> sending;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::variant<Written, Pending> prepared = prepare(steps[i], i);
    if (auto* pending = std::get_if<Pending>(&prepared)) {
      sending.push_back(std::move(*pending));
    } else {
      answers[i] = std::get<Written>(std::move(prepared));
    }
  }
  const Nanoseconds begun = world_.clock.monotonic();
  for (Patience patience; !sending.empty();) {
    wait_until_settled(sending);
    std::vector<RedisCommand> commands;
    bool has_starts = false;
    for (const Pending& pending : sending) {
      commands.push_back(pending.call.command(world_.keys));
      has_starts = has_starts || !pending.call.starts.empty();
    }
    const bool waits = has_starts && options_.claim_replicas > 0;
    if (waits) {
      const auto limit = std::chrono::ceil<std::chrono::milliseconds>(options_.replica_timeout).count();
      commands.push_back({"WAIT", std::to_string(options_.claim_replicas), std::to_string(limit)});
    }
    const Nanoseconds left = options_.timeout - (world_.clock.monotonic() - begun);
    const std::vector<TimedReply> replies =
        world_.link.ask(std::move(commands), std::max<Nanoseconds>(left, kBeforeResending));
    patience.time_is_up = patience.resent >= options_.timeout / kBeforeResending ||
                          world_.clock.monotonic() - begun + kBeforeResending >= options_.timeout;
    Round round;
    round.may_resend = !patience.time_is_up;
    std::vector<Pending> answered;
    for (std::size_t i = 0; i < sending.size(); ++i) {
      std::optional<Written> answer = take(sending[i], replies[i], round);
      if (!answer) continue;
      answers[sending[i].place] = *std::move(answer);
      if (waits) answered.push_back(std::move(sending[i]));
    }
    if (waits) hold_back_unreplicated(answered, replies.back(), answers);
    if (!round.mendings.empty() && ++patience.mended > kMostRepeats) {
      for (const Mending& mending : round.mendings) {
        answers[mending.pending.place] =
            Written::refused({Code::conflict, "the record of " + quoted(mending.pending.call.job, 200) +
                                                  " is removed from Redis as often as it is put back"});
      }
      round.mendings.clear();
    }
    mend(std::exchange(round.mendings, {}), round, answers);
    if (!round.lost.empty()) {
      ++patience.resent;
      world_.wait(kBeforeResending);
      std::ranges::move(round.lost, std::back_inserter(round.again));
    }
    sending = std::move(round.again);
  }
  if (world_.on_answer) {
    for (const Written& answer : answers) world_.on_answer(answer.how);
  }
  return answers;
}

std::variant<Written, ClusterLedger::Pending> ClusterLedger::prepare(const LedgerStep& step, std::size_t place) {
  Pending pending{place, &step, terms_of(step.identity), {}, {}};
  std::string field = field_of(step.identity, pending.terms);
  std::uint64_t given = 0;
  {
    const bool is_listed = world_.terms.contains(step.identity);
    const std::lock_guard lock(mutex_);
    const auto known = memory_.find(step.identity);
    // A job that was removed keeps the record that it had.
    if (known != memory_.end() && !is_listed) field = known->second.field;
    if (known != memory_.end() && known->second.field == field) pending.record = known->second.record;
    if (known != memory_.end()) given = known->second.given;
  }
  const bool has_starts = !step.started.empty();
  if (pending.record.revision == 0) {
    // Its lock has come or gone, or this host has another name: its record is another one, too.
    const std::array<std::string, 1> identity = {step.identity};
    if (const Status read = fetch(identity, {.now = now(world_.clock)}); !read) return Written::refused(read.error());
    return Written::newer(known_job(step.identity).periods);
  }
  // The ends of runs are no news to the record, but to an alarm in it.
  const std::optional<Alarm> alarm = pending.record.state.alarm;
  (void)apply_alarm(pending.record.state, step);
  const bool changes = !is_same(pending.record.state.periods, step.now.periods) || pending.record.state.alarm != alarm;
  const bool has_outcomes = std::ranges::any_of(step.history, is_outcome);
  const bool has_dropped = std::ranges::any_of(step.history, is_dropped_request);
  // The ends of runs are told by those who run them.
  if (!changes && !has_starts && !has_outcomes && !has_dropped) return Written{};
  StepCall& call = pending.call;
  call.field = field;
  call.owner = options_.owner;
  call.job = step.identity;
  call.outcomes_cap = options_.outcomes_cap;
  call.asks_paused = has_outcomes || std::ranges::any_of(step.started, is_scheduled);
  if (changes || call.asks_paused) {
    // Something was learned since, when writes were lost: the step was not judged by that.
    if (given != pending.record.revision) return Written::newer(known_job(step.identity).periods);
    if (std::optional<Written> refusal = refuse_other_definition(step, pending.terms)) return *std::move(refusal);
    call.revision = pending.record.revision;
    pending.record.state.identity = step.identity;
    pending.record.state.periods = step.now.periods;
    if (step.last_outcome) {
      pending.record.state.last_outcome = step.last_outcome;
      pending.record.state.last_chosen = step.last_chosen;
    }
    call.record = text_after_revision(pending.record);
  }
  fill_starts(pending);
  fill_outcomes(pending);
  return pending;
}

// Two hosts that hold different schedules of a job must not take turns with them: whoever has read his before the
// record's came into use reads again, and when that does not help he leaves the job to the others.
std::optional<Written> ClusterLedger::refuse_other_definition(const LedgerStep& step, const JobTerms& terms) {
  std::unique_lock lock(mutex_);
  Memory& memory = memory_[step.identity];
  const std::optional<ScheduleSeen> theirs = memory.record.state.periods.schedule;
  const std::optional<ScheduleSeen>& ours = step.now.periods.schedule;
  if (!theirs || !ours || theirs->hash == ours->hash) {
    memory.asked_for.reset();
    memory.is_left_to_others = false;
    return std::nullopt;
  }
  const bool is_older = theirs->since && terms.read_at <= *theirs->since;
  const bool was_asked = memory.asked_for == theirs;
  if (!is_older && !was_asked) return std::nullopt;  // it was edited, and this host knows first
  const bool is_left = !is_older;
  const bool is_news = is_left ? !std::exchange(memory.is_left_to_others, true) : !was_asked;
  memory.asked_for = theirs;
  const std::uint64_t revision = memory.record.revision;
  lock.unlock();
  if (is_left && is_news) {
    world_.log.error("definitions_differ",
                     {{"identity", step.identity},
                      {"reason",
                       "other hosts run this job by another schedule than the one that stands in Redis; it is left to "
                       "them until they have read it again: publish a reload event"}});
  }
  if (!is_left && world_.read_again) world_.read_again(step.identity);
  // They may have read theirs again meanwhile.
  const std::array<std::string, 1> identity = {step.identity};
  if (const Status read = fetch(identity, {.now = now(world_.clock)}); !read) return Written::refused(read.error());
  lock.lock();
  if (Memory& now_known = memory_[step.identity]; now_known.record.revision != revision) {
    now_known.given = now_known.record.revision;
    return Written::newer(now_known.record.state.periods);
  }
  const std::string name = quoted(step.identity, 200);
  const Instant t = now(world_.clock);
  if (is_left)
    return Written::refused({Code::conflict, "other hosts go by another schedule of " + name}, t + Seconds(5));
  return Written::refused({Code::conflict, "another host has a newer definition of " + name + "; it is read again"},
                          t + Seconds(1));
}

Nanoseconds ClusterLedger::least_hold_of(const StartedRun& run) const {
  if (!run.period && !run.has_key) return kHoldAfterTrigger;
  return options_.dialect == Dialect::cronken ? kHoldBesideCronken : Nanoseconds(0);
}

void ClusterLedger::fill_starts(Pending& pending) {
  StepCall& call = pending.call;
  call.general_cap = options_.general_cap;
  call.job_cap = options_.job_cap;
  const LedgerStep& step = *pending.step;
  for (const StartedRun& run : step.started) {
    BlobParts blob = run.task ? submitted_blob(options_.host, step.identity, run.task->id)
                              : running_blob(options_.dialect, options_.host, step.identity);
    call.starts.push_back({run.run_id, std::move(blob.head), std::move(blob.tail), task_of(run)});
    call.least_hold = std::max(call.least_hold, least_hold_of(run));
    if (!run.period && !run.has_key) call.closing_is_held = true;
    if (!run.period || !run.chosen) continue;
    call.chosen = std::max(call.chosen.value_or(*run.chosen), *run.chosen);
    if (options_.dialect == Dialect::cronken) call.foreign_since = call.chosen;
    if (!pending.terms.locked) continue;  // what replaced another may have waited for long
    const Instant until = *run.chosen + std::min(pending.terms.deadline, kLongestDuration) + kGrantWithin;
    call.grant_until = std::min(call.grant_until.value_or(until), until);
  }
  if (pending.terms.locked && !call.starts.empty()) {
    call.lock_key = world_.keys.lock(pending.terms.lock_name);
    call.ttl = pending.terms.ttl;
  }
}

void ClusterLedger::fill_outcomes(Pending& pending) {
  StepCall& call = pending.call;
  const LedgerStep& step = *pending.step;
  const std::string host = world_.instance ? world_.instance() : options_.host;
  for (const StartedRun& run : step.started) {
    call.outcomes.push_back(print(OutcomeText{.job = step.identity,
                                              .host = host,
                                              .is_running = true,
                                              .outcome = Outcome::executed,
                                              .trigger = run.trigger,
                                              .period = run.period,
                                              .chosen = run.chosen,
                                              .run_id = run.run_id}));
    if (!run.task) continue;
    call.outcomes.push_back(print(OutcomeText{.job = step.identity,
                                              .host = host,
                                              .outcome = Outcome::executed,
                                              .detail = "submitted as task " + run.task->id,
                                              .trigger = run.trigger,
                                              .period = run.period,
                                              .chosen = run.chosen,
                                              .run_id = run.run_id,
                                              .exit_code = 0}));
  }
  for (const HistoryEntry& entry : step.history) {
    if (entry.outcome == Outcome::executed) continue;
    call.outcomes.push_back(print(OutcomeText{.job = step.identity,
                                              .host = host,
                                              .outcome = entry.outcome,
                                              .reason = entry.reason,
                                              .clause = entry.clause,
                                              .trigger = entry.trigger,
                                              .period = entry.period,
                                              .chosen = entry.chosen,
                                              .run_id = entry.run_id,
                                              .passed_over = entry.passed_over}));
    if (entry.outcome != Outcome::missed || !entry.chosen) continue;
    const Instant due = *entry.chosen + std::min(pending.terms.deadline, kLongestDuration);
    call.missed_after = std::max(call.missed_after.value_or(due), due);
  }
}

std::optional<Written> ClusterLedger::take(Pending& pending, const TimedReply& timed, Round& round) {
  const RedisReply& reply = timed.reply;
  const bool is_not_sent = reply.how == How::not_sent || (reply.how == How::error && has_not_happened(reply.why));
  if (reply.is_reply()) {
    Result<StepAnswer> answer = StepAnswer::parse(reply.value, pending.call.has_tasks());
    if (answer) return take_answer(pending, *std::move(answer), timed, round);
  }
  if (reply.how == How::error || reply.is_reply()) {
    world_.log.error("script_failed", {{"identity", pending.call.job},
                                       {"reason", reply.is_reply() ? "Redis has answered something else" : reply.why}});
  }
  if (is_not_sent && !pending.was_lost) {
    if (reply.how == How::not_sent) return Written::refused(unreachable(reply.why));
    return Written::refused({Code::io, "Redis does not take it: " + reply.why});
  }
  // It may have happened. Sent again, it says so (`again`), or happens now; a request that was only held up, and comes
  // after that, finds its claim or another revision, and changes nothing.
  if ((reply.how == How::lost || is_not_sent) && round.may_resend) {
    pending.was_lost = true;
    round.lost.push_back(std::move(pending));
    return std::nullopt;
  }
  // Nobody knows. If it has happened, its claim is ended before anything else is asked; if it arrives later still, the
  // claim that it leaves is nobody's, and the reaper's.
  end_never_ran(pending, "claimed, but the answer was lost; nothing was run");
  const std::string why = reply.is_reply() ? "it has answered something else" : reply.why;
  return Written::unknown({Code::unreachable, "whether Redis has taken it is not known: " + why});
}

std::optional<Written> ClusterLedger::take_answer(Pending& pending, StepAnswer answer, const TimedReply& timed,
                                                  Round& round) {
  const std::string job = pending.call.job;  // a copy: the step may be moved away below
  const Instant soon = answer.heading.second() + Seconds(1);
  switch (answer.word) {
    case Word::ok:
    case Word::again:
      return granted(pending, answer, timed);
    case Word::newer:
      return take_newer(pending, answer.record, round);
    case Word::gone:
    case Word::corrupt: {
      // Never by first sight: this host knows more.
      Mending mending{std::move(pending), {}, {}, true};
      {
        const std::lock_guard lock(mutex_);
        mending.record = memory_[job].record;
        mending.repeats = mending.record.revision == mending.pending.call.revision;
      }
      mending.call = restore(mending.pending.call.field, mending.record, answer.record);
      world_.log.error(answer.word == Word::gone ? "record_gone" : "record_corrupt",
                       {{"identity", job}, {"reason", "Redis has lost the record of the job; it is put back"}});
      round.mendings.push_back(std::move(mending));
      return std::nullopt;
    }
    case Word::early:
      return Written::refused({Code::conflict, "it is too early for that by Redis's clock"}, soon);
    case Word::late:
      return Written::refused({Code::conflict, "it is too late for that by Redis's clock"}, soon);
    case Word::paused:
      if (world_.read_again) world_.read_again(job);
      return Written::refused({Code::conflict, "the job is paused"}, soon + Seconds(4));
    case Word::known:
      return Written::ran(std::move(answer.run_id));
    case Word::held: {
      constexpr std::string_view kClosing = "closing:";
      if (answer.run_id.starts_with(kClosing)) answer.run_id.erase(0, kClosing.size());
      return Written::held(std::move(answer.run_id));
    }
  }
  return std::nullopt;
}

Written ClusterLedger::granted(Pending& pending, const StepAnswer& answer, const TimedReply& timed) {
  const LedgerStep& step = *pending.step;
  Written written;
  if (answer.revision) {
    pending.record.revision = *answer.revision;
    written.owed = owed_in(pending.record);
    learn(step.identity, pending.call.field, pending.record);
    give(step.identity, *answer.revision);
  } else if (answer.word == Word::again && pending.call.revision) {
    // It was taken before, and others may have gone on since.
    if (Result<ClusterRecord> found = parse_cluster_record(answer.record)) {
      if (has_forgotten(found->state.periods, step.now.periods)) {
        found->state.periods = merged(found->state.periods, step.now.periods);
      }
      if (!is_same(found->state.periods, step.now.periods)) written.periods = found->state.periods;
      give(step.identity, found->revision);
      written.owed = owed_in(*found);
      learn(step.identity, pending.call.field, *std::move(found));
    }
  }
  for (std::size_t i = 0; i < step.started.size() && i < answer.granted.size(); ++i) {
    const StartedRun& run = step.started[i];
    if (run.task) {
      // It is over: there is nothing to let go, and nobody to take a grant.
      world_.log.info("task_submitted", {{"task", run.task->id},
                                         {"type", run.task->type},
                                         {"runId", run.run_id},
                                         {"outcome", answer.granted[i].outcome}});
      continue;
    }
    Grant grant{.run_id = run.run_id,
                .job = step.identity,
                .period = run.period,
                .chosen = run.chosen,
                .trigger = run.trigger,
                .start_time = answer.granted[i].start_time,
                .fence = answer.granted[i].fence,
                .lock_key = i == 0 ? pending.call.lock_key : std::string(),
                .ttl = pending.call.ttl,
                .sent = timed.sent};
    grant.least_hold = least_hold_of(run);
    world_.grants.put(std::move(grant));
  }
  return written;
}

std::optional<Written> ClusterLedger::take_newer(Pending& pending, const std::string& text, Round& round) {
  const std::string identity = pending.call.job;
  Result<ClusterRecord> found = parse_cluster_record(text);
  ClusterRecord seen;
  {
    const std::lock_guard lock(mutex_);
    seen = memory_[identity].record;
  }
  if (!found && found.error().code == Code::refused) return Written::refused(found.error());
  const bool is_lost =
      !found || (found->reset_at <= seen.reset_at &&
                 (found->revision < seen.revision || has_forgotten(found->state.periods, seen.state.periods)));
  if (!is_lost) {
    JobState periods = found->state.periods;
    give(identity, found->revision);
    learn(identity, pending.call.field, *std::move(found));
    return Written::newer(std::move(periods));
  }
  Mending mending{std::move(pending), {}, seen, false};
  if (found) {
    report_lost_write(identity, seen, *found);
    mending.record = *found;
    mending.record.state.periods = merged(found->state.periods, seen.state.periods);
    mending.record.revision = std::max(found->revision, seen.revision);
  }
  mending.call = restore(mending.pending.call.field, mending.record, text);
  round.mendings.push_back(std::move(mending));
  return std::nullopt;
}

// Records are put back before their steps are judged again, or repeated.
void ClusterLedger::mend(std::vector<Mending> mendings, Round& round, std::vector<Written>& answers) {
  if (mendings.empty()) return;
  std::vector<RedisCommand> commands;
  for (const Mending& mending : mendings) commands.push_back(mending.call.command(world_.keys));
  const std::vector<TimedReply> replies = world_.link.ask(std::move(commands), options_.timeout);
  for (std::size_t i = 0; i < mendings.size(); ++i) {
    Mending& mending = mendings[i];
    const std::string& identity = mending.pending.call.job;
    Written& written = answers[mending.pending.place];
    const RedisReply& reply = replies[i].reply;
    if (!reply.is_reply()) {
      written = Written::refused(unreachable(reply.why));
      continue;
    }
    const Result<RestoreAnswer> answer = RestoreAnswer::parse(reply.value);
    if (!answer || answer->word == RestoreAnswer::Word::gone || answer->word == RestoreAnswer::Word::corrupt) {
      written =
          Written::refused({Code::conflict, "the record in Redis keeps changing"}, now(world_.clock) + Seconds(1));
      continue;
    }
    if (answer->word == RestoreAnswer::Word::newer) {
      Round after;
      if (std::optional<Written> judged = take_newer(mending.pending, answer->record, after)) {
        written = *std::move(judged);
      } else {
        written =
            Written::refused({Code::conflict, "the record in Redis keeps changing"}, now(world_.clock) + Seconds(1));
      }
      continue;
    }
    mending.record.revision = answer->revision;
    learn(identity, mending.pending.call.field, mending.record);
    if (mending.repeats) {
      mending.pending.call.revision = answer->revision;
      round.again.push_back(std::move(mending.pending));
    } else {
      give(identity, answer->revision);
      written = Written::newer(mending.record.state.periods);
    }
  }
}

// A no-op when the claim never arrived.
void ClusterLedger::end_never_ran(const Pending& pending, std::string_view why) {
  const std::string start_time = start_time_of(world_.clock.wall());
  const std::string host = world_.instance ? world_.instance() : options_.host;
  for (const StartedRun& run : pending.step->started) {
    if (run.task) continue;  // if its step has happened it is over, and its task is in the queue
    BlobParts blob = final_blob(
        options_.dialect,
        {.host = options_.host, .job = pending.call.job, .start_time = start_time, .status = RunStatus::fail});
    EndCall call{.run_id = run.run_id,
                 .job = pending.call.job,
                 .start_time = start_time,
                 .status = "fail",
                 .blob_head = std::move(blob.head),
                 .blob_tail = std::move(blob.tail),
                 .general_cap = options_.general_cap,
                 .job_cap = options_.job_cap,
                 .lock_key = pending.call.lock_key,
                 .outcomes_cap = options_.outcomes_cap,
                 .output_ttl = options_.output_ttl,
                 .output_is_list = options_.dialect == Dialect::cronken};
    call.outcome = print(OutcomeText{.job = pending.call.job,
                                     .host = host,
                                     .outcome = Outcome::executed,
                                     .detail = std::string(why),
                                     .trigger = run.trigger,
                                     .period = run.period,
                                     .chosen = run.chosen,
                                     .run_id = run.run_id});
    world_.link.post(call.command(world_.keys), Link::Urgency::urgent, {});
  }
}

// Every host says first what it knows; a start before that might be a second one.
void ClusterLedger::wait_until_settled(const std::vector<Pending>& steps) {
  const bool has_starts =
      std::ranges::any_of(steps, [](const Pending& pending) { return !pending.call.starts.empty(); });
  if (!has_starts) return;
  Nanoseconds rest{0};
  {
    const std::lock_guard lock(mutex_);
    rest = settled_at_ - world_.clock.boot_time();
  }
  if (rest > Nanoseconds(0)) world_.wait(rest);
}

// A failover would forget the claims of these: they are not run.
void ClusterLedger::hold_back_unreplicated(const std::vector<Pending>& sent, const TimedReply& waited,
                                           std::vector<Written>& answers) {
  const RedisReply& reply = waited.reply;
  const bool is_safe = reply.is_reply() && reply.value.integer >= options_.claim_replicas;
  if (is_safe) return;
  for (const Pending& pending : sent) {
    if (pending.step->started.empty() || !answers[pending.place].is_done()) continue;
    // What was submitted is submitted: it is no more lost with the claim than any task is.
    if (pending.call.has_tasks()) continue;
    for (const StartedRun& run : pending.step->started) (void)world_.grants.take(run.run_id);
    end_never_ran(pending, "claimed, but not on enough replicas; nothing was run");
    give(pending.call.job, 0);  // the caller is not told what stands there now
    answers[pending.place] = Written::unknown(
        {Code::unreachable, "fewer than " + std::to_string(options_.claim_replicas) + " replicas have the claim"});
  }
}

}  // namespace kron::cluster
