#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

#include "completion.h"
#include "kron/base/duration.h"
#include "kron/daemon/cluster_options.h"
#include "kron/daemon/daemon.h"
#include "kron/env/places.h"
#include "kron/jobs/load.h"
#include "kron/runner/accounts.h"

namespace kron::daemon {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  krond --config jobs.kron --state-dir /tmp/kron-state\n"
    "  krond --source cron --config /etc/crontab --config /etc/cron.d\n"
    "  krond --config jobs.kron --state-dir /tmp/drill --clock-offset 36h --once\n"
    "  KRON_REDIS=redis://:secret@db:6379 krond --state-dir /tmp/kron-state\n"
    "\n"
    "Each option of a cluster may stand in the environment: KRON_CLUSTER_COMPAT for --cluster-compat. A flag goes "
    "before "
    "KRON_..., and that before the variables of cronken's server: CRONKEN_REDIS_INFO (host:port,host:port), "
    "CRONKEN_NAMESPACE, CRONKEN_HOST, CRONKEN_JOB_SHELL, CRONKEN_HEARTBEAT_CADENCE, CRONKEN_OUTPUT_CADENCE, "
    "CRONKEN_OUTPUT_BUFFER_SIZE, CRONKEN_MAX_FINALIZED_OUTPUT_LINES, CRONKEN_PERJOB_RESULTS_LIMIT, "
    "CRONKEN_GENERAL_RESULTS_LIMIT.\n"
    "\n"
    "Signals: TERM and INT end it (--on-stop), HUP reads the job files again.\n"
    "Exit status: 0 ended as asked, 2 wrong usage, unreadable input, or a state directory that another krond has or "
    "that fails, 4 refused, 70 an internal error.";

// What the flags hold as text, beside the options that need no reading.
struct FlagTexts {
  std::string source;
  std::string offset = "0s";
  std::string group;
  std::string keeps = "30d";
  std::string keeps_tasks = "30d";
  std::string completion;                      // of this shell, instead of all else
  std::map<std::string, std::string> cluster;  // by the names of the flags that were given
};

constexpr char kNoSocket[] = "none";

// A flag that takes one of a few words.
template <class Value>
void add_choice(CLI::App& app, const char* name, const char* help, Value& value, std::map<std::string, Value> choices) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : choices) words.push_back(word);
  app.add_option_function<std::string>(
         name, [&value, choices = std::move(choices)](const std::string& word) { value = choices.at(word); }, help)
      ->check(CLI::IsMember(words));
}

void add_flags(CLI::App& app, Options& options, FlagTexts& texts) {
  app.add_option(
         "--config", options.config,
         "Job files, or directories of them; may be repeated (default: /etc/krond.d for root, else ~/.config/krond)")
      ->type_name("PATH")
      ->allow_extra_args(false);
  app.add_option("--state-dir", options.state_directory,
                 "State directory (default: /var/lib/krond for root, else ~/.local/state/krond)")
      ->type_name("DIR");
  app.add_option("--source", texts.source, "Format of the files (default: by their names)")
      ->check(CLI::IsMember({"kron", "yaml", "cron", "cronken"}));
  app.add_flag("--once", options.once, "Run what is due now, wait for it, then exit");
  app.add_option("--clock-offset", texts.offset, "Shift krond's clock, for tests and drills: 36h, -5m")
      ->type_name("DURATION");
  add_choice(app, "--log-format", "Format of the log on standard error (default: text)", options.log_format,
             {{"text", LogFormat::text}, {"json", LogFormat::json}});
  add_choice(app, "--log-level", "Minimum severity to log (default: info)", options.log_level,
             {{"debug", LogLevel::debug},
              {"info", LogLevel::info},
              {"warning", LogLevel::warning},
              {"error", LogLevel::error}});
  add_choice(app, "--on-stop", "What to do with active runs at exit (default: leave; as PID 1: terminate)",
             options.on_stop, {{"leave", OnStop::leave}, {"wait", OnStop::wait}, {"terminate", OnStop::terminate}});
  app.add_option("--socket", options.socket,
                 "API socket; `none` disables the API (default: krond.sock in the state directory, for "
                 "/var/lib/krond in /run/krond)")
      ->type_name("PATH");
  app.add_option("--socket-group", texts.group, "Group that may use the socket too (default: none)")
      ->type_name("GROUP");
  add_choice(app, "--socket-group-may", "Permission of that group (default: read)", options.group_operates,
             {{"read", false}, {"operate", true}});
  app.add_option("--keep-runs", texts.keeps, "Retention of ended runs and their output (default: 30d)")
      ->type_name("DURATION");
  app.add_option("--keep-runs-most", options.keeps.most, "Keep at most N ended runs (default: 100000)")->type_name("N");
  app.add_option("--keep-tasks", texts.keeps_tasks, "Retention of finished tasks (default: 30d)")
      ->type_name("DURATION");
  app.add_option("--keep-tasks-most", options.keeps_tasks.most, "Keep at most N finished tasks (default: 1000000)")
      ->type_name("N");
  app.add_option("--helper", options.helper, "Path of kron-exec, if it is not in its installed place")
      ->type_name("PATH");
  // For the build, which installs what it prints.
  app.add_option("--completion", texts.completion, "A script that completes these flags in a shell")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->group("");
}

