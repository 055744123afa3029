#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kron/api/api.h"
#include "kron/api/event_hub.h"
#include "kron/api/output_follower.h"
#include "kron/daemon/options.h"
#include "kron/env/mailbox.h"
#include "kron/env/right_of_way.h"
#include "kron/env/work_thread.h"
#include "kron/history/history.h"
#include "kron/http/server.h"
#include "kron/metrics/metrics.h"
#include "kron/scheduler/event.h"

namespace kron::daemon {

// Where a daemon's visitors are received: the socket, what answers there, and what it is answered from. It has threads
// of its own, which give way to what is due, and touches the daemon only by its mailbox.
class FrontDesk {
 public:
  // What only the daemon has. All outlives the desk.
  struct Daemon {
    const Clock& clock;
    Log& log;
    Mailbox& mailbox;
    Scheduler& scheduler;
    QueueThread& tasks;
    api::EventHub& events;
    RightOfWay& right_of_way;
    std::function<api::DaemonStatus()> status;
    api::Reload reload;
    api::StateUpkeep state;
  };

  // The history opens, and nobody is let in yet.
  static Result<std::unique_ptr<FrontDesk>> open(const Options& options, Daemon daemon);
  ~FrontDesk();
  FrontDesk(const FrontDesk&) = delete;
  FrontDesk& operator=(const FrontDesk&) = delete;

  // Listens from now on, if there is a socket to listen on.
  Status let_in();

  // Nobody is let in any more, and who is in is sent away. Afterwards only what others were asked may still be
  // answered: they end before the desk does.
  void close();

  // Keeps, counts and shows what happened. On the loop.
  void observe(const Event& event) const;
  metrics::Metrics& metrics() { return metrics_; }

 private:
  FrontDesk(const Options& options, Daemon daemon, std::unique_ptr<history::History> history,
            std::unique_ptr<api::OutputFollower> outputs, runner::RunFiles run_files,
            std::unique_ptr<WorkThread> aside);
  api::Parts parts();

  Options options_;
  Daemon daemon_;
  runner::RunFiles run_files_;
  metrics::Metrics metrics_;
  std::unique_ptr<history::History> history_;
  std::unique_ptr<api::OutputFollower> outputs_;
  std::vector<Observer> sinks_;
  std::unique_ptr<WorkThread> aside_;
  std::unique_ptr<api::Api> api_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace kron::daemon
