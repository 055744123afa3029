#include <algorithm>
#include <utility>

#include "kron/base/hash_index.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/env/in_parallel.h"
#include "kron/scheduler/run_cause.h"
#include "kron/scheduler/scheduler.h"

namespace kron {
namespace {

bool is_for_boots(const Schedule& schedule) { return schedule.kind == Schedule::Kind::reboot; }

Status check_identities(const std::vector<jobs::JobDefinition>& definitions) {
  HashIndex seen;
  seen.reserve(definitions.size());
  for (std::uint32_t i = 0; i < definitions.size(); ++i) {
    const std::string& identity = definitions[i].job.identity;
    const std::size_t hash = hash_of(identity);
    if (seen.find(hash, [&](std::uint32_t other) { return definitions[other].job.identity == identity; })) {
      return fail(Code::invalid, "two jobs are named " + quoted(identity, 200) + "; rename one of them");
    }
    seen.insert(hash, i);
  }
  return {};
}

}  // namespace

Status Scheduler::start(std::vector<jobs::JobDefinition> definitions, std::optional<Instant> on_time_since) {
  const Instant t = now(world_.clock);
  clock_read_ = t;
  if (Status different = check_identities(definitions); !different) return different;
  const Result<std::vector<JobNumber>> numbers = add_all(std::move(definitions), t);
  if (!numbers) return fail(numbers.error());
  warn_of_records_ahead(*numbers, t);
  recover_runs(*numbers);
  start_reboot_jobs(t);
  commit();
  if (broken()) return fail(*broken());
  plan_all(*numbers, {t, std::min(t, on_time_since.value_or(t))});
  // What became due while we were starting is on time.
  taken_up_until_ = t;
  was_busy_ = true;
  return {};
}

Status Scheduler::reload(std::vector<jobs::JobDefinition> definitions) {
  note_busy();
  settle_requests();
  const Instant t = now(world_.clock);
  if (Status different = check_identities(definitions); !different) return different;
  std::vector<bool> is_wanted(jobs_.end(), false);
  Change change;
  for (jobs::JobDefinition& definition : definitions) {
    const std::optional<JobNumber> known = jobs_.find(definition.job.identity);
    if (known) is_wanted[*known] = true;
    sort_in(std::move(definition), known, change);
  }
  for (JobNumber job = 0; job < is_wanted.size(); ++job) {
    if (jobs_.is_wanted(job) && !is_wanted[job]) change.gone.push_back(job);
  }
  change.unscheduled_before = std::exchange(unscheduled_, {});
  return change_jobs(std::move(change), t);
}

Status Scheduler::put(std::vector<jobs::JobDefinition> definitions, std::optional<Instant> on_time_since) {
  note_busy();
  settle_requests();
  const Instant t = now(world_.clock);
  if (Status different = check_identities(definitions); !different) return different;
  Change change{.on_time_since = on_time_since};
  for (jobs::JobDefinition& definition : definitions) {
    const std::string& identity = definition.job.identity;
    const std::optional<JobNumber> known = jobs_.find(identity);
    if (!known) change.unscheduled_before.insert(unscheduled_.extract(identity));
    sort_in(std::move(definition), known, change);
  }
  return change_jobs(std::move(change), t);
}

Status Scheduler::put(jobs::JobDefinition definition) {
  std::vector<jobs::JobDefinition> one;
  one.push_back(std::move(definition));
  return put(std::move(one));
}

void Scheduler::sort_in(jobs::JobDefinition definition, std::optional<JobNumber> known, Change& change) const {
  if (!known) {
    change.added.push_back(std::move(definition));
  } else if (!jobs_.is_wanted(*known) || !(jobs_.definition(*known) == definition)) {
    change.edited.push_back(*known);
    change.edits.push_back(std::move(definition));
  }
}

Status Scheduler::change_jobs(Change change, Instant t) {
  if (!change.added.empty() || !change.edited.empty() || !change.gone.empty()) ++generation_;
  const Result<std::vector<JobNumber>> numbers = add_all(std::move(change.added), t);
  if (!numbers) {
    unscheduled_.merge(change.unscheduled_before);
    return fail(numbers.error());
  }
  if (change.on_time_since) warn_of_records_ahead(*numbers, t);
  recover_runs(*numbers);
  for (const JobNumber job : change.gone) remove(job);
  for (std::size_t i = 0; i < change.edited.size(); ++i) edit(change.edited[i], std::move(change.edits[i]));
  for (const JobNumber job : *numbers) await_next_boot(job);
  commit();
  plan_all(change.edited, Turn::at(t));
  plan_all(*numbers, {t, std::min(t, change.on_time_since.value_or(t))});
  // Those that were added leave nothing behind.
  if (!change.edited.empty() || !change.gone.empty()) jobs_.tidy();
  if (broken()) return fail(*broken());
  return {};
}

Status Scheduler::drop(std::span<const std::string> identities) {
  note_busy();
  settle_requests();
  ++generation_;
  for (const std::string& identity : identities) {
    if (unscheduled_.erase(identity) != 0) continue;
    const std::optional<JobNumber> job = jobs_.find(identity);
    if (job && jobs_.is_wanted(*job)) remove(*job);
  }
  commit();
  jobs_.tidy();
  if (broken()) return fail(*broken());
  return {};
}

Status Scheduler::drop(std::string_view identity) {
  const std::string name(identity);
  if (!unscheduled_.contains(name)) {
    if (const Result<JobNumber> job = find(name); !job) return fail(job.error());
  }
  return drop(std::span(&name, 1));
}

Result<std::vector<Scheduler::JobNumber>> Scheduler::add_all(std::vector<jobs::JobDefinition> definitions, Instant t) {
  std::vector<std::string> identities;
  identities.reserve(definitions.size());
  for (auto& definition : definitions) identities.push_back(std::move(definition.job.identity));
  Result<std::vector<KnownJob>> known = world_.ledger.load(identities, t);
  broken_ = world_.ledger.broken();
  if (!known) return fail(known.error());
  std::vector<JobNumber> numbers;
  numbers.reserve(definitions.size());
  jobs_.reserve(definitions.size());
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    definitions[i].job.identity = std::move(identities[i]);
    if (!(*known)[i].unusable.empty()) {
      const std::string& identity = definitions[i].job.identity;
      world_.log.error("job_not_scheduled", {{"identity", identity}, {"reason", (*known)[i].unusable}});
      unscheduled_.insert_or_assign(identity, Unscheduled{definitions[i], std::move((*known)[i].unusable)});
      continue;
    }
    JobState& periods = (*known)[i].periods;
    const bool was_edited = periods.schedule && periods.schedule->hash != schedule_hash(definitions[i].job);
    const std::optional<PassedOver> late = was_edited ? notice_schedule(definitions[i].job, periods, t) : std::nullopt;
    // The definition tells which schedule it is, so that a million jobs need not keep it; when it changed, they must.
    if (periods.schedule && !periods.schedule->since) periods.schedule.reset();
    slots_.admit(*definitions[i].options);
    std::vector<AlarmMessage> owed = std::exchange((*known)[i].owed, {});
    const JobNumber job = jobs_.add(std::move(definitions[i]), std::move((*known)[i]));
    numbers.push_back(job);
    for (AlarmMessage& message : owed) notify(MessageOwed{std::string(jobs_.identity(job)), std::move(message)});
    if (was_edited) report_edit(job, late, t);
    if (jobs_.has_runs(job)) {
      for (const ActiveExecution& run : jobs_.known(job).active) take_slot(run.run_id, job);
    }
    drop_unknown(job);
  }
  jobs_.let_rest();
  return numbers;
}

