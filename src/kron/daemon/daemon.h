#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kron/api/event_hub.h"
#include "kron/api/event_log.h"
#include "kron/base/result.h"
#include "kron/daemon/api_service.h"
#include "kron/daemon/claimed_tasks.h"
#include "kron/daemon/cluster_parts.h"
#include "kron/daemon/file_jobs.h"
#include "kron/daemon/host_events.h"
#include "kron/daemon/notifier.h"
#include "kron/daemon/options.h"
#include "kron/daemon/ping_sender.h"
#include "kron/daemon/ping_sink.h"
#include "kron/daemon/queue_submitter.h"
#include "kron/daemon/run_retention.h"
#include "kron/daemon/service_manager.h"
#include "kron/daemon/web_front.h"
#include "kron/env/event_loop.h"
#include "kron/env/mailbox.h"
#include "kron/env/real_file_system.h"
#include "kron/env/start_priority.h"
#include "kron/ledger/file_ledger.h"
#include "kron/queue/queue_thread.h"
#include "kron/runner/real_process_runner.h"
#include "kron/scheduler/scheduler.h"
#include "kron/scheduler/write_thread.h"

namespace kron::daemon {

// krond: the scheduler on this machine's clock, files and processes. One thread owns all of that; those who ask about
// it and those who keep its history have threads of their own, and leave their questions in the mailbox.
class Daemon {
 public:
  // Takes the state directory, its lock included, and the signals TERM, INT and HUP. `clock` and `log` outlive the
  // daemon, and `clock` is shifted as the options say. Conflict: another daemon has the directory.
  static Result<std::unique_ptr<Daemon>> open(Options options, const Clock& clock, LineLog& log);

  ~Daemon();

  // Reads the job files, takes up the runs of an earlier daemon, and goes on until it is told to end. An error: nothing
  // could be promised any more (the disk failed), or nothing could be begun.
  Status run();

 private:
  Daemon(Options options, const Clock& clock, LineLog& log);

  Status open_parts();
  Status open_host();
  Status open_queue();
  void open_pings();
  void open_scheduler();
  Status open_api_service();
  Status open_web_front();
  void open_deliverer();
  Nanoseconds step_child(WebFront& child, pid_t& watched);
  Wakeup turn();
  Status start();
  Status serve();
  Status start_cluster();
  void have_started();
  std::vector<std::pair<std::string, std::string>> not_scheduled() const;
  void prepare_for(const std::vector<jobs::JobDefinition>& definitions);
  void about_to_reload();
  void have_reloaded(bool ok);
  void reload(std::function<void(const Result<api::ReloadReport>&)> answer);
  void take_signal(int signal);
  void begin_to_stop(int signal);
  void leave_stop_note();
  std::optional<Instant> on_time_since();
  bool is_done(const Wakeup& wakeup);
  void sleep_until(const Wakeup& wakeup);
  std::string status_sentence() const;
  api::DaemonStatus status() const;
  std::string why_not_delivered() const;
  std::optional<api::DaemonStatus::NotQueued> not_queued() const;

  bool has_tasks_in_redis() const { return cluster_ && !options_.cluster->tasks_in_files; }

  // What jobs go by: the cluster's clock, or this machine's.
  const Clock& time() const { return cluster_ ? cluster_->clock() : clock_; }

  Options options_;
  const Clock& clock_;
  LineLog& lines_;
  std::unique_ptr<HostLog> host_log_;  // of a cluster
  Instant started_at_;
  std::string machine_name_;
  std::string machine_zone_;
  api::EventHub events_;
  api::EventLog log_;
  RealFileSystem file_system_;
  RealFileSystem queue_file_system_;  // the queue's thread yields, and so do those who help it
  Mailbox mailbox_;
  StartPriority start_priority_;        // of what is due
  std::unique_ptr<FileLedger> ledger_;  // in a cluster only the owner of the state directory
  std::unique_ptr<runner::RealProcessRunner> runner_;
  std::unique_ptr<ClusterParts> cluster_;  // none: this krond is alone
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<QueueSubmitter> submitter_;
  ClaimedTasks claimed_tasks_;  // in a cluster, in its place
  ServiceManager manager_;
  WriteThread writer_;
  std::unique_ptr<Notifier> notifier_;
  std::unique_ptr<PingSender> ping_sender_;
  PingSink pings_;
  std::unique_ptr<Scheduler> scheduler_;
  std::string cgroup_;  // ours, if runs get cgroups of their own below it
  RunRetention run_retention_;
  bool wants_reload_ = false;
  bool is_ready_ = false;
  bool is_stopping_ = false;
  bool leaves_now_ = false;
  std::optional<Error> queue_stopped_;
  std::optional<Instant> next_due_;
  std::optional<Instant> next_start_;  // of what is not late
  std::optional<Nanoseconds> alive_at_;
  std::unique_ptr<QueueThread> queue_;
  std::unique_ptr<ApiService> api_service_;
  std::unique_ptr<WebFront> web_front_;  // none: nobody asked for one here
  pid_t watched_front_ = 0;
  std::unique_ptr<WebFront> deliverer_;  // of notifications; none: no job has any
  pid_t watched_deliverer_ = 0;
  bool has_looked_for_deliverer_ = false;
  std::string no_deliverer_;             // why there is none
  std::unique_ptr<FileJobs> file_jobs_;  // last: its thread uses the above
};

}  // namespace kron::daemon
