#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kron/api/access_store.h"
#include "kron/api/api.h"
#include "kron/api/event_hub.h"
#include "kron/api/output_follower.h"
#include "kron/daemon/options.h"
#include "kron/daemon/outcome_tail.h"
#include "kron/env/mailbox.h"
#include "kron/env/real_file_system.h"
#include "kron/env/start_priority.h"
#include "kron/env/work_thread.h"
#include "kron/history/history.h"
#include "kron/http/server.h"
#include "kron/metrics/metrics.h"
#include "kron/scheduler/event.h"

namespace kron::daemon {

// The daemon's API: the socket, what answers there, and what it is answered from. It has threads of its own, which
// yield to what is due, and touches the daemon only by its mailbox.
class ApiService {
 public:
  // Of a krond in a cluster.
  struct Cluster {
    cluster::Link* link = nullptr;
    std::string outcomes_key;
    std::function<std::string()> instance;
    api::Operations operations;
    api::OtherHosts others;
  };

  // What only the daemon has. All outlives the service.
  struct Daemon {
    const Clock& clock;
    Log& log;
    Mailbox& mailbox;
    Scheduler& scheduler;
    QueueThread& tasks;
    api::EventHub& events;
    StartPriority& start_priority;
    std::function<api::DaemonStatus()> status;
    api::Reload reload;
    api::StateUpkeep state;
    api::ReloadPreview preview_reload = {};
    std::optional<Cluster> cluster = {};
  };

  // The history opens, and nobody is let in yet.
  static Result<std::unique_ptr<ApiService>> open(const Options& options, Daemon daemon);
  ~ApiService();
  ApiService(const ApiService&) = delete;
  ApiService& operator=(const ApiService&) = delete;

  // Listens from now on, if there is a socket to listen on.
  Status listen();

  // Nobody is let in any more, and who is in is sent away. Afterwards only what others were asked may still be
  // answered: they end before the service does.
  void close();

  // What is to be done now and then; when it wants to be called next, by Clock::monotonic. On the loop.
  Nanoseconds tick();

  // krond starts nothing from now on. On the loop.
  void note_stopping() { history_->end_up_time(); }

  // Keeps, counts and shows what happened. On the loop.
  void observe(const Event& event) const;
  metrics::Metrics& metrics() { return metrics_; }

 private:
  ApiService(const Options& options, Daemon daemon, std::unique_ptr<history::History> history,
             std::unique_ptr<api::OutputFollower> outputs, runner::RunFiles run_files,
             std::unique_ptr<WorkThread> aside, std::unique_ptr<WorkThread> ahead);
  api::Parts parts();
  Result<http::Server::Listeners> listeners();
  std::optional<Nanoseconds> beat();
  void fill_series();
  Nanoseconds sample();

  Options options_;
  Daemon daemon_;
  RealFileSystem access_files_;  // for those who make tokens, beside the loop
  api::AccessStore access_;
  runner::RunFiles run_files_;
  metrics::Metrics metrics_;
  metrics::JobMetrics job_metrics_;
  std::unique_ptr<history::History> history_;
  std::unique_ptr<api::OutputFollower> outputs_;
  std::shared_ptr<api::Series> series_;
  std::vector<Observer> sinks_;
  Nanoseconds next_sample_{0};            // by the monotonic clock
  std::optional<Nanoseconds> next_beat_;  // by the monotonic clock; none: nobody reads events
  std::unique_ptr<WorkThread> aside_;
  std::unique_ptr<WorkThread> ahead_;
  std::unique_ptr<api::Api> api_;
  std::unique_ptr<OutcomeTail> tail_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace kron::daemon
