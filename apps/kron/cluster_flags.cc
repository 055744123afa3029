#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "cluster_verbs.h"
#include "kron/base/text.h"
#include "kron/queue/redis_queue.h"
#include "shared_flags.h"

namespace kron::cli {
namespace {

using Start = std::function<int()>;

void add_cluster_flags(CLI::App& verb, ClusterOptions& options) {
  add_redis(verb, options,
            "The cluster's Redis: redis://[USER:PASSWORD@]HOST:PORT[/DB], rediss:// or redis+sentinel:// "
            "(default: $KRON_REDIS, else $CRONKEN_REDIS_INFO)");
  add_format(verb, options.json);
  add_times(verb, options.times);
}

void add_key_file(CLI::App& verb, std::string& key_file, const char* summary) {
  verb.add_option("--jobs-hmac-key", key_file, summary)->type_name("PATH");
}

void add_ttl(CLI::App& verb, std::int64_t& ttl) {
  verb.add_option("--ttl", ttl, "Seconds after which the lock of a host that died is free (default: 60)")
      ->type_name("SECONDS")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{31'536'000}));
}

void need_names_or_all(CLI::App& verb, CLI::Option* names, CLI::Option* all) {
  all->excludes(names);
  verb.final_callback([names, all] {
    if (names->count() + all->count() == 0) throw CLI::RequiredError("JOB or --all");
  });
}

template <int (*Run)(const ClusterOptions&)>
Start set_up_cluster_plain(CLI::App& verb) {
  const auto options = std::make_shared<ClusterOptions>();
  add_cluster_flags(verb, *options);
  return [options] { return Run(*options); };
}