Scheduler::Plan Scheduler::plan_of(const Job& job, const JobState& periods, Turn turn) {
  const Evaluation evaluation = evaluate(job, periods, false, turn);
  if (const auto* wait = std::get_if<Wait>(&evaluation.action)) return {wait->until, std::nullopt, true};
  const auto* record = std::get_if<Record>(&evaluation.action);
  const Decision& due = record != nullptr ? record->period : std::get<Start>(evaluation.action).period;
  const std::optional<Decision> next = next_open_period(job, periods, turn.now);
  return {next ? std::optional(next->due()) : std::nullopt,
          due.due() < turn.on_time_since ? Backlog::Place::late : Backlog::Place::on_time, true};
}

// Planning is most of the work of a start, and looks at each job alone: the processors share it.
void Scheduler::plan_all(const std::vector<JobNumber>& jobs, Turn turn) {
  constexpr std::size_t kWorthAThread = 10'000;
  std::vector<Plan> plans(jobs.size());
  const std::size_t parts = parts_of(jobs.size(), kWorthAThread);
  in_parallel(parts, [&](std::size_t part) {
    JobTable::Glance glance(jobs_);
    for (std::size_t i = jobs.size() * part / parts; i < jobs.size() * (part + 1) / parts; ++i) {
      // What first sight ahead of now means is for settle() to say.
      if (!glance.at(jobs[i]) || glance.periods().first_seen.value_or(turn.now) > turn.now) continue;
      plans[i] = plan_of(glance.job(), glance.periods(), turn);
    }
  });
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Plan& plan = plans[i];
    if (!plan.is_made) {
      Entry& entry = jobs_.wake(jobs[i]);
      notify_closed(entry, settle(entry.definition.job, entry.known.periods, now(world_.clock)).closed);
      plan = plan_of(entry.definition.job, entry.known.periods, turn);
    }
    if (plan.backlog) backlog_.add(jobs[i], turn, *plan.backlog);
    timers_.set(jobs[i], plan.at);
    commit_if_full();
  }
  jobs_.let_rest();
}

