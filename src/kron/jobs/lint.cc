#include "kron/jobs/lint.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/core/allowed_share.h"
#include "kron/core/catch_up.h"
#include "kron/core/state.h"
#include "kron/jobs/cluster_rules.h"
#include "kron/jobs/lint_groups.h"
#include "kron/jobs/lint_pools.h"

namespace kron::jobs {
namespace {

constexpr std::size_t kSampledPeriods = 16;
constexpr double kNotableChance = 0.001;
constexpr Seconds kEveryMinute{60};

std::vector<Instant> coming_periods(const Job& job, Instant now, std::size_t most) {
  std::vector<Instant> periods;
  for (std::optional<Instant> next = job.schedule.next_after(now, job.zone); next && periods.size() < most;
       next = job.schedule.next_after(*next, job.zone)) {
    periods.push_back(*next);
  }
  return periods;
}

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g %%", share * 100);
  return text.data();
}

class Linter {
 public:
  explicit Linter(const LintOptions& options) : options_(options), pools_(options.max_running, options.usual) {}

  void look_at(const JobDefinition& definition);
  void look_for_herds();
  void say_of_groups();
  std::vector<Problem> problems;

 private:
  struct Herd {
    std::size_t count = 0;
    const JobDefinition* first = nullptr;
    std::string names;
  };

  void say(Severity severity, const JobDefinition& at, std::string_view field, std::string message, std::string cure) {
    problems.push_back({severity,
                        *at.file,
                        {at.line, 1},
                        std::string(field),
                        quoted(at.job.identity, 80) + ": " + std::move(message),
                        std::move(cure),
                        {},
                        0});
  }
  void look_at_window(const JobDefinition& definition, std::span<const Instant> periods);
  void look_at_constraints(const JobDefinition& definition, std::span<const Instant> periods);
  void look_at_deadline(const JobDefinition& definition, std::span<const Instant> periods);
  void look_at_cluster(const JobDefinition& definition);
  void look_at_failures(const JobDefinition& definition);
  void look_at_retries(const JobDefinition& definition);
  void look_at_secrets(const JobDefinition& definition);

