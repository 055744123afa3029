#include "kron/operator/verdict.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/core/evaluate.h"
#include "kron/operator/names.h"

namespace kron::kronjobs {
namespace {

constexpr std::array<std::string_view, 14> kFates{"executed", "skipped",    "missed",      "unschedulable", "opening",
                                                  "waiting",  "handled",    "passed over", "not counted",   "suspended",
                                                  "invalid",  "unreadable", "due",         "ahead"};

PeriodFate fate_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::executed:
      return PeriodFate::executed;
    case Outcome::skipped:
      return PeriodFate::skipped;
    case Outcome::missed:
      return PeriodFate::missed;
    case Outcome::unschedulable:
      break;
  }
  return PeriodFate::unschedulable;
}

// In the words of the contract, and what they mean here.
std::string meaning_of(Reason reason, const KronJobView& kron_job) {
  const Condition* error = kron_job.status.find("SchedulingError");
  switch (reason) {
    case Reason::deadline:
      return "it was not started within its deadline" +
             (kron_job.job ? " of " + duration_text(kron_job.job->policy.deadline) : std::string());
    case Reason::concurrency_forbid:
      return "a run was active, and policy.concurrency forbids another";
    case Reason::excluded:
      return "the constraints exclude its whole window";
    case Reason::no_candidate:
      return "the constraints allow little of its window, and no draw met it";
    case Reason::replaced_before_start:
      return "a later period was due while it waited for the runs that it replaces";
    case Reason::could_not_stop:
      return "the runs that it replaces did not end";
    case Reason::start_failed:
      return "the API server refused its Job" +
             (error != nullptr && error->is_true ? ": " + error->message : std::string());
    default:
      return {};
  }
}

std::string outcome_text(Outcome outcome, std::string_view reason) {
  std::string text(kron::name_of(outcome));
  if (!reason.empty()) text += " (" + std::string(reason) + ")";
  return text;
}

class Judge {
 public:
  Judge(const KronJobView& kron_job, std::span<const JobView> jobs, Instant period, Instant now)
      : kron_job_(kron_job),
        jobs_(jobs),
        period_(period),
        now_(now),
        state_(known_state(kron_job)),
        name_(job_name(kron_job.meta.ns, kron_job.meta.name, period)) {}

  Verdict run() {
    using Question = std::optional<Verdict> (Judge::*)() const;
    constexpr Question kQuestions[] = {&Judge::broken_memory, &Judge::recorded, &Judge::is_waiting,
                                       &Judge::unrecorded,    &Judge::closed,   &Judge::not_schedulable,
                                       &Judge::not_counted,   &Judge::suspended};
    for (const Question question : kQuestions) {
      if (std::optional<Verdict> verdict = (this->*question)()) return *std::move(verdict);
    }
    return open();
  }

 private:
  [[nodiscard]] Verdict verdict(PeriodFate fate, std::string sentence) const {
    return {fate, std::move(sentence), {}, name_};
  }

  [[nodiscard]] const JobView* own_job() const {
    const auto found = std::ranges::find_if(
        jobs_, [&](const JobView& job) { return job.identity == kron_job_.identity && job.period == period_; });
    return found != jobs_.end() ? &*found : nullptr;
  }

  [[nodiscard]] std::optional<Verdict> broken_memory() const {
    if (kron_job_.status_problem.empty()) return std::nullopt;
    return verdict(PeriodFate::unreadable, "nothing is started: " + kron_job_.status_problem);
  }

  // How the Job is doing, as far as that is known.
  [[nodiscard]] std::string about_job() const {
    const JobView* job = own_job();
    if (job == nullptr) return "the Job is gone by now";
    const std::string at = job->ended_at ? " at " + rfc3339(*job->ended_at) : "";
    if (job->end == JobView::End::complete) return "the Job completed" + at;
    if (job->end == JobView::End::failed) return "the Job failed" + at;
    return job->suspended ? "the Job is suspended" : "the Job has not ended yet";
  }

  [[nodiscard]] std::optional<Verdict> recorded() const {
    const auto starting = std::ranges::find(kron_job_.status.starting, std::optional(period_), &Starting::period);
    if (starting != kron_job_.status.starting.end()) {
      const JobView* job = own_job();
      if (job == nullptr || job->gate) return being_opened(*starting);
    }
    const auto& recent = kron_job_.status.recent;
    const auto found = std::ranges::find(recent.rbegin(), recent.rend(), period_, &PeriodNote::period);
    if (found == recent.rend() || !found->outcome) return std::nullopt;
    Verdict told{fate_of(*found->outcome), {}, *found, found->job_name.empty() ? name_ : found->job_name};
    told.sentence = outcome_text(*found->outcome, found->reason);
    const Result<Reason> reason = parse_reason(found->reason);
    if (const std::string meaning = reason ? meaning_of(*reason, kron_job_) : ""; !meaning.empty()) {
      told.sentence += ": " + meaning;
    }
    if (*found->outcome == Outcome::executed) told.sentence += " as Job " + told.job_name + "; " + about_job();
    if (found->at) told.sentence += "; judged at " + rfc3339(*found->at);
    return told;
  }

  [[nodiscard]] Verdict being_opened(const Starting& entry) const {
    std::string sentence = "executed, by its record of " + rfc3339(entry.at) + "; the gate of Job " + entry.job_name +
                           " is not known to be open yet";
    if (kron_job_.suspended) sentence += ": nothing is opened while the KronJob is suspended";
    return {PeriodFate::opening, std::move(sentence), {}, entry.job_name};
  }