// Handled stays handled; open periods that the new schedule does not produce are dropped; active runs go on. A removed
// job comes back the same way.
void Scheduler::edit(JobNumber job, jobs::JobDefinition definition) {
  keep_due(job, now(world_.clock));
  const bool was_reboot_job = jobs_.is_wanted(job) && is_for_boots(jobs_.schedule(job));
  const Instant t = now(world_.clock);
  Entry& entry = jobs_.wake(job);
  const std::uint64_t hash_before = schedule_hash(entry.definition.job);
  const std::shared_ptr<const jobs::RunOptions> options_before =
      jobs_.is_wanted(job) ? entry.definition.options : nullptr;
  slots_.admit(*definition.options);
  jobs_.replace(job, std::move(definition));
  if (hash_before != schedule_hash(entry.definition.job)) {
    JobState& periods = entry.known.periods;
    if (!periods.schedule) periods.schedule = ScheduleSeen{hash_before, std::nullopt};
    const std::optional<PassedOver> late = notice_schedule(entry.definition.job, periods, t);
    report_edit(job, late, t);
  }
  keep_waiting_if_known(job);
  move_slots(job);
  if (options_before) slots_.dismiss(*options_before);
  spread_.erase(job);
  drop_unknown(job);
  if (!was_reboot_job) await_next_boot(job);
}

// An @reboot job that comes by a reload has missed this boot.
void Scheduler::await_next_boot(JobNumber job) {
  if (!is_for_boots(jobs_.schedule(job))) return;
  step_for(job);
  jobs_.wake(job).known.last_boot_id = world_.clock.boot_id();
  commit_if_full();
}

// The schedule is another one: when that was seen is durable before anything is started by it.
void Scheduler::report_edit(JobNumber job, const std::optional<PassedOver>& late, Instant t) {
  Step& step = step_for(job);
  if (late) {
    step.ledger.history.push_back(history_of(*late, t));
    step.events.emplace_back(PeriodsPassedOver{jobs_.identity(job), *late, t});
  }
  commit_if_full();
}

// A clock that was wrong for a while leaves records of times that are still to come. What was not handled meanwhile
// runs at its time; the operator must know why some periods will not.
void Scheduler::warn_of_records_ahead(const std::vector<JobNumber>& jobs, Instant t) {
  std::int64_t count = 0;
  std::string example;
  for (const JobNumber job : jobs) {
    const std::optional<Instant> handled = jobs_.last_handled(job);
    if (!handled || *handled <= t || window_of(jobs_.window(job), *handled).start <= t) continue;
    if (count++ == 0) example = jobs_.identity(job);
  }
  if (count == 0) return;
  world_.log.warning("records_ahead_of_clock",
                     {{"count", count},
                      {"identity", example},
                      {"reason",
                       "periods that the clock has not reached are on record as handled, so they will not "
                       "run: is the clock right? `kron doctor` names the jobs, `kron state reset JOB` gives "
                       "one its periods back"}});
}

void Scheduler::drop_unknown(JobNumber job) {
  if (!jobs_.has_open_or_passed_over(job)) return;
  Entry& entry = jobs_.wake(job);
  for (const Instant dropped : drop_unknown_periods(entry.definition.job, entry.known.periods)) {
    world_.log.info("open_period_dropped",
                    {{"identity", entry.definition.job.identity}, {"periodId", rfc3339(dropped)}});
  }
}

void Scheduler::remove(JobNumber job) {
  timers_.set(job, std::nullopt);
  backlog_.take(job);
  refused_.erase(job);
  spread_.erase(job);
  if (const auto known = repeats_.find(job); known != repeats_.end()) {
    // Its runs have ended, whether or not it is wanted.
    if (known->second.has_ends()) backlog_.add(job, Turn::at(now(world_.clock)), Backlog::Place::on_time);
    if (!known->second.has_ends()) repeats_.erase(known);
  }
  drop_waiting(job);
  slots_.dismiss(jobs_.options(job));
  jobs_.remove(job);
  forget_if_idle(job);
}

void Scheduler::forget_if_idle(JobNumber job) {
  if (!jobs_.is_removed(job) || jobs_.has_runs(job)) return;
  const bool has_step = steps_.contains(job) || (in_flight_ && in_flight_->steps.contains(job));
  if (!has_step && !repeats_.contains(job)) jobs_.erase(job);
}

Result<Scheduler::JobNumber> Scheduler::find(std::string_view identity) const {
  const std::optional<JobNumber> known = jobs_.find(identity);
  if (const auto unscheduled = unscheduled_.find(identity); unscheduled != unscheduled_.end()) {
    return fail(Code::conflict, quoted(identity, 200) + " is not scheduled: " + unscheduled->second.reason);
  }
  if (!known || !jobs_.is_wanted(*known)) {
    return fail(Code::not_found, "there is no job named " + quoted(identity, 200));
  }
  return *known;
}

