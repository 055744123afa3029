#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kron/base/instant.h"
#include "kron/queue/task_queue.h"
#include "screen_times.h"
#include "task_place.h"

namespace CLI {
class App;
}

namespace kron::cli {

// `kron task …` and `kron worker`, free of the parsing of flags (task_flags.cc, worker_flags.cc). All return the exit
// status. Text of durations and times is as the user gave it; empty: none.

struct TaskOptions {
  TaskPlaceOptions place;
  bool json = false;
  TimeFlags times;
};

struct SubmitOptions : TaskOptions {
  std::string id;  // empty: a new one
  std::string type;
  std::string data = "null";  // JSON, or - for standard input
  std::string data_file;      // instead of `data`
  int priority = 0;
  std::string run_at, delay;  // at most one
  int max_attempts = RetryPolicy{}.max_attempts;
  std::string backoff, most_backoff;
  std::string timeout;
  std::string unique_key;
};
int task_submit(const SubmitOptions& options);

struct SubmitBatchOptions : TaskOptions {
  std::string file = "-";
  bool progress = false;  // even when standard error is no terminal
};
int task_submit_batch(const SubmitBatchOptions& options);

struct ListOptions : TaskOptions {
  std::optional<TaskState> state;
  std::string type;   // empty: any
  std::string after;  // an id
  std::size_t limit = 100;
};
int task_list(const ListOptions& options);

struct ShowOptions : TaskOptions {
  std::string id;
};
int task_show(const ShowOptions& options);

struct RetryOptions : TaskOptions {
  std::vector<std::string> ids;
  bool all_failed = false;  // instead of `ids`
  std::string type;         // of these; empty: any
  int attempts = RetryPolicy{}.max_attempts;
};
int task_retry(const RetryOptions& options);

struct CancelOptions : TaskOptions {
  std::vector<std::string> ids;
};
int task_cancel(const CancelOptions& options);

struct PruneOptions : TaskOptions {
  std::string older_than = "30d";
  std::optional<TaskState> state;  // succeeded or failed; none: both
};
int task_prune(const PruneOptions& options);

struct WorkerVerbOptions {
  TaskPlaceOptions place;
  std::string work_dir;  // of its commands; empty: below the state directory
  std::vector<std::string> types;
  std::string command;
  bool shell = false;  // the command is for /bin/sh
  std::size_t concurrency = 1;
  std::string name;  // empty: host and PID
  std::string lease = "1m";
  std::string timeout;  // of tasks that have none
  std::string grace = "10s";
  bool once = false, drain = false;  // at most one
  bool json_log = false;
  std::string helper;  // kron-exec; empty: found beside the program
};
int work(const WorkerVerbOptions& options);

// Declare the flags of a verb and return what runs it once they are read.
std::function<int()> set_up_task(CLI::App& verb);
std::function<int()> set_up_worker(CLI::App& verb);

}  // namespace kron::cli
