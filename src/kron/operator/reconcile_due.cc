#include <algorithm>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/operator/job_body.h"
#include "kron/operator/names.h"
#include "kron/operator/reconciler.h"

namespace kron::kronjobs {
namespace {

constexpr Seconds kSoon{1};

std::string_view event_word(Outcome outcome) {
  switch (outcome) {
    case Outcome::executed:
      return "Executed";
    case Outcome::skipped:
      return "Skipped";
    case Outcome::missed:
      return "Missed";
    case Outcome::unschedulable:
      return "Unschedulable";
  }
  return {};
}

}  // namespace

// A period that replaces runs was judged when it was due, and is not judged again: that it waits is in the status, so
// that whoever leads goes on with it.
Reconciler::MaybeStep Reconciler::go_on_waiting() {
  if (kron_job_.suspended) return std::nullopt;
  const Job& job = *kron_job_.job;
  settle(job, state_, turn_.now);
  if (!status_.waiting) return std::nullopt;
  const Waiting waiting = *status_.waiting;
  if (is_handled(state_, waiting.period) || !job.schedule.is_nominal(waiting.period, job.zone)) {
    status_.waiting.reset();
    return std::nullopt;
  }
  const Decision period = decide(job, waiting.period);
  const OpenPeriods open = open_periods(job, state_, turn_);
  if (std::ranges::any_of(open.due, [&](const Decision& d) { return d.nominal > waiting.period; })) {
    return record(period, Outcome::skipped, Reason::replaced_before_start);
  }
  if (open.next) wake_at(open.next->due());
  if (has_active()) {
    Seconds grace{0};
    for (const JobView& active : seen_.jobs) {
      if (is_active(active)) grace = std::max(grace, active.grace);
    }
    const Instant give_up = waiting.since + grace + kReplaceTime;
    if (turn_.now >= give_up) return record(period, Outcome::skipped, Reason::could_not_stop);
    return stop_active(give_up);
  }
  return start(period);
}

// Ends one of the active runs, or waits for them to be gone.
Reconciler::MaybeStep Reconciler::stop_active(std::optional<Instant> give_up) {
  for (const JobView& job : seen_.jobs) {
    if (is_active(job) && !job.meta.deleting) return Remove{job.meta.name, job.meta.uid, {}, Propagation::foreground};
  }
  wake_at(give_up);
  return Rest{wakeup_};
}

Reconciler::MaybeStep Reconciler::judge_due() {
  if (kron_job_.suspended) return std::nullopt;
  const Evaluation evaluation = evaluate(*kron_job_.job, state_, has_active(), turn_);
  if (const auto* wait = std::get_if<Wait>(&evaluation.action)) {
    wake_at(wait->until);
    return std::nullopt;
  }
  const auto* ended = std::get_if<kron::Record>(&evaluation.action);
  const auto* started = std::get_if<Start>(&evaluation.action);
  MaybeStep step;
  if (ended != nullptr) {
    step = record(ended->period, ended->outcome, ended->reason);
  } else if (started->replace) {
    status_.waiting = {started->period.nominal, turn_.now};
    step = write_status();
  } else {
    step = start(started->period);
  }
  if (evaluation.passed_over && step && std::holds_alternative<WriteStatus>(*step)) {
    const PassedOver& late = *evaluation.passed_over;
    notices_.push_back({false, "PassedOver",
                        std::to_string(late.count) + " late periods from " + rfc3339(late.first) + " to " +
                            rfc3339(late.last) + " were passed over"});
  }
  return step;
}

// Create, then record with the uid, then open: here the first two, of which each is one call.
Reconciler::MaybeStep Reconciler::start(const Decision& period) {
  if (is_starting_full()) {
    wake_at(turn_.now + kSoon);
    return Rest{wakeup_};
  }
  const std::string name = job_name(kron_job_.meta.ns, kron_job_.meta.name, period.nominal);
  // The annotation before the name, which a later version may make otherwise.
  const JobView* job = find_period(period.nominal);
  if (job == nullptr) job = find_name(name);
  if (job != nullptr) {
    if (job->meta.deleting) {
      wake_at(turn_.now + kSoon);
      return Rest{wakeup_};
    }
    // Not at its gate it would have been adopted.
    const bool is_of_period = is_own(*job) && job->period == period.nominal && job->is_at_gate();
    if (!is_of_period) return start_failed(period, "there is another Job of the name " + name);
    if (is_startable(*job)) return record_executed(period, *job);
    if (is_of_later_edit(*job)) return ReadKronJob{kron_job_.meta.uid};
    return Remove{job->meta.name, job->meta.uid, job->meta.resource_version};
  }
  if (seen_.refusal != nullptr && seen_.refusal->job_name == name) return start_failed(period, seen_.refusal->message);
  Result<std::string> body = period_job_body(kron_job_, period, gate_kind());
  if (!body) return start_failed(period, body.error().message);
  return Create{name, *std::move(body)};
}

// If we die after this is written, whoever comes next finds the uid and opens it. If we die before, nothing has run.
Reconciler::MaybeStep Reconciler::record_executed(const Decision& period, const JobView& job) {
  status_.starting.push_back({period.nominal, {}, job.meta.name, job.meta.uid, turn_.now});
  error_is_over_ = true;
  return record(period, Outcome::executed, Reason::none, job.meta.name);
}

Step Reconciler::record(const Decision& period, Outcome outcome, Reason reason, std::string_view job_name) {
  if (status_.waiting && status_.waiting->period == period.nominal) status_.waiting.reset();
  mark_handled(*kron_job_.job, state_, period.nominal, turn_);
  note({.period = period.nominal,
        .chosen = period.chosen,
        .at = turn_.now,
        .outcome = outcome,
        .reason = std::string(name_of(reason)),
        .seed_hash = hex(period.seed_hash),
        .job_name = std::string(job_name)});
  std::string message = "period " + rfc3339(period.nominal) + ": " + std::string(name_of(outcome));
  if (reason != Reason::none) message += ", " + std::string(name_of(reason));
  notices_.push_back({outcome != Outcome::executed, std::string(event_word(outcome)), std::move(message)});
  return write_status();
}

Step Reconciler::start_failed(const Decision& period, const std::string& why) {
  error_ = "period " + rfc3339(period.nominal) + " was not started: " + why;
  error_is_over_ = false;
  return record(period, Outcome::skipped, Reason::start_failed);
}

// Through the same gate; what is handled is not touched.
Reconciler::MaybeStep Reconciler::run_by_hand() {
  const std::string& token = kron_job_.run_now;
  if (token.empty() || (status_.last_manual && status_.last_manual->token == token)) return std::nullopt;
  if (!is_token(token)) {
    warn("InvalidToken", "kron.io/run-now takes 1 to 63 of [A-Za-z0-9._-]; this run was not started");
    return std::nullopt;
  }
  const std::string name = manual_job_name(kron_job_.meta.ns, kron_job_.meta.name, token);
  const JobView* job = find_name(name);
  if (job != nullptr && is_own(*job) && !job->is_at_gate()) return record_manual("executed", "", job);
  const RunOverlap overlap = overlap_of(kron_job_.job->policy, has_active());
  // No KronJob has concurrency: queue (spec.cc).
  if (overlap == RunOverlap::skip || overlap == RunOverlap::wait)
    return record_manual("skipped", name_of(Reason::concurrency_forbid));
  if (overlap == RunOverlap::replace) return stop_active(std::nullopt);
  if (is_starting_full()) return std::nullopt;
  if (job != nullptr) {
    if (job->meta.deleting) {
      wake_at(turn_.now + kSoon);
      return Rest{wakeup_};
    }
    if (!is_own(*job) || job->period) {
      error_ = "there is another Job of the name " + name;
      return record_manual("skipped", name_of(Reason::start_failed));
    }
    if (is_of_later_edit(*job)) return ReadKronJob{kron_job_.meta.uid};
    if (!is_startable(*job)) return Remove{job->meta.name, job->meta.uid, job->meta.resource_version};
    status_.starting.push_back({std::nullopt, token, job->meta.name, job->meta.uid, turn_.now});
    return record_manual("executed", "", job);
  }
  if (seen_.refusal != nullptr && seen_.refusal->job_name == name) {
    error_ = seen_.refusal->message;
    return record_manual("skipped", name_of(Reason::start_failed));
  }
  Result<std::string> body = manual_job_body(kron_job_, token, gate_kind());
  if (!body) {
    error_ = body.error().message;
    return record_manual("skipped", name_of(Reason::start_failed));
  }
  return Create{name, *std::move(body)};
}

Step Reconciler::record_manual(std::string_view outcome, std::string_view reason, const JobView* job) {
  status_.last_manual = {kron_job_.run_now, job != nullptr ? job->meta.name : std::string(), std::string(outcome),
                         std::string(reason)};
  std::string message = "run by hand " + kron_job_.run_now + ": " + std::string(outcome);
  if (!reason.empty()) message += ", " + std::string(reason);
  notices_.push_back({job == nullptr, job != nullptr ? "ManualRun" : "ManualRunSkipped", std::move(message)});
  return write_status();
}

}  // namespace kron::kronjobs