std::string Scheduler::scope_of(const jobs::JobDefinition& definition) const {
  return world_.scope ? world_.scope(definition) : definition.job.identity;
}

Status Scheduler::reset(std::string_view identity) {
  settle_requests();
  const auto unscheduled = unscheduled_.find(identity);
  const bool is_unscheduled = unscheduled != unscheduled_.end();
  const Result<JobNumber> job = is_unscheduled ? Result<JobNumber>(0) : find(identity);
  if (!job) return fail(job.error());
  if (!is_unscheduled && jobs_.has_runs(*job)) {
    return fail(Code::conflict, "a run of " + quoted(identity, 200) + " is active; wait for its end, or kill it");
  }
  const Instant t = now(world_.clock);
  Result<KnownJob> anew = world_.ledger.reset(identity, t, world_.clock.boot_id());
  broken_ = world_.ledger.broken();
  if (!anew) return fail(anew.error());
  if (is_unscheduled) {
    std::vector<jobs::JobDefinition> definition{std::move(unscheduled_.extract(unscheduled).mapped().definition)};
    const Result<std::vector<JobNumber>> added = add_all(std::move(definition), t);
    if (!added) return fail(added.error());
    plan_all(*added, Turn::at(t));
  } else {
    repeats_.erase(*job);
    spread_.erase(*job);
    jobs_.wake(*job).known = *std::move(anew);
    plan(*job, t);
  }
  jobs_.let_rest();
  return {};
}

std::optional<Scheduler::View> Scheduler::view(std::string_view identity) const {
  const Result<JobNumber> job = find(identity);
  if (!job) return std::nullopt;
  return view_of(*job, now(world_.clock));
}

// A step that is on its way may be refused.
KnownJob Scheduler::durable(JobNumber job) const {
  const Step* step = in_flight_ ? std::as_const(in_flight_->steps).find(job) : nullptr;
  return step != nullptr ? step->before : jobs_.known(job);
}

Scheduler::View Scheduler::view_of(JobNumber job, Instant t) const {
  View view{jobs_.definition(job), durable(job), std::nullopt};
  view.next = next_open_period(view.definition.job, view.known.periods, t);
  if (const auto spread = spread_.find(job); spread != spread_.end() && spread->second.at > t) {
    view.spread_start = spread->second;
  }
  const WaitingRun* waiting = jobs_.waiting(job);
  if (waiting != nullptr && waiting->is_queued) {
    if (waiting->is_queued_period()) view.queued = waiting->cause.period;
    if (waiting->lacks_slot != nullptr) {
      view.slot_wait = View::SlotWait{std::string(slots_.lacks(*waiting->lacks_slot)), waiting->since};
    }
  }
  if (waiting != nullptr) view.held_up = waiting->cause.period;
  if (const auto spread = spread_.find(job); spread != spread_.end() && !view.held_up) {
    const Job& definition = view.definition.job;
    Decision late = decide(definition, spread->second.period);
    const bool waits = late.chosen && !is_closed(view.known.periods, late, Turn::at(t)) &&
                       !is_suspended(definition, view.known.periods, t);
    if (waits) view.held_up = std::move(late);
  }
  return view;
}

std::vector<Scheduler::SlotUse> Scheduler::slot_uses() const {
  std::vector<SlotUse> all;
  for (Slots::Use& use : slots_.uses()) {
    std::string longest = use.longest_since ? jobs_.identity(use.longest) : std::string();
    all.push_back({std::move(use), std::move(longest)});
  }
  return all;
}

Scheduler::Views Scheduler::views(const Stretch& stretch) const {
  Views found;
  const Instant t = now(world_.clock);
  const std::size_t end = jobs_.end();
  for (std::size_t at = stretch.first; at < end; ++at) {
    if (found.views.size() == stretch.most_views || at - stretch.first == stretch.most_looks) {
      found.next = at;
      break;
    }
    const auto job = static_cast<JobNumber>(at);
    if (!jobs_.is_wanted(job) || (stretch.has_name && !stretch.has_name(jobs_.identity(job)))) continue;
    View view = view_of(job, t);
    if (!stretch.is_wanted || stretch.is_wanted(view)) found.views.push_back(std::move(view));
  }
  return found;
}

void Scheduler::each_job(const std::function<void(const jobs::JobDefinition&)>& visit) const {
  for (JobNumber job = 0; job < jobs_.end(); ++job) {
    if (jobs_.is_wanted(job)) visit(jobs_.definition(job));
  }
  for (const auto& [identity, job] : unscheduled_) visit(job.definition);
}

}  // namespace kron
