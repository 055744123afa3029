#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "notify_verbs.h"
#include "operate_verbs.h"
#include "shared_flags.h"
#include "state_verbs.h"
#include "token_verbs.h"
#include "verb_table.h"

namespace kron::cli {
namespace {

using Start = std::function<int()>;

void add_time(CLI::App& verb, const char* flag, std::string& time, const char* summary) {
  verb.add_option(flag, time, summary)->type_name("TIME");
}

void add_limit(CLI::App& verb, std::size_t& limit, std::size_t most) {
  verb.add_option("--limit", limit, "Show at most N (default: 100)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, most));
}

template <int (*Run)(const DaemonOptions&)>
Start set_up_plain(CLI::App& verb) {
  const auto options = std::make_shared<DaemonOptions>();
  add_daemon_flags(verb, *options);
  return [options] { return Run(*options); };
}

Start set_up_jobs(CLI::App& verb) {
  const auto options = std::make_shared<JobsOptions>();
  verb.add_option("--prefix", options->prefix, "Only names starting with TEXT")->type_name("TEXT");
  verb.add_option("--match", options->match, "Only names containing TEXT")->type_name("TEXT");
  verb.add_option("--state", options->state, "Only jobs in this state, or whose last run or period ended so")
      ->check(
          CLI::IsMember({"running", "paused", "suspended", "idle", "failed", "missed", "skipped", "unschedulable"}));
  verb.add_option("--sort", options->sort,
                  "name; next: the soonest first; last: the newest first; duration: of the last run, the longest first")
      ->check(CLI::IsMember({"name", "next", "last", "duration"}));
  add_limit(verb, options->limit, 10'000'000);
  verb.add_flag("--all", options->all, "All of them")->excludes("--limit");
  add_daemon_flags(verb, *options);
  verb.add_flag("--names", options->only_names, "Only the names, one per line")->excludes("--format");
  return [options] { return list_jobs(*options); };
}

Start set_up_runs(CLI::App& verb) {
  const auto options = std::make_shared<RunsOptions>();
  verb.add_option("--job", options->job, "Only this job")->type_name("JOB");
  verb.add_option("--prefix", options->prefix, "Only jobs whose names start with TEXT")->type_name("TEXT");
  verb.add_option("--outcome", options->outcome, "Only entries with this outcome")
      ->check(CLI::IsMember({"executed", "skipped", "missed", "unschedulable", "passed over"}));
  verb.add_option("--result", options->result, "Only runs with this result")
      ->check(CLI::IsMember({"running", "succeeded", "failed", "unknown"}));
  add_time(verb, "--from", options->from, "Not before this time");
  add_time(verb, "--to", options->to, "Before this time");
  verb.add_option("--before", options->before, "Only entries listed after the one with this number: the next page")
      ->type_name("NUMBER")
      ->check(CLI::NonNegativeNumber);
  add_limit(verb, options->limit, 10'000'000);
  add_daemon_flags(verb, *options);
  return [options] { return list_runs(*options); };
}

Start set_up_show(CLI::App& verb) {
  const auto options = std::make_shared<NameOptions>();
  verb.add_option("NAME", options->name, "A job, or the id of a run or its beginning")->required();
  add_daemon_flags(verb, *options);
  return [options] { return show_one(*options); };
}

Start set_up_why(CLI::App& verb) {
  const auto options = std::make_shared<WhyOptions>();
  verb.add_option("JOB", options->name, "The job")->required();
  auto* at = verb.add_option("--at", options->at, "The period that this time belongs to, or the run that went on then")
                 ->type_name("TIME");
  verb.add_option("--period", options->period, "The period of this nominal time (default: the last one that was due)")
      ->type_name("TIME")
      ->excludes(at);
  add_daemon_flags(verb, *options);
  return [options] { return show_why(*options); };
}

Start set_up_logs(CLI::App& verb) {
  const auto options = std::make_shared<LogsOptions>();
  verb.add_option("NAME", options->name, "The id of a run or its beginning, or a job: its newest run")->required();
  verb.add_flag("-f,--follow", options->follow, "Keep printing until the run has ended");
  verb.add_option("--tail", options->tail, "Only the last N lines")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000'000}));
  add_daemon_flags(verb, *options);
  return [options] { return show_output(*options); };
}

Start set_up_trigger(CLI::App& verb) {
  const auto options = std::make_shared<TriggerOptions>();
  verb.add_option("JOB", options->name, "The job")->required();
  verb.add_flag("--wait", options->wait, "Wait for the run to finish; exit status 0 on success, 1 otherwise");
  verb.add_option("--timeout", options->timeout, "Stop waiting after this long, with exit status 4 (default: never)")
      ->type_name("DURATION")
      ->needs("--wait");
  verb.add_option("--idempotency-key", options->key,
                  "Repeating a call with the same key starts no second run (default: a random key)")
      ->type_name("KEY")
      ->check([](const std::string& key) { return key.empty() ? "is empty; leave it out for a new key" : ""; });
  add_note(verb, options->note);
  add_daemon_flags(verb, *options);
  return [options] { return trigger_job(*options); };
}

Start set_up_top(CLI::App& verb) {
  const auto options = std::make_shared<DaemonOptions>();
  add_krond_place(verb, *options);
  add_times(verb, options->times);
  return [options] { return show_top(*options); };
}

Start set_up_reload(CLI::App& verb) {
  const auto options = std::make_shared<ReloadOptions>();
  verb.add_flag("--dry-run", options->dry_run, "Read and check the files, say what would change, and change nothing");
  add_daemon_flags(verb, *options);
  return [options] { return reload_jobs(*options); };
}

Start set_up_edit(CLI::App& verb) {
  const auto options = std::make_shared<NameOptions>();
  verb.add_option("NAME", options->name, "A job, or a job file")->required();
  add_socket(verb, options->socket, options->state_dir);
  return [options] { return edit_jobs(*options); };
}

Start set_up_wait(CLI::App& verb) {
  const auto options = std::make_shared<WaitOptions>();
  verb.add_option("RUN", options->name, "The id of a run, or its beginning")->required();
  verb.add_option("--timeout", options->timeout, "Give up after this long with exit status 4 (default: never)")
      ->type_name("DURATION");
  add_daemon_flags(verb, *options);
  return [options] { return wait_for_end(*options); };
}

void add_jobs_to_change(CLI::App& verb, PauseOptions& options) {
  auto* names = verb.add_option("JOB", options.names, "Jobs");
  auto* prefix = verb.add_option("--prefix", options.prefix,
                                 "All jobs whose names start with TEXT, instead of JOB; "
                                 "without --yes they are only listed")
                     ->type_name("TEXT")
                     ->excludes(names);
  verb.add_flag("--yes", options.yes, "Change the jobs of --prefix")->needs(prefix);
  verb.final_callback([names, prefix] {
    if (names->count() + prefix->count() == 0) throw CLI::RequiredError("JOB or --prefix");
  });
}

Start set_up_pause(CLI::App& verb) {
  const auto options = std::make_shared<PauseOptions>();
  add_jobs_to_change(verb, *options);
  auto* until = verb.add_option("--until", options->until, "Pause until this time (default: until it is resumed)")
                    ->type_name("TIME");
  verb.add_option("--for", options->duration, "Pause for this long")->type_name("DURATION")->excludes(until);
  verb.add_flag("--skip-missed", options->skip_missed, "When the pause ends, skip what became due during it");
  add_note(verb, options->note);
  add_daemon_flags(verb, *options);
  return [options] { return pause_jobs(*options); };
}

Start set_up_resume(CLI::App& verb) {
  const auto options = std::make_shared<PauseOptions>();
  add_jobs_to_change(verb, *options);
  verb.add_flag("--skip-missed", options->skip_missed,
                "Record what became due during the pause as skipped, instead of starting the latest");
  add_note(verb, options->note);
  add_daemon_flags(verb, *options);
  return [options] { return resume_jobs(*options); };
}

Start set_up_kill(CLI::App& verb) {
  const auto options = std::make_shared<KillOptions>();
  verb.add_option("RUN", options->name, "The id of a run, or its beginning")->required();
  verb.add_flag("--term", options->gently, "Send SIGTERM, and SIGKILL after the job's grace period");
  add_note(verb, options->note);
  add_daemon_flags(verb, *options);
  return [options] { return kill_run(*options); };
}

Start set_up_events(CLI::App& verb) {
  const auto options = std::make_shared<EventsOptions>();
  verb.add_option("--after", options->after, "Start after the event with this id")->type_name("ID");
  verb.add_option("--limit", options->limit, "Exit after N events (default: never)")->type_name("N");
  add_daemon_flags(verb, *options);
  return [options] { return show_events(*options); };
}

// Of the front for many. It takes --listen too, and more than one.
void add_service_flags(CLI::App& verb, WebOptions& options) {
  ServiceOptions& service = options.service;
  CLI::Option* is_service = verb.add_flag(
      "--service", options.is_service, "Serve many people, who show tokens (kron token), and have no right of its own");
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    return verb.add_option(name, value, help)->type_name(type)->needs(is_service)->group("With --service");
  };
  add("--web-socket", service.web_socket, "PATH", "krond's socket for it (default: /run/krond/web.sock)");
  add("--public-url", service.public_urls, "URL",
      "https://kron.example.org, by which browsers reach it; may be repeated")
      ->allow_extra_args(false);
  add("--tls-cert", service.tls_certificate, "FILE", "Certificate and those between it and its root, as PEM");
  add("--tls-key", service.tls_key, "FILE", "Its key, as PEM; both are read again at HUP, and when they change");
  add("--tls-client-ca", service.tls_client_ca, "FILE",
      "Authorities, as PEM: only who has a certificate of one of them may connect");
  verb.add_flag("--plain-http-behind-proxy", service.plain_http_behind_proxy,
                "Speak plain HTTP, because a proxy on the same host or pod ends TLS; needs --public-url")
      ->needs(is_service)
      ->group("With --service");
}

Start set_up_web(CLI::App& verb) {
  const auto options = std::make_shared<WebOptions>();
  verb.add_option("--listen", options->listen,
                  "Address of this machine to serve on (default: 127.0.0.1:8126, or the next port that is free)")
      ->type_name("ADDRESS");
  verb.add_flag("--no-open", options->no_open, "Print the address, and start no browser");
  verb.add_flag("--admin", options->admin, "Also allow what only administrators may, such as resetting records");
  add_socket(verb, options->socket, options->state_dir);
  add_service_flags(verb, *options);
  return [options] {
    if (!options->listen.empty()) options->service.listen = {options->listen};
    return serve_page(*options);
  };
}

Start set_up_doctor(CLI::App& verb) {
  const auto options = std::make_shared<DoctorOptions>();
  verb.add_option("--config", options->config, "Job files, or directories of them (default: those that krond uses)")
      ->type_name("PATH")
      ->allow_extra_args(false);
  verb.add_option("--helper", options->helper, "Path of kron-exec, if it is not in its installed place")
      ->type_name("PATH");
  add_daemon_flags(verb, *options);
  return [options] { return examine_host(*options); };
}

constexpr std::array kVerbs{
    Verb{"status", "Show krond's health, job count and next run, and what needs attention",
         "  kron status\n  kron status --format json", set_up_plain<show_status>},
    Verb{"jobs", "List jobs with the next and the last run of each",
         "  kron jobs --prefix prod/ --state failed\n  kron jobs --sort duration --limit 10\n  kron jobs --all "
         "--format json",
         set_up_jobs},
    Verb{"top", "Show live what needs you, what runs and what is next", "  kron top", set_up_top},
    Verb{"runs", "List runs, and periods that did not run, newest first",
         "  kron runs --job db-backup --result failed\n"
         "  kron runs --outcome missed --from 2026-03-01T00:00:00Z --format json",
         set_up_runs},
    Verb{"show", "Show all that is known of a job or a run", "  kron show db-backup", set_up_show},
    Verb{"why", "Tell why a job ran, or did not, at a time",
         "  kron why db-backup\n  kron why db-backup --at 2026-03-01T03:20:00Z", set_up_why},
    Verb{"logs", "Show the output of a run", "  kron logs db-backup --tail 20\n  kron logs -f db-backup", set_up_logs},
    Verb{"trigger", "Run a job now, regardless of its schedule", "  kron trigger db-backup --wait", set_up_trigger},
    Verb{"wait", "Wait for a run to finish; exit status 0 when it succeeded",
         "  kron wait 0f3c5a... --timeout 10m || kron logs 0f3c5a...", set_up_wait},
    Verb{"pause", "Pause jobs: no period starts until they are resumed",
         "  kron pause db-backup --for 2h --note 'moving the disks'\n  kron pause --prefix team/ --yes", set_up_pause},
    Verb{"resume", "Resume paused jobs", "  kron resume db-backup\n  kron resume db-backup --skip-missed",
         set_up_resume},
    Verb{"kill", "Kill a run (SIGKILL; --term sends SIGTERM first)", "  kron kill --term 0f3c5a...", set_up_kill},
    Verb{"reload", "Make krond read its job files again", "  kron reload --dry-run && kron reload", set_up_reload},
    Verb{"edit", "Edit the file of a job, check it, and have krond read it",
         "  kron edit db-backup\n  EDITOR=nano kron edit /etc/krond.d/db.kron", set_up_edit},
    Verb{"events", "Stream events as they happen", "  kron events\n  kron events --format json | grep run_ended",
         set_up_events},
    Verb{"web", "Serve krond's page to your browser, as yourself",
         "  kron web\n  ssh -L 8126:127.0.0.1:8126 host kron web --no-open\n"
         "  kron web --service --listen 0.0.0.0:8126 --public-url https://kron.example.org:8126 --tls-cert c.pem "
         "--tls-key k.pem",
         set_up_web},
    Verb{"notify", "Try and list the destinations of notifications: test, list, deliver",
         "  kron notify list\n  kron notify test ops", set_up_notify},
    Verb{"token", "Make, list and revoke tokens, by which others come in: create, list, revoke",
         "  kron token create prometheus --role read\n  kron token list\n  kron token revoke q7zk3m2a", set_up_token},
    Verb{"state", "Show and repair the records of jobs: list, show, reset, prune",
         "  kron state list\n  kron state reset db-backup\n  kron state prune --yes", set_up_state},
    Verb{"doctor", "Check this host for problems, and say what to do about them",
         "  kron doctor\n  kron doctor --format json", set_up_doctor},
};

}  // namespace

std::span<const Verb> operate_verbs() { return kVerbs; }

}  // namespace kron::cli
