#include <algorithm>
#include <unordered_set>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/scheduler/scheduler.h"

namespace kron {
namespace {

bool is_reboot_job(const jobs::JobDefinition& definition) {
  return definition.job.schedule.kind == Schedule::Kind::reboot;
}

Status check_identities(const std::vector<jobs::JobDefinition>& definitions) {
  std::unordered_set<std::string_view> seen;
  seen.reserve(definitions.size());
  for (const jobs::JobDefinition& definition : definitions) {
    if (seen.insert(definition.job.identity).second) continue;
    return fail(Code::invalid, "two jobs are named " + quoted(definition.job.identity, 200) + "; rename one of them");
  }
  return {};
}

}  // namespace

Status Scheduler::start(std::vector<jobs::JobDefinition> definitions) {
  const Instant t = now(world_.clock);
  if (Status different = check_identities(definitions); !different) return different;
  const Result<std::vector<JobNumber>> numbers = add_all(std::move(definitions), t);
  if (!numbers) return fail(numbers.error());
  recover_runs(*numbers);
  start_reboot_jobs(t);
  commit();
  if (broken()) return fail(*broken());
  for (const JobNumber job : *numbers) plan(job, t);
  // What became due while we were starting is on time.
  last_turn_ = t - Seconds(1);
  was_busy_ = true;
  return {};
}

Status Scheduler::reload(std::vector<jobs::JobDefinition> definitions) {
  const Instant t = now(world_.clock);
  if (Status different = check_identities(definitions); !different) return different;
  std::unordered_set<std::string_view> wanted;
  std::vector<jobs::JobDefinition> added;
  std::vector<std::pair<JobNumber, jobs::JobDefinition>> edited;
  for (jobs::JobDefinition& definition : definitions) {
    const std::string& identity = definition.job.identity;
    if (const auto known = by_identity_.find(identity); known != by_identity_.end()) {
      wanted.insert(known->first);
      if (!(jobs_[known->second]->definition == definition)) edited.emplace_back(known->second, std::move(definition));
    } else if (const auto back = removed_.find(identity); back != removed_.end()) {
      edited.emplace_back(back->second, std::move(definition));
    } else {
      added.push_back(std::move(definition));
    }
  }
  std::vector<JobNumber> gone;
  for (const auto& [identity, job] : by_identity_) {
    if (!wanted.contains(identity)) gone.push_back(job);
  }
  const Result<std::vector<JobNumber>> numbers = add_all(std::move(added), t);
  if (!numbers) return fail(numbers.error());
  recover_runs(*numbers);
  for (const JobNumber job : gone) remove(job);
  for (auto& [job, definition] : edited) edit(job, std::move(definition));
  for (const JobNumber job : *numbers) await_next_boot(job);
  commit();
  for (const auto& [job, definition] : edited) plan(job, t);
  for (const JobNumber job : *numbers) plan(job, t);
  was_busy_ = true;
  if (broken()) return fail(*broken());
  return {};
}

Result<std::vector<Scheduler::JobNumber>> Scheduler::add_all(std::vector<jobs::JobDefinition> definitions, Instant t) {
  std::vector<std::string> identities;
  identities.reserve(definitions.size());
  for (const auto& definition : definitions) identities.push_back(definition.job.identity);
  Result<std::vector<KnownJob>> known = world_.ledger.load(identities, t);
  if (!known) return fail(known.error());
  std::vector<JobNumber> numbers;
  numbers.reserve(definitions.size());
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    numbers.push_back(add(std::move(definitions[i]), std::move((*known)[i])));
    drop_unknown(*jobs_[numbers.back()]);
  }
  return numbers;
}

Scheduler::JobNumber Scheduler::add(jobs::JobDefinition definition, KnownJob known) {
  JobNumber job = static_cast<JobNumber>(jobs_.size());
  if (free_numbers_.empty()) {
    jobs_.emplace_back();
  } else {
    job = free_numbers_.back();
    free_numbers_.pop_back();
  }
  by_identity_[definition.job.identity] = job;
  for (const ActiveExecution& run : known.active) job_of_run_[run.run_id] = job;
  jobs_[job] = std::make_unique<Entry>(Entry{std::move(definition), std::move(known), nullptr, false});
  return job;
}

// Handled stays handled; open periods that the new schedule does not produce are dropped; active runs go on. A removed
// job comes back the same way.
void Scheduler::edit(JobNumber job, jobs::JobDefinition definition) {
  Entry& entry = *jobs_[job];
  if (entry.removed) by_identity_.insert(removed_.extract(entry.definition.job.identity));
  const bool was_reboot_job = !entry.removed && is_reboot_job(entry.definition);
  entry.removed = false;
  entry.definition = std::move(definition);
  drop_waiting(job);
  drop_unknown(entry);
  if (!was_reboot_job) await_next_boot(job);
}

// An @reboot job that comes by a reload has missed this boot.
void Scheduler::await_next_boot(JobNumber job) {
  if (!is_reboot_job(jobs_[job]->definition)) return;
  step_for(job);
  jobs_[job]->known.last_boot_id = world_.clock.boot_id();
  commit_if_full();
}

void Scheduler::drop_unknown(Entry& entry) {
  for (const Instant dropped : drop_unknown_periods(entry.definition.job, entry.known.periods)) {
    world_.log.info("open_period_dropped",
                    {{"identity", entry.definition.job.identity}, {"periodId", rfc3339(dropped)}});
  }
}

void Scheduler::remove(JobNumber job) {
  Entry& entry = *jobs_[job];
  removed_.insert(by_identity_.extract(entry.definition.job.identity));
  timers_.set(job, std::nullopt);
  drop_waiting(job);
  entry.removed = true;
  forget_if_idle(job);
}

void Scheduler::forget_if_idle(JobNumber job) {
  if (!jobs_[job]->removed || !jobs_[job]->known.active.empty()) return;
  removed_.erase(jobs_[job]->definition.job.identity);
  jobs_[job].reset();
  free_numbers_.push_back(job);
}

Result<Scheduler::JobNumber> Scheduler::find(std::string_view identity) const {
  const auto known = by_identity_.find(std::string(identity));
  if (known == by_identity_.end()) return fail(Code::not_found, "there is no job named " + quoted(identity, 200));
  return known->second;
}

Status Scheduler::set_suspension(std::string_view identity, std::optional<Suspension> suspension) {
  const Result<JobNumber> job = find(identity);
  if (!job) return fail(job.error());
  step_for(*job);
  Entry& entry = *jobs_[*job];
  entry.known.periods.suspended = suspension;
  commit();
  if (entry.known.periods.suspended != suspension) {
    return fail(Code::io, "the state of " + quoted(identity, 200) + " could not be written; nothing has changed");
  }
  // Nothing triggers while suspended, not even what only waits for its place; its period is late on resume.
  if (suspension && entry.waiting && entry.waiting->occasion.period) drop_waiting(*job);
  plan(*job, now(world_.clock));
  return {};
}

Status Scheduler::suspend(std::string_view identity, std::optional<Instant> until) {
  return set_suspension(identity, Suspension{now(world_.clock), until});
}

Status Scheduler::resume(std::string_view identity) { return set_suspension(identity, std::nullopt); }

std::optional<Scheduler::View> Scheduler::view(std::string_view identity) const {
  const Result<JobNumber> job = find(identity);
  if (!job) return std::nullopt;
  const Entry& entry = *jobs_[*job];
  return View{entry.definition, entry.known,
              next_open_period(entry.definition.job, entry.known.periods, now(world_.clock))};
}

}  // namespace kron
