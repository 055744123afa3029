#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster_session.h"

namespace CLI {
class App;
}

namespace kron::cli {

// The verbs of `kron cluster`, free of the parsing of flags (cluster_flags.cc). They talk to Redis, not to a krond. All
// return the exit status.
std::function<int()> set_up_cluster(CLI::App& verb);

int cluster_status(const ClusterOptions& options);
int cluster_reload(const ClusterOptions& options);

struct ClusterJobsOptions : ClusterOptions {
  std::string prefix, match;
  bool only_paused = false, only_invalid = false;
  std::size_t limit = 100;
};
int cluster_jobs(const ClusterJobsOptions& options);

struct ClusterRunsOptions : ClusterOptions {
  std::string job, result;  // running, success, fail
  std::size_t limit = 100;
};
int cluster_runs(const ClusterRunsOptions& options);

struct ClusterLogsOptions : ClusterOptions {
  std::string name;  // a run's id, or a job: its newest run
  bool follow = false;
  std::size_t tail = 0;  // so many of the last lines; 0: all
};
int cluster_logs(const ClusterLogsOptions& options);

struct ClusterAddOptions : ClusterOptions {
  std::string name;
  std::string file;                 // a definition as JSON; `-`: standard input
  std::string cron, command, lock;  // or made of these
  std::string task, data;           // instead of a command: the type of a task, and its data as JSON
  bool no_lock = false;
  std::int64_t ttl = 60;
  bool replace = false;
  std::string key_file;  // of the signing key; empty: $KRON_JOBS_HMAC_KEY, else not signed
};
int cluster_add(const ClusterAddOptions& options);

struct ClusterNamesOptions : ClusterOptions {
  std::vector<std::string> names;
  bool all = false;
};
struct ClusterRemoveOptions : ClusterNamesOptions {
  bool prune = false;
};
int cluster_remove(const ClusterRemoveOptions& options);
struct ClusterSwitchOptions : ClusterNamesOptions {
  std::string note;
};
int cluster_pause(const ClusterSwitchOptions& options);
int cluster_resume(const ClusterSwitchOptions& options);
int cluster_validate(const ClusterNamesOptions& options);
int cluster_terminate(const ClusterNamesOptions& options);
int cluster_kill(const ClusterNamesOptions& options);
int cluster_drain(const ClusterNamesOptions& options);

struct ClusterTriggerOptions : ClusterOptions {
  std::string name;
  std::string id;  // empty: a new one
  bool wait = false;
  std::string timeout;
};
int cluster_trigger(const ClusterTriggerOptions& options);

struct ClusterImportOptions : ClusterOptions {
  std::vector<std::string> paths;
  std::string source;
  bool user_column = false;
  bool replace = false;
  bool yes = false;
  bool no_lock = false;
  std::int64_t ttl = 60;
  std::string key_file;
};
int cluster_import(const ClusterImportOptions& options);

struct ClusterSignOptions : ClusterNamesOptions {
  std::string file;  // instead of what stands in Redis
  std::string key_file;
};
int cluster_sign(const ClusterSignOptions& options);

struct ClusterTimezoneOptions : ClusterOptions {
  std::string zone;  // empty: only show it
};
int cluster_timezone(const ClusterTimezoneOptions& options);

struct ClusterLimitOptions : ClusterOptions {
  std::string type;              // empty: show them all
  std::optional<int> most = {};  // how many of it may run at a time; none: show it
  bool remove = false;           // instead
};
int cluster_limit(const ClusterLimitOptions& options);

struct ClusterPruneOptions : ClusterOptions {
  bool yes = false;
};
int cluster_prune(const ClusterPruneOptions& options);

}  // namespace kron::cli