  [[nodiscard]] std::optional<Verdict> is_waiting() const {
    const auto& waiting = kron_job_.status.waiting;
    if (!waiting || waiting->period != period_) return std::nullopt;
    return verdict(PeriodFate::waiting,
                   "it waits since " + rfc3339(waiting->since) + " for the runs that it replaces to end");
  }

  [[nodiscard]] std::optional<Verdict> unrecorded() const {
    const JobView* job = own_job();
    if (job == nullptr || job->is_at_gate() || is_handled(state_, period_)) return std::nullopt;
    return Verdict{PeriodFate::executed,
                   "executed as Job " + job->meta.name + ", which the status does not tell yet; " + about_job(),
                   {},
                   job->meta.name};
  }

  [[nodiscard]] std::optional<Verdict> closed() const {
    if (is_handled(state_, period_)) {
      const JobView* job = own_job();
      if (job != nullptr && !job->is_at_gate()) {
        return Verdict{
            PeriodFate::executed, "executed as Job " + job->meta.name + "; " + about_job(), {}, job->meta.name};
      }
      return verdict(PeriodFate::handled,
                     "handled, so it will not start any more; the status tells the outcome of the last " +
                         std::to_string(kMostRecent) + " periods only");
    }
    const auto& spans = state_.passed_over;
    const bool is_passed =
        std::ranges::any_of(spans, [&](const Span& span) { return span.first <= period_ && period_ <= span.last; });
    const bool is_open = std::ranges::binary_search(state_.open_periods, period_);
    if (!is_passed || is_open) return std::nullopt;
    return verdict(PeriodFate::passed_over,
                   "passed over: it was late together with a later period, and only the latest is made up for");
  }

  [[nodiscard]] std::optional<Verdict> not_schedulable() const {
    if (kron_job_.job) return std::nullopt;
    return verdict(PeriodFate::invalid, "nothing is scheduled: " + kron_job_.problem);
  }

  [[nodiscard]] std::optional<Verdict> not_counted() const {
    const Instant due = decide(*kron_job_.job, period_).due();
    if (state_.first_seen && due < *state_.first_seen) {
      return verdict(PeriodFate::not_counted, "it does not count: it was due before the KronJob was created at " +
                                                  rfc3339(kron_job_.meta.created));
    }
    const bool is_beyond = !state_.last_handled || period_ > *state_.last_handled;
    const auto since = state_.schedule ? state_.schedule->since : std::nullopt;
    if (since && is_beyond && due < *since) {
      return verdict(PeriodFate::not_counted,
                     "it does not count: it was due before the schedule was changed at " + rfc3339(*since));
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Verdict> suspended() const {
    if (!kron_job_.suspended) return std::nullopt;
    return verdict(PeriodFate::suspended,
                   "suspended: nothing is judged; when it is resumed, the latest period that is late starts, if its "
                   "deadline allows it");
  }

  // Nothing has been said of it: what the operator will say.
  [[nodiscard]] Verdict open() const {
    const Decision decision = decide(*kron_job_.job, period_);
    if (decision.due() > now_) {
      if (decision.chosen) return verdict(PeriodFate::ahead, "it will run at " + rfc3339(*decision.chosen));
      const NoTime why = why_no_time(*kron_job_.job, period_);
      return verdict(PeriodFate::ahead, "it will not run: unschedulable (" + std::string(kron::name_of(why.reason)) +
                                            ")" + (why.clause.empty() ? "" : ", " + why.clause));
    }
    return verdict(PeriodFate::due, due_text());
  }

  [[nodiscard]] std::string due_text() const {
    const Condition* error = kron_job_.status.find("SchedulingError");
    const std::string why = error != nullptr && error->is_true ? ": " + error->message : "; is the operator running?";
    const Evaluation evaluation = evaluate(*kron_job_.job, state_, has_active(), Turn::at(now_));
    if (const auto* start = std::get_if<Start>(&evaluation.action);
        start != nullptr && start->period.nominal == period_) {
      return "it is due, and not started yet" + why;
    }
    if (const auto* record = std::get_if<kron::Record>(&evaluation.action);
        record != nullptr && record->period.nominal == period_) {
      const std::string meaning = meaning_of(record->reason, kron_job_);
      return "it is due, and will be recorded as " + outcome_text(record->outcome, kron::name_of(record->reason)) +
             (meaning.empty() ? "" : ", because " + meaning) + why;
    }
    return "it is late, and will be passed over: a later period is due as well";
  }

  [[nodiscard]] bool has_active() const {
    return kron_job_.status.active_count > 0 || std::ranges::any_of(jobs_, [&](const JobView& job) {
             return job.identity == kron_job_.identity && !job.is_finished() && !job.is_at_gate();
           });
  }

  const KronJobView& kron_job_;
  std::span<const JobView> jobs_;
  Instant period_;
  Instant now_;
  JobState state_;
  std::string name_;
};

}  // namespace

std::string_view name_of(PeriodFate fate) { return kFates[static_cast<std::size_t>(fate)]; }

Verdict verdict_of(const KronJobView& kron_job, std::span<const JobView> jobs, Instant period, Instant now) {
  return Judge(kron_job, jobs, period, now).run();
}

}  // namespace kron::kronjobs
