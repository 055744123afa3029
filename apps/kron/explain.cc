#include <cstdio>

#include "asked_period.h"
#include "flag_values.h"
#include "kron/base/rfc3339.h"
#include "kron/forecast/explanation.h"
#include "kron/forecast/log_line.h"
#include "kron/forecast/upcoming.h"
#include "krond_jobs.h"
#include "lines.h"
#include "verbs.h"

namespace kron::cli {
namespace {

void print(const ExplainOptions& options, const Explanation& explanation) {
  const std::string text = options.json ? json_of(explanation) + "\n" : text_of(explanation);
  std::fputs(text.c_str(), stdout);
  const ScreenTimes times = screen_times(options.times);
  const auto& chosen = explanation.decision.chosen;
  if (!options.json && times.is_for_people() && chosen) {
    std::printf("%-14s%s\n", "your clock", times.near(*chosen).c_str());
  }
}

int explain_job(const ExplainOptions& options) {
  const Result<Instant> now = time_flag(options.now, "--now");
  if (!now) return refuse("explain", now.error(), options.json);
  ZoneDatabase zones;
  const Result<ReadJobs> jobs = jobs_asked_for(as_read_at(options.files, *now), options.krond, options.job, zones);
  if (!jobs) return refuse("explain", jobs.error(), options.json);
  const ReadJobs& read = *jobs;
  show_errors(read);
  const Result<const jobs::JobDefinition*> found = job_named(read.jobs, options.job);
  if (!found) return std::max(refuse("explain", found.error(), options.json), read.status());
  const Job& job = (*found)->job;
  const Result<Instant> nominal = period_asked_for({options.period, options.at}, job, *now);
  if (!nominal) return refuse("explain", nominal.error(), options.json);
  Explanation explanation = explain(**found, *nominal, *now);
  if (options.files.paths.empty()) {
    const Result<KrondTerms> terms = terms_of_krond(options.krond);
    if (!terms) return refuse("explain", terms.error(), options.json);
    // A task takes no slot of the host.
    explanation.krond = {.catch_up_spread = terms->catch_up_spread,
                         .max_running = jobs::submits_task(**found) ? 0 : terms->max_running};
  }
  print(options, explanation);
  return read.status();
}

int explain_log_line(const ExplainOptions& options) {
  ZoneDatabase zones;
  const Result<LoggedDecision> logged = read_log_line(options.log_line, zones);
  if (!logged) return refuse("explain", logged.error(), options.json);
  const Explanation explanation = explain_decision(logged->request.job, logged->request.nominal);
  print(options, explanation);
  const Decision& decision = explanation.decision;
  const std::string chosen = decision.chosen ? rfc3339(*decision.chosen) : "";
  const bool agrees = (logged->chosen_time.empty() || logged->chosen_time == chosen) &&
                      (logged->seed_hash.empty() || logged->seed_hash == hex(decision.seed_hash));
  if (agrees) return 0;
  std::fprintf(stderr, "kron explain: the line says %s with seed %s, which this request does not give\n",
               logged->chosen_time.c_str(), logged->seed_hash.c_str());
  return exit_status(Code::invalid);
}

}  // namespace

Result<Instant> period_asked_for(const PeriodFlags& flags, const Job& job, Instant now) {
  if (!flags.period.empty()) {
    const Result<Instant> nominal = time_flag(flags.period, "--period");
    return nominal ? known_period(job, *nominal) : nominal;
  }
  if (!flags.at.empty()) {
    const Result<Instant> at = time_flag(flags.at, "--at");
    return at ? period_at(job, *at) : at;
  }
  Result<Upcoming> upcoming = Upcoming::of(job, now);
  if (!upcoming) return fail(upcoming.error());
  if (const std::optional<Decision> next = upcoming->next()) return next->nominal;
  return fail(Code::not_found, "the schedule has no time after " + rfc3339(now) + "; ask for one with --at");
}

int explain_period(const ExplainOptions& options) {
  return options.log_line.empty() ? explain_job(options) : explain_log_line(options);
}

}  // namespace kron::cli
