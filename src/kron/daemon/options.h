#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/daemon/cluster_options.h"
#include "kron/jobs/definition.h"
#include "kron/log/line_log.h"
#include "kron/log/log_flags.h"
#include "kron/metrics/job_metrics.h"
#include "kron/queue/task_queue.h"
#include "kron/runner/retention.h"

namespace kron::daemon {

// What becomes of the runs when the daemon is told to end.
enum class OnStop : std::uint8_t {
  leave,      // they go on; the next daemon takes them up
  wait,       // it ends when they have ended
  terminate,  // TERM, grace, KILL; it ends when they have ended
};

struct Options {
  std::vector<std::string> config;  // job files and directories of them
  std::string state_directory;
  std::optional<jobs::Spelling> source = {};  // of every file, whatever its name
  bool once = false;                          // do what is due now, see it end, and end
  Nanoseconds clock_offset{0};
  LogFormat log_format = LogFormat::text;
  LogLevel log_level = LogLevel::info;
  OnStop on_stop = OnStop::leave;
  Seconds catch_up_spread{0};   // of jobs whose policy does not say it
  std::size_t max_running = 0;  // runs at once; 0: any number
  std::string helper = {};      // empty: found beside the program
  std::string socket = {};      // of the API; empty: none
  std::optional<gid_t> socket_group = {};
  bool group_operates = false;  // or else it may only look
  std::string web_socket = {};  // where the token in a request counts, not who connected; empty: none
  std::optional<gid_t> web_socket_group = {};
  bool open_metrics = false;                // anybody who comes through the web socket may read them
  std::string web = {};                     // an address: a front is started as a child; empty: none
  std::vector<std::string> web_flags = {};  // of it
  runner::Retention keeps = {};
  TaskRetention keeps_tasks = {};
  std::size_t metrics_jobs = metrics::kUsualJobSeries;  // that have series of their own
  std::string notify_file = {};                         // destinations of notifications
  std::string run_cgroup = {};                          // below which runs get theirs; empty: krond's own
  std::optional<ClusterOptions> cluster = {};           // then there are no job files
};

// The flags of krond, but for those of a cluster: the one list of them, which the program visits with one verb for each
// kind of value. A flag whose kind is known is a member above and a line here.
template <class Visitor>
void visit_flags(Visitor& visit, Options& options) {
  visit.paths("--config", options.config,
              "Job files, or directories of them; may be repeated (default: /etc/krond.d for root, else "
              "~/.config/krond)");
  visit.text("--state-dir", options.state_directory, "DIR",
             "State directory (default: /var/lib/krond for root, else ~/.local/state/krond)");
  visit.choice("--source", options.source, "Format of the files (default: by their names)",
               {{"kron", jobs::Spelling::kron},
                {"yaml", jobs::Spelling::yaml},
                {"cron", jobs::Spelling::crontab},
                {"cronken", jobs::Spelling::cronken}});
  visit.flag("--once", options.once, "Run what is due now, wait for it, then exit");
  visit.offset("--clock-offset", options.clock_offset, "Shift krond's clock, for tests and drills: 36h, -5m");
  visit_log_flags(visit, options.log_format, options.log_level);
  visit.choice("--on-stop", options.on_stop,
               "What to do with active runs at exit (default: leave; as PID 1: terminate)",
               {{"leave", OnStop::leave}, {"wait", OnStop::wait}, {"terminate", OnStop::terminate}});
  visit.seconds("--catch-up-spread", options.catch_up_spread,
                "Spread the starts of late periods, after downtime or a resume, over this long (default: 0s, at once)");
  visit.number(
      "--max-running", options.max_running,
      "Run at most N commands at once; what is due waits, as long as its deadline allows (default: 0, no limit)");
  visit.text("--socket", options.socket, "PATH",
             "API socket; `none` disables the API (default: krond.sock in the state directory, for /var/lib/krond in "
             "/run/krond)");
  visit.group("--socket-group", options.socket_group, "Group that may use the socket too (default: none)");
  visit.choice("--socket-group-may", options.group_operates, "Permission of that group (default: read)",
               {{"read", false}, {"operate", true}});
  visit.text("--web-socket", options.web_socket, "PATH",
             "Socket for kron web as a service, where the token in a request counts; `none`: none (default: web.sock "
             "beside /run/krond/krond.sock, if there is a group krond-web)");
  visit.group("--web-socket-group", options.web_socket_group, "Group that may use it (default: krond-web)");
  visit.flag("--open-metrics", options.open_metrics, "Let anybody who reaches kron web read /metrics, without a token");
  visit.text(
      "--web", options.web, "ADDRESS",
      "Also serve the page and the API here, for tokens: starts `kron web --service` as a child under another user");
  visit.paths("--web-flag", options.web_flags,
              "A further flag of that, as --web-flag=--public-url=https://kron.example.org; may be repeated");
  visit.seconds("--keep-runs", options.keeps.age, "Retention of ended runs and their output (default: 30d)");
  visit.number("--keep-runs-most", options.keeps.most, "Keep at most N ended runs (default: 100000)");
  visit.seconds("--keep-tasks", options.keeps_tasks.age, "Retention of finished tasks (default: 30d)");
  visit.number("--keep-tasks-most", options.keeps_tasks.most, "Keep at most N finished tasks (default: 1000000)");
  visit.number("--metrics-jobs", options.metrics_jobs,
               "Jobs that have metrics of their own, the first by name; 0: none (default: 1000)");
  visit.text("--notify-file", options.notify_file, "FILE",
             "Destinations of notifications (default: /etc/krond-notify.yaml for root, else "
             "~/.config/krond-notify.yaml)");
  visit.text("--run-cgroup", options.run_cgroup, "DIR",
             "Directory of cgroup v2 below which each run gets its own (default: krond's own, if it may be divided)");
  visit.text("--helper", options.helper, "PATH", "Path of kron-exec, if it is not in its installed place");
}

// A duration that may have a sign: `-36h`, `+5m`, `90s`.
Result<Nanoseconds> parse_offset(std::string_view text);

// Refused: one that takes the clock out of the years that schedules know, 1970 to 2199.
Status check_offset(Nanoseconds offset, Instant machine_time);

}  // namespace kron::daemon
