#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "next_times.h"
#include "shared_flags.h"
#include "verb_table.h"
#include "verbs.h"

namespace kron::cli {
namespace {

std::function<int()> set_up_decide(CLI::App&) { return decide_lines; }

std::function<int()> set_up_evaluate(CLI::App&) { return evaluate_lines; }

// Flags that several verbs share, spelled the same in each.
void add_files(CLI::App& verb, const char* name, SourceOptions& files) {
  verb.add_option(name, files.paths, "Job files, or directories of them; - is standard input")->type_name("PATH");
}

// Without files, krond is asked.
void add_krond(CLI::App& verb, const char* files, DaemonOptions& krond) {
  add_krond_place(verb, krond);
  for (const char* flag : {"--socket", "--state-dir", "--url"}) verb.get_option(flag)->excludes(verb.get_option(files));
}

void add_source(CLI::App& verb, SourceOptions& files) {
  verb.add_option("--source", files.source, "Format of the files (default: by their names)")
      ->check(CLI::IsMember({"kron", "yaml", "cron", "cronken"}));
  verb.add_flag("--user-column", files.user_column, "Crontabs have a user column (default: by their names)");
}

std::function<int()> set_up_next(CLI::App& verb) {
  const auto options = std::make_shared<NextOptions>();
  const auto batch = std::make_shared<bool>(false);
  auto* job = verb.add_option("JOB", options->job, "A job of the files; without files, of krond");
  auto* all =
      verb.add_flag("--all", options->all, "All jobs of the files, in order of time; without files, all of krond");
  add_files(verb, "--file", options->files);
  add_source(verb, options->files);
  add_krond(verb, "--file", options->krond);
  verb.add_option("--from", options->from, "Start at this time (default: now)")->type_name("TIME");
  auto* count = verb.add_option("--count", options->count, "How many")
                    ->type_name("N")
                    ->check(CLI::Range(0, static_cast<int>(kMostTimes)))
                    ->capture_default_str();
  auto* length =
      verb.add_option("--for", options->duration, "All periods of jobs within this time")->type_name("DURATION");
  verb.add_option_function<std::string>(
          "--format",
          [options](const std::string& format) {
            options->json = format == "json";
            options->ics = format == "ics";
          },
          "Output format (default: text); ics is a calendar of jobs, of 30 days without --for")
      ->check(CLI::IsMember({"text", "json", "ics"}));
  add_times(verb, options->times);
  auto* cron = verb.add_option("--cron", options->cron, "A cron expression instead of a job")->type_name("EXPR");
  verb.add_option("--tz", options->zone, "Its IANA time zone")->type_name("ZONE")->capture_default_str();
  verb.add_option("--identity", options->identity, "Job name, for the value of H")->type_name("ID");
  verb.add_option("--dst", options->dst, "gap=run|skip,overlap=first|second|both (default: by the expression)")
      ->type_name("RULE");
  auto* lines = verb.add_flag("--batch", *batch, "Read JSON requests from standard input, one per line");
  lines->excludes(cron)->excludes(job)->excludes(all);
  cron->excludes(job)->excludes(all)->excludes(length);
  all->excludes(job);
  length->excludes(count);
  verb.final_callback([options, cron, job, batch, count] {
    const bool of_files = options->all || job->count() != 0;
    if (options->ics && !of_files) throw CLI::ValidationError("--format", "ics is for JOB and --all");
    if (options->ics && count->count() != 0) throw CLI::ValidationError("--count", "a calendar takes --for");
    if (!*batch && cron->count() == 0 && !of_files) throw CLI::RequiredError("JOB, --all, --cron or --batch");
  });
  return [options, batch, cron] {
    if (*batch) return next_batch();
    return cron->count() != 0 ? next(*options) : next_jobs(*options);
  };
}

std::function<int()> set_up_lint(CLI::App& verb) {
  const auto options = std::make_shared<LintVerbOptions>();
  add_files(verb, "PATH", options->files);
  add_source(verb, options->files);
  auto* paths = verb.get_option("PATH");
  auto* of_krond = verb.add_flag("--krond", options->of_krond,
                                 "The jobs that krond has, instead of files, by how long their runs usually take");
  of_krond->excludes(paths);
  add_krond(verb, "PATH", options->krond);
  for (const char* flag : {"--socket", "--state-dir", "--url"}) verb.get_option(flag)->needs(of_krond);
  verb.add_option("--max-running", options->max_running,
                  "So many runs may be active at once (default: with --krond as it says, else any number)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  verb.final_callback([paths, of_krond] {
    if (paths->count() == 0 && of_krond->count() == 0) throw CLI::RequiredError("PATH or --krond");
  });
  verb.add_option("--now", options->now, "Look forward from this time (default: now)")->type_name("TIME");
  verb.add_flag("-q,--quiet", options->quiet, "Show errors only; warnings are still counted");
  verb.add_option("--notify-file", options->notify_file, "Destinations that jobs may name (default: krond's)")
      ->type_name("FILE");
  add_format(verb, options->json);
  return [options] { return lint(*options); };
}

std::function<int()> set_up_explain(CLI::App& verb) {
  const auto options = std::make_shared<ExplainOptions>();
  auto* job = verb.add_option("JOB", options->job, "A job of the files; without files, of krond");
  add_files(verb, "--file", options->files);
  add_source(verb, options->files);
  add_krond(verb, "--file", options->krond);
  auto* at = verb.add_option("--at", options->at, "The period that this time belongs to")->type_name("TIME");
  auto* period = verb.add_option("--period", options->period, "The period of this id")->type_name("ID");
  verb.add_option("--now", options->now, "Evaluate the job's policy at this time (default: now)")->type_name("TIME");
  auto* line =
      verb.add_option("--log-line", options->log_line, "The decision in a line of krond's log")->type_name("LINE");
  add_format(verb, options->json);
  add_times(verb, options->times);
  at->excludes(period);
  line->excludes(job)->excludes(at)->excludes(period);
  verb.final_callback([job, line] {
    if (line->count() == 0 && job->count() == 0) throw CLI::RequiredError("JOB or --log-line");
  });
  return [options] { return explain_period(*options); };
}

std::function<int()> set_up_convert(CLI::App& verb) {
  const auto options = std::make_shared<ConvertOptions>();
  add_files(verb, "PATH", options->files);
  verb.get_option("PATH")->required();
  add_source(verb, options->files);
  verb.add_option("--to", options->to, "The format to write")->check(CLI::IsMember({"kron", "yaml"}))->required();
  return [options] { return convert(*options); };
}

std::function<int()> set_up_import(CLI::App& verb) {
  const auto options = std::make_shared<ImportOptions>();
  auto* kind = verb.add_option("KIND", options->kind,
                               "crontab, timers (of systemd), cronicle, dkron, or cronjob (of Kubernetes)");
  kind->check(CLI::IsMember({"crontab", "cronicle", "cronjob", "dkron", "timers"}))->required();
  auto* file = verb.add_option("FILE,-f,--file", options->file, "What to import; - is standard input")
                   ->type_name("PATH")
                   ->capture_default_str();
  auto* system = verb.add_flag("--system", options->system, "The crontabs of this machine");
  verb.add_flag("--user-column", options->user_column, "The crontab has a user column, whatever its name")
      ->excludes(system);
  verb.add_flag("--readable-names", options->readable_names, "Name the jobs after their commands");
  verb.add_option("--to", options->to, "Format of the job files that are written")
      ->check(CLI::IsMember({"kron", "yaml"}))
      ->capture_default_str();
  system->excludes(file);
  auto* from =
      verb.add_option("--from", options->from, "Timers: read what systemctl show printed, instead of asking it")
          ->type_name("PATH");
  auto* all = verb.add_flag("--all", options->all, "Timers: also those that are not active, as suspended jobs");
  const auto keeps = std::make_shared<bool>(false);
  auto* keep = verb.add_flag("--keep-unit,!--no-keep-unit", *keeps,
                             "Timers: jobs start the service, and keep its sandbox (default: where it has one)");
  verb.final_callback([options, file, from, all, keep, keeps] {
    const bool is_timers = options->kind == "timers";
    if (keep->count() != 0) options->keep_unit = *keeps;
    for (const CLI::Option* option : {from, all, keep}) {
      if (!is_timers && option->count() != 0) throw CLI::ValidationError(option->get_name(), "is for timers");
    }
    if (is_timers && file->count() != 0) throw CLI::ValidationError("FILE", "timers are read with --from");
  });
  return [options] { return import_jobs(*options); };
}

std::function<int()> set_up_schema(CLI::App&) { return print_schema; }

std::function<int()> set_up_simulate(CLI::App& verb) {
  const auto options = std::make_shared<SimulateOptions>();
  add_files(verb, "PATH", options->files);
  add_source(verb, options->files);
  add_krond(verb, "PATH", options->krond);
  verb.add_option("--from", options->from, "Start of the simulation (default: this minute)")->type_name("TIME");
  verb.add_option("--for", options->length, "How long")->type_name("DURATION")->capture_default_str();
  verb.add_option("--step", options->step, "Width of one histogram bucket")
      ->type_name("DURATION")
      ->capture_default_str();
  verb.add_option("--format", options->format, "Output format; html is one page with a chart that can be zoomed")
      ->check(CLI::IsMember({"text", "json", "html"}))
      ->capture_default_str();
  verb.add_flag("--progress", options->progress, "Show progress even when standard error is not a terminal");
  return [options] { return simulate(*options); };
}

constexpr std::array kAheadVerbs{
    Verb{"decide", "Compute when periods run: JSON requests in, decisions out, one per line",
         "  echo '{\"identity\":\"prod/db-backup\",\"periodStart\":\"2026-03-01T00:00:00Z\",\"window\":\"3h\"}' | kron "
         "decide",
         set_up_decide},
    Verb{"evaluate", "Compute what to do about a job now: job, state and time in, one action out, one per line",
         "  echo '{\"job\":{\"name\":\"backup\",\"schedule\":\"0 0 * * "
         "*\"},\"state\":{},\"now\":\"2026-03-01T00:00:00Z\"}' "
         "| kron evaluate",
         set_up_evaluate},
    Verb{"next", "Show the next periods of a job, or the next times of a cron expression",
         "  kron next db-backup\n"
         "  kron next db-backup --file /etc/krond.d --count 3\n"
         "  kron next --all --for 1h\n"
         "  kron next --all --file jobs.kron --for 24h --format json\n"
         "  kron next --all --for 30d --format ics > jobs.ics\n"
         "  kron next --cron '30 2 * * *' --tz Europe/Paris --count 3\n"
         "  echo '{\"expr\":\"@daily\",\"tz\":\"UTC\",\"from_utc\":\"2026-03-01T00:00:00Z\",\"n\":2}' | kron next "
         "--batch",
         set_up_next},
    Verb{"explain", "Explain why a period runs when it does",
         "  kron explain db-backup\n"
         "  kron explain db-backup --file jobs.kron\n"
         "  kron explain db-backup --file jobs.kron --at 2026-03-01T02:30:00Z --now 2026-03-01T03:00:00Z\n"
         "  kron explain --log-line \"$(journalctl -u krond -o cat | grep db-backup | tail -1)\"",
         set_up_explain},
    Verb{"lint", "Check job files for errors and likely mistakes",
         "  kron lint /etc/krond.d\n"
         "  kron lint --source cron /etc/crontab --format json\n"
         "  kron convert --to yaml jobs.kron | kron lint --source yaml -",
         set_up_lint},
    Verb{"simulate", "Show the load of a set of jobs: starts per minute, before and after spreading",
         "  kron simulate --for 1d\n"
         "  kron simulate /etc/krond.d --from 2026-03-01T00:00:00Z --for 7d\n"
         "  kron simulate jobs.kron --for 1d --step 10s --format html > load.html",
         set_up_simulate},
    Verb{"convert", "Convert job files to another format",
         "  kron convert --to yaml jobs.kron > jobs.yaml\n"
         "  kron convert --to kron fleet.yaml cronken.json",
         set_up_convert},
    Verb{"import",
         "Convert crontabs and systemd timers to job files, and CronJobs of Kubernetes to KronJobs; a report goes to "
         "standard error",
         "  crontab -l | kron import crontab - > mine.yaml\n"
         "  kron import crontab --system --to kron > machine.kron\n"
         "  kron import crontab --user-column --readable-names saved-crontab > jobs.yaml\n"
         "  kron import timers > timers.yaml\n"
         "  systemctl show '*.timer' '*.service' > saved; kron import timers --from saved > timers.yaml\n"
         "  kron import dkron jobs.json > jobs.yaml\n"
         "  kron import cronicle schedule.json > jobs.yaml\n"
         "  kron import cronjob -f cronjob.yaml > kronjob.yaml",
         set_up_import},
    Verb{"schema", "Print the JSON Schema of YAML job files, for editors", "  kron schema > kron-jobs.schema.json",
         set_up_schema},
};

}  // namespace

std::span<const Verb> ahead_verbs() { return kAheadVerbs; }

}  // namespace kron::cli
