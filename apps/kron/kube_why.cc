#include <algorithm>
#include <cstdio>
#include <utility>

#include "answer_text.h"
#include "flag_values.h"
#include "kron/base/rfc3339.h"
#include "kron/operator/status.h"
#include "kron/report/why.h"
#include "kube_objects.h"
#include "kube_verbs.h"
#include "lines.h"
#include "why_text.h"

namespace kron::cli {
namespace {

using kronjobs::JobView;
using kronjobs::KronJobView;
using kronjobs::PeriodNote;

constexpr std::string_view kKubeWhy = "kube why";

// What no object of a cluster tells.
constexpr std::string_view kNotKept =
    "a KronJob tells the last 10 periods; when an operator was up, and who suspended it, is written nowhere";

const JobView* job_of(const std::vector<JobView>& jobs, const KronJobView& kron_job, Instant period) {
  const auto found = std::ranges::find_if(
      jobs, [&](const JobView& job) { return job.identity == kron_job.identity && job.period == period; });
  return found == jobs.end() ? nullptr : &*found;
}

// How the Job ended, in the words of Kubernetes: it has no exit code.
void tell_end(history::Entry& entry, const JobView* job) {
  if (job == nullptr) {
    entry.detail = "the Job is gone, and how it ended with it";
    return;
  }
  entry.run_id = job->meta.name;
  entry.ended_at = job->ended_at;
  if (job->end == JobView::End::complete) entry.detail = "the Job completed";
  if (job->end == JobView::End::failed) entry.detail = "the Job failed";
}

// What the status has recorded of a period, as an entry of a run history.
history::Entry entry_of_note(const KronJobView& kron_job, const std::vector<JobView>& jobs, const PeriodNote& note) {
  history::Entry entry{.job = kron_job.identity, .outcome = note.outcome, .period = note.period, .chosen = note.chosen};
  entry.reason = parse_reason(note.reason).value_or(Reason::none);
  if (note.outcome == Outcome::executed) {
    entry.run_id = note.job_name;
    entry.started_at = note.at;
    tell_end(entry, job_of(jobs, kron_job, note.period));
  } else {
    entry.ended_at = note.at;
    const kronjobs::Condition* error = kron_job.status.find("SchedulingError");
    if (entry.reason == Reason::start_failed && error != nullptr && error->is_true) entry.detail = error->message;
  }
  return entry;
}

bool is_running(const KronJobView& kron_job, const JobView& job) {
  return job.identity == kron_job.identity && !job.is_finished() && !job.is_at_gate();
}

// A Job whose period the status does not tell any more, or not yet.
bool is_told_by_job(const KronJobView& kron_job, const JobView& job) {
  if (job.identity != kron_job.identity || !job.is_finished()) return false;
  return !job.period ||
         std::ranges::find(kron_job.status.recent, *job.period, &PeriodNote::period) == kron_job.status.recent.end();
}

std::string why_nothing_starts(const KronJobView& kron_job) {
  if (!kron_job.status_problem.empty()) return kron_job.status_problem;
  if (!kron_job.status.observed_generation) return "no operator has looked at this KronJob yet; is one running?";
  const kronjobs::Condition* error = kron_job.status.find("SchedulingError");
  if (error != nullptr && error->is_true) return error->message;
  if (kron_job.status.waiting) {
    return "the period " + rfc3339(kron_job.status.waiting->period) + " waits since " +
           rfc3339(kron_job.status.waiting->since) + " for the runs that it replaces to end";
  }
  return {};
}

report::WhyFacts facts_of(const KronJobView& kron_job, const std::vector<JobView>& jobs, Instant now) {
  report::WhyFacts facts{
      .is_kron_job = true, .job = *kron_job.job, .state = kronjobs::known_state(kron_job), .now = now};
  facts.job.policy.suspend = kron_job.suspended;
  facts.not_started = why_nothing_starts(kron_job);
  for (const PeriodNote& note : kron_job.status.recent) {
    if (note.outcome) facts.entries.push_back(entry_of_note(kron_job, jobs, note));
  }
  for (const JobView& job : jobs) {
    if (is_told_by_job(kron_job, job)) {
      history::Entry entry{.job = kron_job.identity,
                           .outcome = Outcome::executed,
                           .trigger = job.period ? Trigger::schedule : Trigger::manual,
                           .period = job.period,
                           .chosen = job.chosen,
                           .started_at = job.meta.created};
      tell_end(entry, &job);
      facts.entries.push_back(std::move(entry));
    } else if (is_running(kron_job, job)) {
      facts.active.push_back({.period = job.period,
                              .chosen = job.chosen,
                              .started_at = job.meta.created,
                              .run_id = job.meta.name,
                              .trigger = job.period ? Trigger::schedule : Trigger::manual});
    }
  }
  for (std::size_t i = 0; i < facts.entries.size(); ++i) facts.entries[i].number = static_cast<std::int64_t>(i) + 1;
  return facts;
}

// Whether something that a cluster does not keep might have led to it.
bool may_have_more_to_it(report::Verdict verdict) {
  using report::Verdict;
  return verdict == Verdict::missed || verdict == Verdict::passed_over || verdict == Verdict::forgotten ||
         verdict == Verdict::suspended || verdict == Verdict::no_period;
}

Result<report::WhyQuestion> question_of(const KubeExplainOptions& options) {
  report::WhyQuestion question;
  for (const auto& [text, flag, time] :
       {std::tuple(&options.at, "--at", &question.at), std::tuple(&options.period, "--period", &question.period)}) {
    if (text->empty()) continue;
    const Result<Instant> asked = time_flag(*text, flag);
    if (!asked) return fail(asked.error());
    *time = *asked;
  }
  return question;
}

// Without the right to read Jobs, the status has to do.
Result<std::vector<JobView>> jobs_if_readable(KubeSession& session, const KubeName& name) {
  auto jobs = list_jobs_of(session, name);
  if (jobs || jobs.error().code != Code::refused) return jobs;
  std::fprintf(stderr, "kron kube why: the Jobs cannot be read, so only the status is told: %s\n",
               jobs.error().message.c_str());
  return std::vector<JobView>();
}

struct SeenKronJob {
  KronJobView kron_job;
  std::vector<JobView> jobs;
};

Result<SeenKronJob> read_asked(const KubeExplainOptions& options) {
  if (const Status good = check_namespace_flag(options.ns); !good) return fail(good.error());
  auto session = KubeSession::open(options);
  if (!session) return fail(session.error());
  const auto name = kube_name(options.name, session->ns());
  if (!name) return fail(name.error());
  const Result<Node> object = read_kron_job(*session, *name);
  if (!object) return fail(object.error());
  ZoneDatabase zones;
  Result<KronJobView> kron_job = kronjobs::view_kron_job(*object, zones);
  if (!kron_job) return fail(kron_job.error());
  if (!kron_job->job) {
    return fail(Code::invalid, name->text() + " cannot be scheduled, so nothing of it runs: " + kron_job->problem);
  }
  auto jobs = jobs_if_readable(*session, *name);
  if (!jobs) return fail(jobs.error());
  return SeenKronJob{*std::move(kron_job), *std::move(jobs)};
}

}  // namespace

int kube_why(const KubeExplainOptions& options) {
  const Result<Instant> now = time_flag(options.now, "--now");
  if (!now) return refuse(kKubeWhy, now.error(), options.json);
  const auto question = question_of(options);
  if (!question) return refuse(kKubeWhy, question.error(), options.json);
  const Result<SeenKronJob> asked = read_asked(options);
  if (!asked) return refuse(kKubeWhy, asked.error(), options.json);
  const report::WhyFacts facts = facts_of(asked->kron_job, asked->jobs, *now);
  const report::WhyAnswer answer = report::why(facts, *question);
  const Instant about = question->period ? *question->period : question->at.value_or(*now);
  const std::string json = report::json_of(answer, facts.job, about, *now);
  if (options.json) {
    std::printf("%s\n", json.c_str());
    return 0;
  }
  print_why(parse_json(json).value(), screen_times(options.times, *now));
  if (may_have_more_to_it(answer.verdict)) print_field("not kept", kNotKept);
  return 0;
}

}  // namespace kron::cli
