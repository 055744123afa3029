#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kron/base/result.h"
#include "kron/core/time_zone.h"
#include "kron/env/event_loop.h"
#include "kron/daemon/options.h"
#include "kron/daemon/run_keeper.h"
#include "kron/daemon/service_manager.h"
#include "kron/daemon/submitting_runner.h"
#include "kron/env/real_file_system.h"
#include "kron/jobs/load.h"
#include "kron/ledger/file_ledger.h"
#include "kron/queue/file_queue.h"
#include "kron/runner/real_process_runner.h"
#include "kron/scheduler/scheduler.h"

namespace kron::daemon {

// krond: the scheduler on this machine's clock, files and processes. One thread owns all of it.
class Daemon {
 public:
  // Takes the state directory, its lock included, and the signals TERM, INT and HUP. `clock` and `log` outlive the
  // daemon, and `clock` is shifted as the options say. Conflict: another daemon has the directory.
  static Result<std::unique_ptr<Daemon>> open(Options options, const Clock& clock, LineLog& log);

  // Reads the job files, takes up the runs of an earlier daemon, and goes on until it is told to end. An error: nothing
  // could be promised any more (the disk failed), or nothing could be begun.
  Status run();

 private:
  Daemon(Options options, const Clock& clock, LineLog& log, std::unique_ptr<FileLedger> ledger,
         std::unique_ptr<runner::RealProcessRunner> runner, std::unique_ptr<EventLoop> loop,
         std::unique_ptr<RealFileSystem> file_system);

  Status start();
  void reload();
  jobs::LoadedJobs read_jobs();
  Status open_queue_for(const std::vector<jobs::JobDefinition>& definitions);
  void report(const jobs::LoadedJobs& jobs);
  void take_signal(int signal);
  void begin_to_stop(int signal);
  bool is_done(const Wakeup& wakeup);
  void sleep_until(const Wakeup& wakeup);
  std::string status_sentence(const Wakeup& wakeup) const;

  Options options_;
  const Clock& clock_;
  LineLog& log_;
  std::unique_ptr<RealFileSystem> file_system_;
  std::unique_ptr<FileLedger> ledger_;
  std::unique_ptr<runner::RealProcessRunner> runner_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<FileQueue> queue_;
  SubmittingRunner submitter_;
  ServiceManager manager_;
  ZoneDatabase zones_;
  Scheduler scheduler_;
  RunKeeper keeper_;
  bool wants_reload_ = false;
  bool is_stopping_ = false;
  bool leaves_now_ = false;
  std::optional<Nanoseconds> alive_at_;
};

}  // namespace kron::daemon