void add_cluster_flags(CLI::App& app, FlagTexts& texts) {
  for (const ClusterSetting& setting : cluster_settings()) {
    const std::string name(setting.flag);
    const std::string help(setting.help);
    CLI::Option* option = nullptr;
    if (setting.value.empty()) {
      option = app.add_flag_callback(
          "--" + name, [&texts, name] { texts.cluster[name] = "true"; }, help);
    } else {
      option = app.add_option_function<std::string>(
          "--" + name, [&texts, name](const std::string& value) { texts.cluster[name] = value; }, help);
      option->type_name(std::string(setting.value));
    }
    option->group("Cluster");
  }
}

Status complete_socket(Options& options, const FlagTexts& texts) {
  if (options.socket.empty()) options.socket = default_socket(options.state_directory);
  options.socket = options.socket == kNoSocket ? "" : absolute_path(options.socket);
  if (texts.group.empty()) return {};
  const Result<gid_t> group = runner::group_of(texts.group);
  if (!group) return fail(Code::unreadable, "--socket-group: " + group.error().message);
  options.socket_group = *group;
  return {};
}

Status complete_cluster(Options& options, const FlagTexts& texts) {
  auto cluster = cluster_options(texts.cluster, process_variables());
  if (!cluster) return fail(cluster.error());
  options.cluster = *std::move(cluster);
  if (!options.cluster) return {};
  if (!options.config.empty() || !texts.source.empty()) {
    return fail(Code::unreadable,
                "--redis takes the jobs from Redis, so there are no job files beside it: `kron cluster import FILE` "
                "moves them there; leave out --config and --source");
  }
  if (options.once) {
    return fail(
        Code::unreadable,
        "--once is for job files: which host of a cluster runs what is due is not for one of them to say; leave "
        "it out, or leave out --redis");
  }
  return {};
}

// What no flag said, and what depends on where we are.
Status complete(Options& options, const FlagTexts& texts) {
  if (Status cluster = complete_cluster(options, texts); !cluster) return cluster;
  if (options.config.empty() && !options.cluster) {
    Result<std::string> path = default_config();
    if (!path) return fail(path.error());
    options.config.push_back(*std::move(path));
  }
  if (options.state_directory.empty()) {
    Result<std::string> path = default_state_directory();
    if (!path) return fail(path.error());
    options.state_directory = *std::move(path);
  }
  for (std::string& path : options.config) path = absolute_path(path);
  options.state_directory = absolute_path(options.state_directory);
  options.source = jobs::spelling_named(texts.source);
  const Result<Nanoseconds> offset = parse_offset(texts.offset);
  if (!offset) return fail(Code::unreadable, "--clock-offset: " + offset.error().message);
  if (const Status kept = check_offset(*offset, now(RealClock())); !kept) {
    return fail(Code::unreadable, "--clock-offset: " + kept.error().message);
  }
  options.clock_offset = *offset;
  const Result<Seconds> keeps = parse_whole_seconds(texts.keeps);
  if (!keeps) return fail(Code::unreadable, "--keep-runs: " + keeps.error().message);
  options.keeps.age = *keeps;
  const Result<Seconds> keeps_tasks = parse_whole_seconds(texts.keeps_tasks);
  if (!keeps_tasks) return fail(Code::unreadable, "--keep-tasks: " + keeps_tasks.error().message);
  options.keeps_tasks.age = *keeps_tasks;
  return complete_socket(options, texts);
}

// What keeps a daemon from running is, but for a refusal and a bug, an input or a directory that it cannot use.
int status_of(const Error& error) {
  const bool has_own_status = error.code == Code::refused || error.code == Code::internal;
  return exit_status(has_own_status ? error.code : Code::unreadable);
}

int end_with(const Error& error) {
  std::fprintf(stderr, "krond: %s\n", error.message.c_str());
  return status_of(error);
}

// Once there is a log, the last words go its way: nobody may be there to read them, and we end all the same.
int end_with(const Error& error, LineLog& log) {
  log.write_text("krond: " + error.message);
  log.finish();
  return status_of(error);
}

// Whoever starts us may have closed the standard descriptors: a file of ours that took the number 2 would be written to
// as the log.
void secure_standard_descriptors() {
  int descriptor = 0;
  do {
    descriptor = ::open("/dev/null", O_RDWR);
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) ::close(descriptor);
}

// A reader of the log who goes away must not end us, nor a limit of file sizes: both are writes that fail. Commands get
// these signals as the system makes them (runner/spawner.cc).
void make_signals_errors() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int run(int argc, char** argv) {
  secure_standard_descriptors();
  make_signals_errors();
  CLI::App app("Job scheduler: runs jobs on schedule, at most once per period.", "krond");
  app.set_version_flag("--version", "krond " KRON_VERSION);
  app.footer(kFooter);
  Options options;
  if (::getpid() == 1) options.on_stop = OnStop::terminate;
  FlagTexts texts;
  add_flags(app, options, texts);
  add_cluster_flags(app, texts);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_status(Code::unreadable);
  }
  if (!texts.completion.empty()) {
    std::fputs(completion::script(texts.completion, completion::program_of(app)).c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : exit_status(Code::io);
  }
  if (Status completed = complete(options, texts); !completed) return end_with(completed.error());
  const RealClock clock(options.clock_offset);
  LineLog log(STDERR_FILENO, clock, options.log_format, options.log_level);
  Result<std::unique_ptr<Daemon>> daemon = Daemon::open(std::move(options), clock, log);
  if (!daemon) return end_with(daemon.error(), log);
  const Status ended = (*daemon)->run();
  return ended ? 0 : end_with(ended.error(), log);
}

}  // namespace
}  // namespace kron::daemon

int main(int argc, char** argv) {
  try {
    return kron::daemon::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "krond: internal error: %s\n", error.what());
    return kron::exit_status(kron::Code::internal);
  }
}