  const LintOptions& options_;
  std::map<Instant, Herd> herds_;
  std::map<std::string_view, JobGroup> checks_;  // by the URL of ping
  ClockChanges clock_changes_;
  CostlyDeadlines costly_deadlines_;
  PoolLoads pools_;
};

void Linter::look_at(const JobDefinition& definition) {
  const Job& job = definition.job;
  if (definition.options->terms) look_at_cluster(definition);
  look_at_failures(definition);
  look_at_retries(definition);
  if (!definition.options->ping.empty()) checks_[definition.options->ping].add(definition);
  look_at_secrets(definition);
  pools_.add(definition);
  if (job.schedule.kind == Schedule::Kind::reboot) return;
  const bool is_plain = job.window.duration.count() == 0 && job.constraints.empty();
  const std::vector<Instant> periods = coming_periods(job, options_.now, is_plain ? 2 : kSampledPeriods);
  if (periods.empty()) {
    return say(Severity::warning, definition, "schedule", "the schedule has no time after " + rfc3339(options_.now),
               "it will never run again; remove it or change its years");
  }
  look_at_window(definition, periods);
  look_at_constraints(definition, periods);
  look_at_deadline(definition, periods);
  clock_changes_.add(definition, options_.now);
  costly_deadlines_.add(definition, options_.now);
  if (job.window.duration.count() != 0) return;
  constexpr std::size_t kNamesShown = 3;
  Herd& herd = herds_[periods.front()];
  if (herd.first == nullptr) herd.first = &definition;
  if (herd.count++ < kNamesShown) herd.names += (herd.names.empty() ? "" : ", ") + job.identity;
}

void Linter::look_at_window(const JobDefinition& definition, std::span<const Instant> periods) {
  const Job& job = definition.job;
  const auto length = std::chrono::duration_cast<Seconds>(job.window.duration);
  if (length.count() == 0 || periods.size() < 2) return;
  Seconds shortest = Seconds::max();
  std::uint64_t most_open = 0;
  for (std::size_t i = 1; i < periods.size(); ++i) {
    shortest = std::min(shortest, periods[i] - periods[i - 1]);
    const Instant since = std::max(periods[i] - length, kFirstInstant);
    most_open = std::max(most_open, job.schedule.count_between(since, periods[i], job.zone));
  }
  if (length <= shortest) return;
  const std::string facts = "the window of " + duration_text(job.window.duration) + " is longer than the " +
                            duration_text(shortest) + " between periods: up to " + std::to_string(most_open) +
                            " periods are open at once";
  say(Severity::warning, definition, "window", facts + ", and their runs can come out of order",
      "a window of at most " + duration_text(shortest) + " keeps them apart");
}

void Linter::look_at_constraints(const JobDefinition& definition, std::span<const Instant> periods) {
  const Job& job = definition.job;
  if (job.constraints.empty()) return;
  AllowedShare worst;
  Instant worst_period;
  std::size_t excluded = 0;
  for (const Instant period : periods) {
    if (excluded_by(job, period)) {
      ++excluded;  // a planned day off
      continue;
    }
    const AllowedShare share = allowed_share(job, period);
    if (share.chance_unschedulable > worst.chance_unschedulable) {
      worst = share;
      worst_period = period;
    }
  }
  constexpr std::string_view kCure = "widen the window or the constraints, or schedule where they allow it";
  if (excluded == periods.size()) {
    return say(Severity::warning, definition, "only",
               "none of the next " + std::to_string(periods.size()) + " periods has an allowed time in its window (" +
                   *excluded_by(job, periods.front()) + ")",
               std::string(kCure));
  }
  if (worst.chance_unschedulable <= kNotableChance) return;
  say(Severity::warning, definition, "only",
      "only " + percent(worst.share) + " of the window of " + rfc3339(worst_period) +
          " is allowed, so with a chance of " + percent(worst.chance_unschedulable) + " it gets no time",
      std::string(kCure));
}

void Linter::look_at_deadline(const JobDefinition& definition, std::span<const Instant> periods) {
  const Job& job = definition.job;
  if (job.policy.catch_up_spread.value_or(Seconds(0)) > Seconds(0) && job.policy.deadline <= kFoundLate) {
    say(Severity::warning, definition, "policy.catchUpSpread",
        "with a deadline of " + duration_text(job.policy.deadline) +
            " nothing is left to spread: what is found more than " + duration_text(kFoundLate) + " late is missed",
        "allow a late start with a deadline, such as 1h");
  }
  if (job.window.duration.count() != 0 || job.policy.deadline.count() != 0 || periods.size() < 2) return;
  if (periods[1] - periods[0] > kEveryMinute) return;
  say(Severity::warning, definition, "policy.deadline",
      "it runs every " + duration_text(periods[1] - periods[0]) +
          " with a deadline of 0s: a start that is a second late "
          "is missed",
      "allow for load with a deadline such as 10s");
}

void Linter::look_at_failures(const JobDefinition& definition) {
  const ProcessSettings& settings = definition.options->process;
  if (!settings.success_exit) return;
  if (settings.fails_on == FailsOn::nothing) {
    say(Severity::warning, definition, "success_exit", "with fails_on=nothing every exit code is fine",
        "remove one of the two");
  } else if (!settings.success_exit->has(0)) {
    say(Severity::warning, definition, "success_exit", "0 is not among the exit codes that are fine",
        "add it, unless a run that exits with 0 is to count as failed");
  }
}

void Linter::look_at_retries(const JobDefinition& definition) {
  const RunOptions& options = *definition.options;
  const std::uint32_t retries = options.process.retry.value_or(0);
  if (retries == 0) {
    if (!options.process.backoff) return;
    return say(Severity::warning, definition, "backoff", "there is no retry to wait for",
               "say how often a command that failed is tried again, such as retry=3");
  }
  if (options.process.fails_on == FailsOn::nothing) {
    say(Severity::warning, definition, "retry",
        "with fails_on=nothing only a command that cannot be executed fails, and no other is tried again",
        "name the exit codes that are fine instead, such as success_exit=0,2");
  }
  Seconds waits{0};
  for (std::uint32_t attempt = 1; attempt <= retries; ++attempt) {
    waits += Seconds(backoff_after(attempt, options.process.backoff.value_or(kUsualBackoff)));
  }
  if (options.timeout.count() == 0 || options.timeout > waits) return;
  say(Severity::warning, definition, "timeout",
      "the timeout of " + duration_text(options.timeout) + " bounds all attempts together, and the waits between its " +
          std::to_string(retries + 1) + " attempts alone take " + duration_text(waits) + ": the last are never made",
      "allow for them in the timeout, or take fewer retries or a shorter backoff");
}

void Linter::look_at_secrets(const JobDefinition& definition) {
  const RunOptions& options = *definition.options;
  if (!options.secrets.mask_output) return;
  if (options.secrets.empty()) {
    return say(Severity::warning, definition, "mask_output", "there is nothing to mask: the job has no secrets",
               "name the files that they are in, as env_file or credential");
  }
  for (const auto& [key, place] : {std::pair{"stdout", &options.out}, std::pair{"stderr", &options.err}}) {
    if (place->empty() || *place == "discard" || *place == "syslog") continue;
    say(Severity::warning, definition, key, "what goes to " + std::string(key) + "=" + *place + " is not masked",
        "capture it, or send it to syslog");
  }
}

// Definitions of cronken are for a cluster, whichever way they come.
void Linter::look_at_cluster(const JobDefinition& definition) {
  for (const Error& error : refused_in_cluster(definition)) {
    say(Severity::error, definition, error.field, "a cluster refuses this job: " + error.message, {});
  }
  for (const ClusterAdvice& advice : advice_for_cluster(definition)) {
    say(Severity::warning, definition, advice.field, advice.message, advice.cure);
  }
  if (options_.notes && !definition.options->secrets.empty()) {
    say(Severity::note, definition, "kron", "each host that may run it must have the files that it names", {});
  }
  const std::optional<std::string> weekdays = weekdays_in_words(definition.job.schedule);
  if (!weekdays || !options_.notes) return;
  say(Severity::note, definition, "cron_args.day_of_week", "it runs on " + *weekdays + ": in cron_args 0 is Monday",
      {});
}

void Linter::say_of_groups() {
  clock_changes_.say(problems);
  costly_deadlines_.say(problems, options_.notes);
  for (const auto& [url, jobs] : checks_) {
    if (jobs.size() < 2) continue;
    problems.push_back(jobs.problem(Severity::warning, "ping",
                                    "ping the same check, and one that is well hides another that is not",
                                    "give each job a check of its own"));
  }
  pools_.say(problems, options_.now, options_.notes);
}

void Linter::look_for_herds() {
  for (const auto& [at, herd] : herds_) {
    if (herd.count < options_.herd) continue;
    problems.push_back({Severity::warning,
                        *herd.first->file,
                        {herd.first->line, 1},
                        "window",
                        std::to_string(herd.count) + " jobs without a window start together at " + rfc3339(at) + " (" +
                            herd.names + " …)",
                        "give them a window, so that they spread: @win(after,5m)",
                        {},
                        0});
  }
}

}  // namespace

std::vector<Problem> lint(std::span<const JobDefinition> definitions, const LintOptions& options) {
  Linter linter(options);
  for (const JobDefinition& definition : definitions) linter.look_at(definition);
  linter.look_for_herds();
  linter.say_of_groups();
  return std::move(linter.problems);
}

}  // namespace kron::jobs