Start set_up_cluster_jobs(CLI::App& verb) {
  const auto options = std::make_shared<ClusterJobsOptions>();
  verb.add_option("--prefix", options->prefix, "Only names starting with TEXT")->type_name("TEXT");
  verb.add_option("--match", options->match, "Only names containing TEXT")->type_name("TEXT");
  verb.add_flag("--paused", options->only_paused, "Only paused jobs");
  verb.add_flag("--invalid", options->only_invalid, "Only jobs that no host runs, because of an error");
  verb.add_option("--limit", options->limit, "Show at most N (default: 100)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000'000}));
  add_cluster_flags(verb, *options);
  return [options] { return cluster_jobs(*options); };
}

Start set_up_cluster_runs(CLI::App& verb) {
  const auto options = std::make_shared<ClusterRunsOptions>();
  verb.add_option("--job", options->job, "Only this job")->type_name("JOB");
  verb.add_option("--result", options->result, "Only runs with this result")
      ->check(CLI::IsMember({"running", "success", "fail"}));
  verb.add_option("--limit", options->limit, "Show at most N (default: 100)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}));
  add_cluster_flags(verb, *options);
  return [options] { return cluster_runs(*options); };
}

Start set_up_cluster_logs(CLI::App& verb) {
  const auto options = std::make_shared<ClusterLogsOptions>();
  verb.add_option("NAME", options->name, "The id of a run, or a job: its newest run")->required();
  verb.add_flag("-f,--follow", options->follow, "Keep printing until the run has ended");
  verb.add_option("--tail", options->tail, "Only the last N lines")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000'000}));
  add_cluster_flags(verb, *options);
  return [options] { return cluster_logs(*options); };
}

Start set_up_cluster_add(CLI::App& verb) {
  const auto options = std::make_shared<ClusterAddOptions>();
  verb.add_option("JOB", options->name, "The job's name")->required();
  auto* file = verb.add_option("--file", options->file, "The definition, JSON; - is standard input")->type_name("PATH");
  auto* cron =
      verb.add_option("--cron", options->cron, "Or a schedule of 5 fields, where 0 is Monday")->type_name("EXPR");
  auto* command =
      verb.add_option("--command", options->command, "and a command, which a shell reads,")->type_name("TEXT");
  auto* task = verb.add_option("--task", options->task, "or a type of tasks, of which each period submits one")
                   ->type_name("TYPE");
  verb.add_option("--data", options->data, "With --task: the data of its tasks, JSON (null)")
      ->type_name("JSON")
      ->needs(task);
  auto* lock =
      verb.add_option("--lock", options->lock, "Name of a lock that it shares with others (default: its own name)")
          ->type_name("NAME");
  verb.add_flag("--no-lock", options->no_lock, "Run on every host")->excludes(lock);
  add_ttl(verb, options->ttl);
  verb.add_flag("--replace", options->replace, "Replace a job of that name");
  add_key_file(verb, options->key_file, "Sign it with the key in this file (default: $KRON_JOBS_HMAC_KEY, else no)");
  add_cluster_flags(verb, *options);
  for (CLI::Option* part : {cron, command, task, lock}) part->excludes(file);
  command->needs(cron);
  task->needs(cron)->excludes(command);
  verb.final_callback([file, cron, command, task] {
    if (file->count() > 0) return;
    if (cron->count() == 0 || command->count() + task->count() == 0) {
      throw CLI::RequiredError("--file, or --cron and one of --command and --task");
    }
  });
  return [options] { return cluster_add(*options); };
}

template <int (*Run)(const ClusterSwitchOptions&)>
Start set_up_cluster_switch(CLI::App& verb) {
  const auto options = std::make_shared<ClusterSwitchOptions>();
  auto* names = verb.add_option("JOB", options->names, "Jobs");
  auto* all = verb.add_flag("--all", options->all, "All jobs");
  need_names_or_all(verb, names, all);
  add_note(verb, options->note);
  add_cluster_flags(verb, *options);
  return [options] { return Run(*options); };
}

template <int (*Run)(const ClusterNamesOptions&)>
Start set_up_cluster_signal(CLI::App& verb) {
  const auto options = std::make_shared<ClusterNamesOptions>();
  verb.add_option("RUN", options->names, "Ids of runs")->required();
  add_cluster_flags(verb, *options);
  return [options] { return Run(*options); };
}

Start set_up_cluster_remove(CLI::App& verb) {
  const auto options = std::make_shared<ClusterRemoveOptions>();
  verb.add_option("JOB", options->names, "Jobs")->required();
  verb.add_flag("--prune", options->prune,
                "Also what is known of them: their records and results; a job of that name begins anew then");
  add_cluster_flags(verb, *options);
  return [options] { return cluster_remove(*options); };
}

Start set_up_cluster_validate(CLI::App& verb) {
  const auto options = std::make_shared<ClusterNamesOptions>();
  verb.add_option("JOB", options->names, "Jobs (all)");
  add_cluster_flags(verb, *options);
  return [options] { return cluster_validate(*options); };
}

Start set_up_cluster_drain(CLI::App& verb) {
  const auto options = std::make_shared<ClusterNamesOptions>();
  verb.add_option("HOST", options->names, "Hosts, as `kron cluster status` calls them")->required();
  add_cluster_flags(verb, *options);
  return [options] { return cluster_drain(*options); };
}

Start set_up_cluster_trigger(CLI::App& verb) {
  const auto options = std::make_shared<ClusterTriggerOptions>();
  verb.add_option("JOB", options->name, "The job")->required();
  verb.add_flag("--wait", options->wait, "Wait for the run to finish; exit status 0 on success, 1 otherwise");
  verb.add_option("--timeout", options->timeout, "Stop waiting after this long, with exit status 4 (default: never)")
      ->type_name("DURATION")
      ->needs("--wait");
  verb.add_option("--id", options->id, "Repeating a call with the same id starts no second run (default: a random id)")
      ->type_name("ID");
  add_cluster_flags(verb, *options);
  return [options] { return cluster_trigger(*options); };
}

Start set_up_cluster_import(CLI::App& verb) {
  const auto options = std::make_shared<ClusterImportOptions>();
  verb.add_option("FILE", options->paths, "Job files, or directories of them; - is standard input")->required();
  verb.add_option("--source", options->source, "What the files are, whatever their names")
      ->check(CLI::IsMember({"kron", "yaml", "cron", "cronken"}));
  verb.add_flag("--user-column", options->user_column, "Crontabs have a user column");
  verb.add_flag("--no-lock", options->no_lock, "Run them on every host, instead of once in the cluster");
  add_ttl(verb, options->ttl);
  verb.add_flag("--replace", options->replace, "Replace jobs that are there already");
  verb.add_flag("--yes", options->yes, "Write them; without it, only say what would be written");
  add_key_file(verb, options->key_file, "Sign them with the key in this file (default: $KRON_JOBS_HMAC_KEY, else no)");
  add_cluster_flags(verb, *options);
  return [options] { return cluster_import(*options); };
}

Start set_up_cluster_sign(CLI::App& verb) {
  const auto options = std::make_shared<ClusterSignOptions>();
  auto* names = verb.add_option("JOB", options->names, "Jobs in Redis");
  auto* all = verb.add_flag("--all", options->all, "All jobs in Redis");
  auto* file = verb.add_option("--file", options->file,
                               "Or a file of cronken JSON: prints it with signatures, and asks no Redis")
                   ->type_name("PATH");
  all->excludes(names);
  file->excludes(names);
  file->excludes(all);
  add_key_file(verb, options->key_file, "The file that holds the key (default: $KRON_JOBS_HMAC_KEY)");
  add_cluster_flags(verb, *options);
  verb.final_callback([names, all, file] {
    if (names->count() + all->count() + file->count() == 0) throw CLI::RequiredError("JOB, --all or --file");
  });
  return [options] { return cluster_sign(*options); };
}

Start set_up_cluster_timezone(CLI::App& verb) {
  const auto options = std::make_shared<ClusterTimezoneOptions>();
  verb.add_option("ZONE", options->zone, "The new zone of all jobs that name none (show it)");
  add_cluster_flags(verb, *options);
  return [options] { return cluster_timezone(*options); };
}

Start set_up_cluster_prune(CLI::App& verb) {
  const auto options = std::make_shared<ClusterPruneOptions>();
  verb.add_flag("--yes", options->yes, "Remove it; without it, only say what would go");
  add_cluster_flags(verb, *options);
  return [options] { return cluster_prune(*options); };
}

Start set_up_cluster_limit(CLI::App& verb) {
  const auto options = std::make_shared<ClusterLimitOptions>();
  auto* type = verb.add_option("TYPE", options->type, "A type of tasks (all that have a limit)");
  auto* most = verb.add_option("N", options->most, "Let at most N of it run at a time, over all hosts; 0: none")
                   ->check(CLI::Range(0, kMostRedisLimit));
  verb.add_flag("--remove", options->remove, "Let any number of it run")->needs(type)->excludes(most);
  add_cluster_flags(verb, *options);
  return [options] { return cluster_limit(*options); };
}

struct ClusterVerb {
  const char* name;
  const char* summary;
  const char* examples;
  Start (*set_up)(CLI::App& verb);
};

constexpr ClusterVerb kClusterVerbs[] = {
    {"status", "Show the hosts, jobs and runs of the cluster, and what is wrong with its Redis",
     "  kron cluster status --redis redis://redis.example:6379", set_up_cluster_plain<cluster_status>},
    {"jobs", "List the jobs of the cluster", "  kron cluster jobs --prefix prod/\n  kron cluster jobs --invalid",
     set_up_cluster_jobs},
    {"runs", "List runs of all hosts, those that are going on first, then the newest",
     "  kron cluster runs --job db-backup --result fail", set_up_cluster_runs},
    {"logs", "Show the output of a run, whichever host it is on",
     "  kron cluster logs db-backup --tail 20\n  kron cluster logs -f db-backup", set_up_cluster_logs},
    {"add", "Add a job, or replace it; all hosts learn of it at once",
     "  kron cluster add hello --cron '*/5 * * * *' --command 'echo hello'\n"
     "  kron cluster add reports --cron '0 3 * * *' --task report --data '{\"kind\":\"daily\"}'\n"
     "  kron cluster add db-backup --file backup.json --replace",
     set_up_cluster_add},
    {"remove", "Remove jobs; what is known of them stays",
     "  kron cluster remove hello\n"
     "  kron cluster remove hello --prune",
     set_up_cluster_remove},
    {"pause", "Pause jobs on all hosts", "  kron cluster pause db-backup\n  kron cluster pause --all",
     set_up_cluster_switch<cluster_pause>},
    {"resume", "Resume paused jobs", "  kron cluster resume db-backup", set_up_cluster_switch<cluster_resume>},
    {"trigger", "Run a job now, on one host (without a lock: on each)", "  kron cluster trigger db-backup --wait",
     set_up_cluster_trigger},
    {"terminate", "Send SIGTERM to runs, whichever host they are on", "  kron cluster terminate 0f3c5a...",
     set_up_cluster_signal<cluster_terminate>},
    {"kill", "Send SIGKILL to runs, whichever host they are on", "  kron cluster kill 0f3c5a...",
     set_up_cluster_signal<cluster_kill>},
    {"validate", "Let a host check definitions, and show what it says", "  kron cluster validate db-backup",
     set_up_cluster_validate},
    {"drain", "Let hosts start nothing more, until they are restarted", "  kron cluster drain web-3",
     set_up_cluster_drain},
    {"reload", "Make all hosts read the jobs again", "  kron cluster reload", set_up_cluster_plain<cluster_reload>},
    {"import", "Move jobs of job files, crontabs and cronken's JSON into the cluster",
     "  kron cluster import /etc/krond.d\n  kron cluster import jobs.yaml --yes", set_up_cluster_import},
    {"prune", "Remove what is left of jobs that are gone: records, results, runs",
     "  kron cluster prune\n  kron cluster prune --yes", set_up_cluster_prune},
    {"limit", "Show how many tasks of a type may run at a time, or change it",
     "  kron cluster limit\n  kron cluster limit MAIL 4\n  kron cluster limit MAIL --remove", set_up_cluster_limit},
    {"timezone", "Show the cluster's time zone, or change it",
     "  kron cluster timezone\n  kron cluster timezone Europe/Paris", set_up_cluster_timezone},
    {"sign", "Sign definitions, so that hosts that have the key run them",
     "  kron cluster sign --all --jobs-hmac-key key\n  kron cluster sign --file jobs.json --jobs-hmac-key key",
     set_up_cluster_sign},
};

// CLI11 would only say that a subcommand is required.
int refuse_cluster_verb(const std::vector<std::string>& words) {
  std::array<std::string_view, std::size(kClusterVerbs)> names;
  std::ranges::transform(kClusterVerbs, names.begin(), &ClusterVerb::name);
  const std::string_view near = words.empty() ? "" : nearest_word(words.front(), names);
  const std::string problem = words.empty() ? "no command" : "unknown command " + kron::quoted(words.front());
  const std::string hint = near.empty() ? "see kron cluster --help" : "did you mean " + std::string(near) + "?";
  std::fprintf(stderr, "kron cluster: %s; %s\n", problem.c_str(), hint.c_str());
  return exit_status(Code::unreadable);
}

}  // namespace

Start set_up_cluster(CLI::App& verb) {
  verb.require_subcommand(0, 1);
  const auto chosen = std::make_shared<Start>();
  for (const ClusterVerb& one : kClusterVerbs) {
    CLI::App* command = verb.add_subcommand(one.name, one.summary);
    command->footer(std::string("Examples:\n") + one.examples);
    command->parse_complete_callback([chosen, start = one.set_up(*command)] { *chosen = start; });
  }
  // Words that are no verb are for refuse_cluster_verb. After the verbs, which would allow them, too.
  verb.allow_extras();
  return [chosen, &verb] { return *chosen ? (*chosen)() : refuse_cluster_verb(verb.remaining()); };
}

}  // namespace kron::cli
