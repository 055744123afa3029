#include "kron/operator/reconcile.h"

#include <algorithm>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/operator/job_body.h"
#include "kron/operator/names.h"
#include "kron/operator/reconciler.h"

namespace kron::kronjobs {
namespace {

Remove remove_at_gate(const JobView& job) { return {job.meta.name, job.meta.uid, job.meta.resource_version}; }

std::string not_opened(const JobView& job, std::string_view why) {
  return "Job " + job.meta.name + (job.period ? " of period " + rfc3339(*job.period) : std::string()) +
         " was recorded and did not run: " + std::string(why);
}

}  // namespace

Reconciler::Reconciler(const Seen& seen, Turn turn)
    : seen_(seen),
      kron_job_(seen.kron_job),
      turn_(turn),
      status_(kron_job_.status),
      state_(known_state(kron_job_, seen.predecessor)) {}

Reconciled Reconciler::run() {
  if (!kron_job_.status_problem.empty()) {
    warn("StatusUnreadable", kron_job_.status_problem + "; nothing is started until it is put right");
    return {Rest{}, std::move(notices_)};
  }
  if (kron_job_.meta.deleting) {
    const MaybeStep step = remove_ungated_of_deleted();
    return {step ? *step : Step(Rest{}), std::move(notices_)};
  }
  using Row = MaybeStep (Reconciler::*)();
  constexpr Row kRows[] = {&Reconciler::tell_trouble,       &Reconciler::open_recorded, &Reconciler::adopt_jobs,
                           &Reconciler::rest_while_invalid, &Reconciler::observe_edit,  &Reconciler::go_on_waiting,
                           &Reconciler::judge_due,          &Reconciler::run_by_hand,   &Reconciler::catch_up_status,
                           &Reconciler::remove_leftovers,   &Reconciler::remove_history};
  for (const Row row : kRows) {
    if (MaybeStep step = (this->*row)()) return {*std::move(step), std::move(notices_)};
  }
  return {Rest{wakeup_}, std::move(notices_)};
}

Reconciler::MaybeStep Reconciler::remove_ungated_of_deleted() {
  for (const JobView& job : seen_.jobs) {
    if (!job.is_at_gate() || job.meta.deleting || job.owner_uid != kron_job_.meta.uid) continue;
    if (is_starting(job)) warn("NotOpened", not_opened(job, "its KronJob is being deleted"));
    return remove_at_gate(job);
  }
  return std::nullopt;
}

// Before the openings, which would otherwise keep it from being told for as long as they fail.
Reconciler::MaybeStep Reconciler::tell_trouble() {
  const Trouble* trouble = seen_.trouble;
  if (trouble == nullptr || trouble->muted || turn_.now - trouble->since < kTroubleShown) return std::nullopt;
  error_ = trouble->message;
  const Condition* told = kron_job_.status.find("SchedulingError");
  if (told != nullptr && told->is_true) return std::nullopt;
  return write_status();
}

// Before everything else: a Job that is recorded and not opened is a run that is owed.
Reconciler::MaybeStep Reconciler::open_recorded() {
  for (const Starting& entry : kron_job_.status.starting) {
    if (is_answered(entry)) continue;
    if (MaybeStep step = open_one(entry)) return step;
  }
  std::erase_if(status_.starting, [&](const Starting& entry) { return is_answered(entry); });
  return std::nullopt;
}

Reconciler::MaybeStep Reconciler::open_one(const Starting& entry) {
  const Instant limit = opening_limit(entry);
  if (turn_.now <= limit) {
    // SPEC invariant 6. A run by hand is somebody's wish, whatever the schedule does.
    if (!kron_job_.suspended || !entry.period) return Open{entry.job_name, entry.job_uid};
    wake_at(limit + Seconds(1));
    return std::nullopt;
  }
  const JobView* job = find_uid(entry.job_uid);
  // Absence from what we have seen is no answer, and what may be open by now must not be removed unseen.
  if (job == nullptr) return ReadJob{entry.job_name, entry.job_uid};
  if (job->meta.deleting) return std::nullopt;
  if (!job->is_at_gate()) return Open{entry.job_name, entry.job_uid};
  warn("NotOpened", not_opened(*job, "its gate could not be opened until " + rfc3339(limit)));
  return remove_at_gate(*job);
}

// A Job of a period that is not handled, and not at our gate, has run or will: the record is made up for. This is also
// how a status that was lost is rebuilt.
Reconciler::MaybeStep Reconciler::adopt_jobs() {
  std::vector<const JobView*> ran;
  for (const JobView& job : seen_.jobs) {
    if (is_own(job) && job.period && !job.is_at_gate() && !is_handled(state_, *job.period)) ran.push_back(&job);
  }
  if (ran.empty()) return std::nullopt;
  std::ranges::sort(ran, {}, [](const JobView* job) { return *job->period; });
  for (const JobView* job : ran) {
    const Instant period = *job->period;
    if (is_handled(state_, period)) continue;
    if (kron_job_.job) {
      mark_handled(*kron_job_.job, state_, period, turn_);
    } else {
      // No schedule says what lies between: it is closed.
      std::erase(state_.open_periods, period);
      std::erase_if(state_.passed_over, [&](const Span& s) { return s.first <= period && period <= s.last; });
      state_.last_handled = std::max(state_.last_handled.value_or(period), period);
    }
    note({.period = period,
          .chosen = job->chosen,
          .at = turn_.now,
          .outcome = Outcome::executed,
          .seed_hash = job->seed_hash ? hex(*job->seed_hash) : std::string(),
          .job_name = job->meta.name});
    if (status_.waiting && status_.waiting->period == period) status_.waiting.reset();
  }
  error_is_over_ = true;
  return write_status();
}

Reconciler::MaybeStep Reconciler::rest_while_invalid() {
  if (kron_job_.job) return std::nullopt;
  status_.observed_generation = kron_job_.meta.generation;
  status_.waiting.reset();
  if (MaybeStep step = catch_up_status()) return step;
  if (MaybeStep step = remove_leftovers()) return step;
  if (MaybeStep step = remove_history()) return step;
  return Rest{wakeup_};
}

// An edit is recorded before anything is judged by it. So the moment in which it was seen is durable, and no crash lets
// a period start that lay in the past of the edit.
Reconciler::MaybeStep Reconciler::observe_edit() {
  const Job& job = *kron_job_.job;
  if (is_observed() && state_.schedule && state_.schedule->hash == kron_job_.schedule_hash) return std::nullopt;
  if (!is_observed() && (seen_.trial == nullptr || seen_.trial->generation != kron_job_.meta.generation)) {
    // A template that is none is told by the trial of the server, which is asked anyway.
    return TryTemplate{kron_job_.meta.generation, trial_job_body(kron_job_).value_or("{}")};
  }
  const bool is_first_sight = !status_.observed_generation;
  if (is_first_sight && is_token(kron_job_.run_now)) {
    status_.last_manual = {kron_job_.run_now, {}, {}, "there at first sight"};
  }
  if (!is_observed()) status_.waiting.reset();
  drop_unknown_periods(job, state_);
  if (const auto late = notice_schedule(job, state_, turn_.now)) {
    notices_.push_back(
        {false, "PassedOver", std::to_string(late->count) + " late periods do not count since the edit"});
  }
  status_.observed_generation = kron_job_.meta.generation;
  return write_status();
}

const JobView* Reconciler::find_uid(std::string_view uid) const {
  const auto found =
      std::ranges::find(seen_.jobs, uid, [](const JobView& job) { return std::string_view(job.meta.uid); });
  return found != seen_.jobs.end() ? &*found : nullptr;
}

const JobView* Reconciler::find_period(Instant period) const {
  const auto found =
      std::ranges::find_if(seen_.jobs, [&](const JobView& job) { return is_own(job) && job.period == period; });
  return found != seen_.jobs.end() ? &*found : nullptr;
}

const JobView* Reconciler::find_name(std::string_view name) const {
  const auto found =
      std::ranges::find(seen_.jobs, name, [](const JobView& job) { return std::string_view(job.meta.name); });
  return found != seen_.jobs.end() ? &*found : nullptr;
}

bool Reconciler::is_startable(const JobView& job) const {
  return job.is_at_gate() && !job.meta.deleting && job.owner_uid == kron_job_.meta.uid &&
         *job.gate == std::to_string(kron_job_.meta.generation);
}

bool Reconciler::is_starting(const JobView& job) const {
  return std::ranges::find(status_.starting, job.meta.uid, &Starting::job_uid) != status_.starting.end();
}

bool Reconciler::is_answered(const Starting& entry) const {
  if (std::ranges::find(seen_.answered, entry.job_uid) != seen_.answered.end()) return true;
  const JobView* job = find_uid(entry.job_uid);
  return job != nullptr && !job->gate;
}

// A Job at its gate that nobody has recorded has not run, and may never. Of one that lost its label nobody tells when
// it ends.
bool Reconciler::is_active(const JobView& job) const {
  return is_own(job) && job.is_watched && !job.is_finished() && (!job.is_at_gate() || is_starting(job));
}

bool Reconciler::has_active() const {
  if (std::ranges::any_of(seen_.jobs, [&](const JobView& job) { return is_active(job); })) return true;
  // Recorded, and not seen: it may be running.
  return std::ranges::any_of(status_.starting, [&](const Starting& entry) {
    return !is_answered(entry) && find_uid(entry.job_uid) == nullptr;
  });
}

bool Reconciler::is_starting_full() const { return status_.starting.size() >= kMostStarting; }

Instant Reconciler::opening_limit(const Starting& entry) const {
  Instant due = entry.at;
  if (entry.period && kron_job_.job) {
    const JobView* job = find_uid(entry.job_uid);
    const Instant chosen = job != nullptr && job->chosen ? *job->chosen : decide(*kron_job_.job, *entry.period).due();
    due = std::max(due, chosen + kron_job_.job->policy.deadline);
  }
  return due + kOpeningTime;
}

GateKind Reconciler::gate_kind() const {
  if (kron_job_.foreign_gate) return GateKind::foreign;
  if (seen_.trial != nullptr && seen_.trial->generation == kron_job_.meta.generation) return seen_.trial->gate;
  // What the leader before us found out.
  const Condition* ready = kron_job_.status.find("Ready");
  if (ready == nullptr || ready->observed_generation != kron_job_.meta.generation) return GateKind::ours;
  if (ready->reason == "ForeignGate") return GateKind::foreign;
  return ready->reason == "Ungated" ? GateKind::ungated : GateKind::ours;
}

bool Reconciler::is_observed() const { return kron_job_.status.observed_generation == kron_job_.meta.generation; }

void Reconciler::wake_at(std::optional<Instant> t) {
  if (t && (!wakeup_ || *t < *wakeup_)) wakeup_ = t;
}

Reconciled reconcile(const Seen& seen, Turn turn) { return Reconciler(seen, turn).run(); }

Reconciled reconcile_gone(std::span<const JobView> jobs, std::string_view uid) {
  for (const JobView& job : jobs) {
    const bool is_left = job.owner_uid.empty() || job.owner_uid == uid;
    if (is_left && job.is_at_gate() && !job.meta.deleting) return {remove_at_gate(job), {}};
  }
  return {Rest{}, {}};
}

}  // namespace kron::kronjobs
