#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kron/api/cluster_status.h"
#include "kron/api/operations.h"
#include "kron/api/parts.h"
#include "kron/cluster/active_runs.h"
#include "kron/cluster/cluster_clock.h"
#include "kron/cluster/cluster_ledger.h"
#include "kron/cluster/cluster_runner.h"
#include "kron/cluster/grants.h"
#include "kron/cluster/link_thread.h"
#include "kron/cluster/run_services.h"
#include "kron/daemon/cluster_member.h"
#include "kron/daemon/cluster_options.h"
#include "kron/env/file_system.h"
#include "kron/env/mailbox.h"
#include "kron/env/redis_nodes.h"
#include "kron/env/redis_url.h"
#include "kron/queue/task_queue.h"
#include "kron/scheduler/event.h"

namespace kron::daemon {

// What a krond of a cluster has in place of its own: the clock, the ledger and the runner are Redis's, and so are the
// jobs. Of the loop, but for what is said of others; its threads are the link, the one that hears events, the one that
// asks Redis, the one that ships output and the one that keeps runs alive.
class ClusterParts {
 public:
  // All of it outlives the parts.
  struct World {
    const Clock& host;
    Log& log;
    Mailbox& mailbox;
    FileSystem& file_system;
    ProcessRunner& processes;
    // A task of this type may be ready, in Redis; on any thread, until stop().
    std::function<void(std::string type)> wake_tasks = {};
    std::function<void(const kron::Event& event)> observe;  // what the scheduler does not tell
    std::string state_directory;
    std::string version;
  };
  // Takes up the runs of an earlier daemon; nothing is connected yet. Unreadable: the URL, the key, the zone.
  static Result<std::unique_ptr<ClusterParts>> open(const ClusterOptions& options, World world);
  ~ClusterParts();
  ClusterParts(const ClusterParts&) = delete;
  ClusterParts& operator=(const ClusterParts&) = delete;

  const Clock& clock() const { return clock_; }
  Ledger& ledger() { return *ledger_; }
  ProcessRunner& runner() { return *runner_; }
  cluster::Link& link() { return *link_; }
  const cluster::Keys& keys() const { return keys_; }

  // The tasks that all hosts share, over a connection of their own; and where they are, for the log.
  QueueOpener task_opener() const;
  [[nodiscard]] std::string tasks_place() const;

  // What run ids of a job are made of: without a lock it runs on each host.
  std::string scope(const jobs::JobDefinition& definition) const;
  // What the jobs get of this process's environment.
  const jobs::Environment& passed_on() const { return passed_on_; }
  // This krond's name in the cluster; empty: it has none yet. From any thread.
  std::string instance() const;

  struct Jobs {
    Scheduler& scheduler;
    // Before the first jobs of the first list, and after its last. What became due since it says is on time.
    std::function<Result<std::optional<Instant>>()> begin;
    std::function<void()> started;
    std::function<void(const std::vector<jobs::JobDefinition>&)> prepare;  // before any jobs
    std::function<void(std::span<const std::string>)> dropped;             // before jobs are no more
  };
  // Connects, and goes on by itself. Io: no thread is to be had.
  Status start(Jobs jobs);

  // When it wants to be called next, by Clock::monotonic.
  Nanoseconds tick() { return member_->tick(); }
  void reload(std::function<void(const Result<api::ReloadReport>&)> answer);

  // Nothing is started any more: has ends that are known recorded, gives the name up and closes the link. Blocks for
  // `patience` at most, or a little longer.
  void stop(Nanoseconds patience);

  [[nodiscard]] bool is_ready() const { return member_ && member_->is_ready(); }
  [[nodiscard]] std::optional<Error> refused() const;
  [[nodiscard]] api::ClusterStatus status() const;
  [[nodiscard]] std::string status_sentence() const;
  api::Operations operations();
  api::OtherHosts others();

 private:
  ClusterParts(const ClusterOptions& options, World world, RedisUrl url);

  Status open_runs();
  Status open_member();
  void listen();
  ClusterMember::World member_world();
  Status begin();
  Status put(std::vector<jobs::JobDefinition> definitions, Instant since);
  Status loaded();
  void take_name(const std::string& instance);
  void publish(const cluster::Event& event, const Attribution& from, const api::Operations::Done& done);
  void set_paused(const std::string& job, bool is_paused, const Attribution& from, const api::Operations::Done& done);
  void note_pauses(const std::vector<jobs::JobDefinition>& definitions);
  void end_run(const std::string& run_id, std::string_view signal, const Attribution& from,
               const api::Operations::Done& done);
  // Logs the event when it is done.
  api::Operations::Done telling(kron::Event event, const api::Operations::Done& done);

  ClusterOptions options_;
  World world_;
  RedisUrl url_;
  std::shared_ptr<RedisNodes> nodes_ = std::make_shared<RedisNodes>();
  cluster::Keys keys_;
  cluster::ClusterClock clock_;
  cluster::Grants grants_;
  cluster::JobTermsTable terms_;
  std::string owner_;
  jobs::Environment passed_on_;
  mutable std::mutex mutex_;
  std::string instance_;  // guarded
  std::atomic<std::uint64_t> connections_ = 0;
  std::atomic<std::uint64_t> lost_writes_ = 0;
  std::array<std::atomic<std::uint64_t>, 6> answers_ = {};         // by Written::How
  std::map<std::string, jobs::ClusterPause, std::less<>> paused_;  // jobs that are
  bool has_begun_ = false;
  std::optional<Instant> on_time_since_;  // of the first list; none: as any other
  bool has_jobs_ = false;                 // it is there
  bool has_stopped_ = false;
  std::optional<Jobs> jobs_;
  std::unique_ptr<cluster::LinkThread> link_;
  std::unique_ptr<cluster::ActiveRuns> runs_;
  std::unique_ptr<cluster::ClusterRunner> runner_;
  std::unique_ptr<cluster::ClusterLedger> ledger_;
  std::unique_ptr<cluster::RunServices> services_;
  std::unique_ptr<ClusterMember> member_;
};

}  // namespace kron::daemon
