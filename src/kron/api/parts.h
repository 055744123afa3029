#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kron/api/access.h"
#include "kron/api/access_store.h"
#include "kron/api/cluster_status.h"
#include "kron/api/event_hub.h"
#include "kron/api/forecasts.h"
#include "kron/api/operations.h"
#include "kron/api/output_follower.h"
#include "kron/api/series.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/history/history.h"
#include "kron/jobs/problem.h"
#include "kron/metrics/job_metrics.h"
#include "kron/metrics/metrics.h"
#include "kron/queue/queue_thread.h"
#include "kron/runner/retention.h"
#include "kron/runner/run_files.h"
#include "kron/scheduler/scheduler.h"

namespace kron::api {

// A job file, or a directory of them, in which the last reading found errors.
struct RefusedFile {
  // What runs of it all the same.
  enum class InForce : std::uint8_t {
    none,
    earlier,  // its earlier jobs the reading
    rest,     // its jobs without errors: so at the start, when there is nothing earlier
  };
  std::string file;
  std::size_t line = 0;  // of the first error; 0: the file as a whole
  std::size_t column = 0;
  std::string reason;      // the first error, with what to do about it
  std::size_t errors = 0;  // in all
  InForce in_force = InForce::none;

  bool operator==(const RefusedFile&) const = default;
};

// On disk, compared with the last reading.
struct FileChange {
  enum class How : std::uint8_t { changed, added, removed };
  std::string file;
  How how = How::changed;

  bool operator==(const FileChange&) const = default;
};

// What became of the job files.
struct JobFilesStatus {
  std::optional<Instant> read_at = {};
  std::vector<RefusedFile> refused = {};
  std::optional<Error> reload_failed = {};  // why the last reload changed nothing at all
  // Looks at the disk, so not on the loop; may be called on any thread, also when the daemon reads anew meanwhile.
  std::function<std::vector<FileChange>()> changes = {};
};

// What only the daemon itself knows.
struct DaemonStatus {
  std::string version = {};
  Instant started_at = {};
  Nanoseconds clock_offset{0};
  bool is_ready = false;
  bool is_stopping = false;
  std::optional<Error> broken = {};  // why nothing is started any more
  std::optional<Instant> next_due = {};
  std::size_t jobs = 0;
  std::size_t running = 0;
  std::string state_directory = {};
  std::vector<std::string> config = {};
  std::string socket = {};
  std::string host = {};                                                // this machine's name
  std::string zone = {};                                                // of its wall clock; empty: it cannot be named
  std::vector<std::pair<std::string, std::string>> not_scheduled = {};  // jobs, and why; the first hundred
  JobFilesStatus job_files = {};
  bool notifies = false;           // some job has notify
  std::string not_delivered = {};  // why nothing delivers notifications; empty: it is done, or not needed
  struct NotQueued {
    std::size_t messages = 0;
    std::string reason;
  };
  std::optional<NotQueued> not_queued = {};    // messages of alarms that the queue does not take
  Seconds catch_up_spread{0};                  // of jobs whose policy does not say it
  std::size_t max_running = 0;                 // of this host; 0: any number
  std::vector<Scheduler::SlotUse> slots = {};  // of what is limited
  std::optional<ClusterStatus> cluster = {};
};

// The records of jobs, beyond what the scheduler does with them.
struct StateUpkeep {
  std::string directory = {};
  // On the loop: the names of all jobs that are configured; refused when a job file has errors, because its jobs would
  // seem to be gone.
  std::function<Result<std::vector<std::string>>()> configured = {};
  std::function<Status(const std::vector<Sha256>&)> forget = {};  // on the loop: FileLedger::forget
};

// What a reload changes, or would.
struct JobChanges {
  static constexpr std::size_t kMostNames = 100;  // of each kind
  struct Kind {
    std::size_t count = 0;
    std::vector<std::string> names = {};  // the first of them, in order
  };
  Kind added = {};
  Kind changed = {};
  Kind removed = {};
};

struct ReloadReport {
  std::size_t jobs = 0;
  std::vector<std::string> kept_files = {};  // with errors: their earlier jobs stay in force
  std::vector<jobs::Problem> problems = {};
  JobChanges changes = {};
};

// What a reload would do to these jobs, which are in force, and what lint says of the files. Reads them and changes
// nothing; takes its time, so it is called aside. Empty: the jobs come from no files.
using ReloadPreview = std::function<ReloadReport(const std::vector<jobs::JobDefinition>& in_force)>;

// Reads the job files again, and then answers; called and answered on the loop.
using Reload = std::function<void(std::function<void(const Result<ReloadReport>&)> answer)>;

// Runs of other hosts of a cluster. Empty: there is no cluster.
struct OtherHosts {
  // Whether it is, or was, another host's. From any thread.
  std::function<bool(const history::Entry& run)> has_run = {};
  // Some of a run's output: whole lines, from one on.
  struct Output {
    std::string text = {};
    std::size_t next = 0;   // the line to go on with
    bool has_more = false;  // now
    bool is_over = false;   // the run: when there is no more, this is all
  };
  // Blocks, so it is called aside. not_found: it is kept no longer. Unreachable: ask again.
  std::function<Result<Output>(const std::string& run_id, std::size_t first)> output = {};
};

// What the API works on. All of it outlives the API. Each part has its own thread: what is said of `on_loop` may be
// called there only; the others take callers from any thread and call back on their own.
struct Parts {
  using Work = std::function<void()>;
  std::function<void(Work)> on_loop;     // has it done on the daemon's loop, soon
  std::function<bool(Work)> aside;       // has what takes its time done on another thread; false: too much waits there
  std::function<bool(Work)> ahead;       // likewise, what takes much longer: looks into the future, files
  Scheduler& scheduler;                  // on_loop
  std::function<DaemonStatus()> status;  // on_loop
  Reload reload;                         // on_loop
  const Clock& clock;
  Log& log;  // and by it the events
  history::History& history;
  QueueThread& tasks;
  metrics::Metrics& metrics;
  EventHub& events;
  OutputFollower& outputs;
  const runner::RunFiles& run_files;
  runner::Retention keeps = {};
  StateUpkeep state = {};
  ReloadPreview preview_reload = {};
  metrics::JobMetrics* job_metrics = nullptr;  // null: jobs have no series
  Operations operations = {};                  // on_loop; those that are missing are the scheduler's
  OtherHosts others = {};
  std::shared_ptr<Forecasts> forecasts = {};  // made by the API
  AccessStore* access = nullptr;              // null: nobody comes in by a token
  std::shared_ptr<Series> series = {};        // of those who tell it what happens; else an empty one
};

}  // namespace kron::api
