#include <algorithm>
#include <utility>

#include "kron/base/text.h"
#include "kron/operator/reconciler.h"

namespace kron::kronjobs {
namespace {

std::string cut_message(std::string text) {
  if (text.size() <= kLongestMessage) return text;
  text.resize(kLongestMessage - 3);
  while (!is_valid_utf8(text)) text.pop_back();
  return text + "…";
}

struct Said {
  bool is_true = false;
  std::string reason;
  std::string message = {};
};

// A condition that stays what it is keeps its time.
void say(KronJobStatus& status, const KronJobView& kron_job, std::string_view type, Said said, Instant now) {
  const Condition* before = kron_job.status.find(type);
  const bool is_as_before = before != nullptr && before->is_true == said.is_true;
  status.conditions.push_back({std::string(type), said.is_true, kron_job.meta.generation, std::move(said.reason),
                               cut_message(std::move(said.message)), is_as_before ? before->since : now});
}

}  // namespace

void Reconciler::note(const PeriodNote& judged) {
  status_.last = judged;
  status_.recent.push_back(judged);
  if (status_.recent.size() > kMostRecent) status_.recent.erase(status_.recent.begin());
}

KronJobStatus Reconciler::desired_status() const {
  KronJobStatus status = status_;
  status.handled = state_;
  // First sight is the KronJob's own; what core keeps with it is made anew at each look.
  status.handled->first_seen.reset();
  status.handled->first_seen_is_floor = false;
  status.handled->first_seen_reach = Seconds(0);
  fit(*status.handled);
  status.next.reset();
  if (kron_job_.job && !kron_job_.suspended) {
    if (const auto next = next_open_period(*kron_job_.job, state_, turn_.now)) {
      status.next = PeriodNote{.period = next->nominal, .chosen = next->chosen, .seed_hash = hex(next->seed_hash)};
    }
  }
  show_jobs(status);
  show_conditions(status);
  return status;
}

void Reconciler::show_jobs(KronJobStatus& status) const {
  status.active.clear();
  for (const JobView& job : seen_.jobs) {
    if (is_active(job)) status.active.push_back({job.meta.name, job.meta.uid, job.period});
    if (!is_own(job) || !job.ended_at) continue;
    std::optional<Instant>& last = job.end == JobView::End::complete ? status.last_successful : status.last_failure;
    last = std::max(last.value_or(*job.ended_at), *job.ended_at);
  }
  status.active_count = static_cast<std::int64_t>(status.active.size());
  std::ranges::sort(status.active, {}, &ActiveJob::name);
  if (status.active.size() > kMostActiveShown) status.active.resize(kMostActiveShown);
}

void Reconciler::show_conditions(KronJobStatus& status) const {
  status.conditions.clear();
  const std::int64_t generation = kron_job_.meta.generation;
  const auto add = [&](std::string_view type, Said said) { say(status, kron_job_, type, std::move(said), turn_.now); };

  Said invalid{false, "Valid"};
  const Condition* invalid_before = kron_job_.status.find("InvalidSpec");
  if (!kron_job_.problem.empty()) {
    invalid = {true, "Unschedulable", kron_job_.problem};
  } else if (seen_.trial != nullptr && seen_.trial->generation == generation) {
    if (!seen_.trial->refusal.empty()) invalid = {true, "TemplateRefused", seen_.trial->refusal};
  } else if (invalid_before != nullptr && invalid_before->observed_generation == generation &&
             invalid_before->is_true && invalid_before->reason == "TemplateRefused") {
    invalid = {true, invalid_before->reason, invalid_before->message};
  }

  Said error{false, "Scheduling"};
  const Condition* error_before = kron_job_.status.find("SchedulingError");
  if (!error_.empty()) {
    error = {true, "CannotStart", error_};
  } else if (!error_is_over_ && error_before != nullptr && error_before->is_true) {
    error = {true, error_before->reason, error_before->message};
  }

  Said ready{true, "Scheduled"};
  const GateKind gate = gate_kind();
  if (invalid.is_true) {
    ready = {false, "InvalidSpec", invalid.message};
  } else if (error.is_true) {
    ready = {false, "SchedulingError", error.message};
  } else if (!kron_job_.suspended && !status.next) {
    ready = {false, "NoMorePeriods", "the schedule has no further period"};
  } else if (gate == GateKind::foreign) {
    ready = {true, "ForeignGate", "Jobs are suspended by their template or by a queue, which starts them"};
  } else if (gate == GateKind::ungated) {
    ready = {true, "Ungated",
             "the API server does not know spec.suspend of Jobs: a Job that is deleted before it is "
             "recorded may run twice"};
  } else if (kron_job_.suspended) {
    ready = {true, "Suspended"};
  }

  const bool has_no_time = status.last && status.last->outcome == Outcome::unschedulable;
  add("Ready", std::move(ready));
  add("InvalidSpec", std::move(invalid));
  add("SchedulingError", std::move(error));
  add("Unschedulable", has_no_time ? Said{true, "NoTime", status.last->reason} : Said{false, "HasTime"});
  add("Suspended", kron_job_.suspended ? Said{true, "Suspended"} : Said{false, "Active"});
}

Reconciler::MaybeStep Reconciler::catch_up_status() {
  KronJobStatus desired = desired_status();
  KronJobStatus compared = desired;
  compared.starting = kron_job_.status.starting;  // what is only dropped from it can wait
  if (compared == kron_job_.status) return std::nullopt;
  return WriteStatus{std::move(desired)};
}

}  // namespace kron::kronjobs
