#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include "kron/base/duration.h"
#include "kron/daemon/cluster_options.h"
#include "kron/daemon/daemon.h"
#include "kron/env/places.h"
#include "kron/runner/accounts.h"
#include "program.h"
#include "version.h"

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

constexpr char kNoSocket[] = "none";

// Gives the flags of krond to the parser (visit_flags). What a flag says that is no such value is kept until all are
// read.
class FlagReader {
 public:
  FlagReader(CLI::App& app, std::optional<Error>& first_error) : app_(app), first_error_(first_error) {}

  void paths(const char* name, std::vector<std::string>& value, const char* help) {
    app_.add_option(name, value, help)->type_name("PATH")->allow_extra_args(false);
  }
  void text(const char* name, std::string& value, const char* type, const char* help) {
    app_.add_option(name, value, help)->type_name(type);
  }
  void flag(const char* name, bool& value, const char* help) { app_.add_flag(name, value, help); }
  void number(const char* name, std::size_t& value, const char* help) {
    app_.add_option(name, value, help)->type_name("N");
  }
  void seconds(const char* name, Seconds& value, const char* help) {
    read(name, value, help, [](const std::string& text) { return parse_whole_seconds(text); })->type_name("DURATION");
  }
  void offset(const char* name, Nanoseconds& value, const char* help) {
    const auto parse = [](const std::string& text) -> Result<Nanoseconds> {
      Result<Nanoseconds> offset = parse_offset(text);
      if (!offset) return offset;
      if (const Status kept = check_offset(*offset, now(RealClock())); !kept) return fail(kept.error());
      return offset;
    };
    read(name, value, help, parse)->type_name("DURATION");
  }
  void group(const char* name, std::optional<gid_t>& value, const char* help) {
    const auto parse = [](const std::string& text) -> Result<std::optional<gid_t>> {
      if (text.empty()) return std::nullopt;
      const Result<gid_t> found = runner::group_of(text);
      if (!found) return fail(found.error());
      return *found;
    };
    read(name, value, help, parse)->type_name("GROUP");
  }
  template <class Value>
  void choice(const char* name, Value& value, const char* help,
              std::type_identity_t<std::vector<std::pair<std::string, Value>>> choices) {
    program::add_choice(app_, name, value, help, std::move(choices));
  }

 private:
  template <class Value, class Parse>
  CLI::Option* read(const char* name, Value& value, const char* help, Parse parse) {
    const auto take = [&value, &first = first_error_, parse, flag = std::string(name)](const std::string& text) {
      const auto parsed = parse(text);
      if (parsed) {
        value = *parsed;
      } else if (!first) {
        first = Error{Code::unreadable, flag + ": " + parsed.error().message};
      }
    };
    return app_.add_option_function<std::string>(name, take, help);
  }

  CLI::App& app_;
  std::optional<Error>& first_error_;
};

using ClusterTexts = std::map<std::string, std::string>;  // by the names of the flags that were given

void add_cluster_flags(CLI::App& app, ClusterTexts& texts) {
  for (const ClusterSetting& setting : cluster_settings()) {
    const std::string name(setting.flag);
    const std::string help(setting.help);
    CLI::Option* option = nullptr;
    if (setting.value.empty()) {
      option = app.add_flag_callback(
          "--" + name, [&texts, name] { texts[name] = "true"; }, help);
    } else {
      option = app.add_option_function<std::string>(
          "--" + name, [&texts, name](const std::string& value) { texts[name] = value; }, help);
      option->type_name(std::string(setting.value));
    }
    option->group("Cluster");
  }
}

Status complete_cluster(Options& options, const ClusterTexts& texts) {
  auto cluster = cluster_options(texts, process_variables());
  if (!cluster) return fail(cluster.error());
  options.cluster = *std::move(cluster);
  if (!options.cluster) return {};
  if (!options.config.empty() || options.source) {
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
  if (options.catch_up_spread > Seconds(0)) {
    return fail(Code::unreadable,
                "--catch-up-spread is for job files: the hosts of a cluster find a period late at different times, and "
                "would each spread it anew; leave it out, or leave out --redis");
  }
  if (options.cluster->tasks_in_files && !options.notify_file.empty()) {
    return fail(Code::unreadable,
                "--notify-file: with --tasks file (KRON_TASKS) each host of the cluster has tasks of its own, and each "
                "would send the message that one of them shall send; leave out --tasks file, so that all share the "
                "tasks in Redis, or leave out --notify-file");
  }
  return {};
}

// Where krond serves the machine and its package made the group, the front has only to be started. Without the group
// the socket is krond's own user's.
void complete_web_socket(Options& options) {
  constexpr char kWebGroup[] = "krond-web";
  const Result<gid_t> group = runner::group_of(kWebGroup);
  const bool is_root = ::geteuid() == 0;
  const bool is_usual = options.socket == "/run/krond/krond.sock" && is_root && group;
  if (options.web_socket.empty() && (is_usual || (!options.web.empty() && is_root))) {
    options.web_socket = "/run/krond/web.sock";
  }
  if (options.web_socket.empty() && !options.web.empty()) options.web_socket = options.state_directory + "/web.sock";
  if (options.web_socket.empty() || options.web_socket == kNoSocket) {
    options.web_socket.clear();
    return;
  }
  options.web_socket = absolute_path(options.web_socket);
  if (!options.web_socket_group && is_root && group) options.web_socket_group = *group;
  // A front of our own is another user, and shall be able to open it.
  constexpr gid_t kNogroup = 65534;
  if (!options.web_socket_group && is_root && !options.web.empty()) options.web_socket_group = kNogroup;
}

// What no flag said, and what depends on where we are.
Status complete(Options& options, const ClusterTexts& texts) {
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
  if (options.notify_file.empty()) {
    // Who has no home has no destinations either.
    options.notify_file = default_notify_file().value_or("");
  }
  if (!options.notify_file.empty()) options.notify_file = absolute_path(options.notify_file);
  for (std::string& path : options.config) path = absolute_path(path);
  options.state_directory = absolute_path(options.state_directory);
  if (options.socket.empty()) options.socket = default_socket(options.state_directory);
  options.socket = options.socket == kNoSocket ? "" : absolute_path(options.socket);
  complete_web_socket(options);
  if (!options.web.empty() && options.web_socket.empty()) {
    return fail(Code::unreadable, "--web needs a --web-socket; leave out `none`");
  }
  return {};
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

int run(int argc, char** argv) {
  CLI::App app("Job scheduler: runs jobs on schedule, at most once per period.", "krond");
  app.set_version_flag("--version", std::string("krond ") + told_version());
  app.footer(kFooter);
  Options options;
  if (::getpid() == 1) options.on_stop = OnStop::terminate;
  std::optional<Error> wrong;
  FlagReader flags(app, wrong);
  visit_flags(flags, options);
  ClusterTexts cluster;
  add_cluster_flags(app, cluster);
  if (const std::optional<int> status = program::read_flags(app, argc, argv)) return *status;
  if (wrong) return end_with(*wrong);
  if (Status completed = complete(options, cluster); !completed) return end_with(completed.error());
  const RealClock clock(options.clock_offset);
  LineLog log(STDERR_FILENO, clock, options.log_format, options.log_level);
  Result<std::unique_ptr<Daemon>> daemon = Daemon::open(std::move(options), clock, log);
  if (!daemon) return end_with(daemon.error(), log);
  const Status ended = (*daemon)->run();
  return ended ? 0 : end_with(ended.error(), log);
}

}  // namespace
}  // namespace kron::daemon

int main(int argc, char** argv) { return kron::program::start("krond", kron::daemon::run, argc, argv); }
