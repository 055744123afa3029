#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kron/api/cluster_status.h"
#include "kron/api/parts.h"
#include "kron/cluster/event_handler.h"
#include "kron/cluster/hosts.h"
#include "kron/cluster/job_list.h"
#include "kron/cluster/reaper.h"
#include "kron/cluster/subscriber.h"
#include "kron/core/time_zone.h"
#include "kron/daemon/cluster_options.h"
#include "kron/env/work_thread.h"

namespace kron::daemon {

// A host as a member of its cluster: what it finds in Redis, the name that it gets there, the jobs and the events. It
// begins when the link is up for the first time, and goes on by itself whenever it is up again. Lives on the loop and
// never waits there.
class ClusterMember {
 public:
  // All of it outlives the member.
  struct World {
    cluster::Link& link;
    const cluster::Keys& keys;
    const Clock& clock;  // the cluster's
    Log& log;
    cluster::JobTermsTable& terms;
    std::function<void(std::function<void()>)> to_loop;  // from any thread
    std::function<std::unique_ptr<RedisSubscription>()> new_subscription;
    std::function<std::string()> why_down;                         // of the link
    std::function<std::string()> why_forbidden;                    // likewise
    std::function<std::string(std::string_view error)> explained;  // an error of Redis, with what cures it
    std::function<std::string()> local_address;                    // of this machine, as Redis sees it; blocks
    std::function<std::size_t()> runs;                             // of this host
    std::function<double()> clock_offset;                          // seconds that the cluster's clock is ahead
    std::function<void(const std::string& instance)> on_name;
    // As JobList::World has them.
    std::function<Status(std::span<const std::string> names, const cluster::JobTermsTable::Map& terms)> prefetch = {};
    std::function<Status(std::vector<jobs::JobDefinition>, Instant since)> put;
    std::function<Status(std::span<const std::string> names)> drop;
    std::function<Status()> loaded = {};
    // Of the scheduler, as EventHandler::Actions has them.
    decltype(cluster::EventHandler::Actions::trigger) trigger;
    decltype(cluster::EventHandler::Actions::terminate) terminate;
    decltype(cluster::EventHandler::Actions::kill) kill;
    std::function<void()> look_again;
    // A task of this type may be ready, in Redis; on any thread. None: the tasks are elsewhere.
    std::function<void(std::string type)> wake_tasks = {};
  };
  struct Rules {
    ClusterOptions options;
    std::string owner;
    std::string version;
    std::string local_zone = {};
    cluster::SignatureRules signatures = {};
  };
  // Io: no thread is to be had.
  static Result<std::unique_ptr<ClusterMember>> create(World world, Rules rules);
  ~ClusterMember();
  ClusterMember(const ClusterMember&) = delete;
  ClusterMember& operator=(const ClusterMember&) = delete;

  // The link's news, on the loop.
  void link_is_up();

  // What is due; when it wants to be called next, by Clock::monotonic.
  Nanoseconds tick();

  // Reads the job list again, as an operator wants it.
  void reload(cluster::JobList::Done done);

  // Gives the name up. Blocks for `timeout` at most.
  void leave(Nanoseconds timeout);

  [[nodiscard]] bool is_ready() const { return why_not_ready().empty(); }
  [[nodiscard]] std::string why_not_ready() const;
  // Why this host must not be in this cluster.
  [[nodiscard]] const std::optional<Error>& refused() const { return refused_; }
  [[nodiscard]] std::string instance() const { return hosts_ ? hosts_->instance() : ""; }
  [[nodiscard]] bool is_draining() const { return is_draining_; }
  [[nodiscard]] cluster::JobList* jobs() { return jobs_.get(); }
  void fill(api::ClusterStatus& status) const;

 private:
  struct Greeting;

  ClusterMember(World world, Rules rules, std::unique_ptr<WorkThread> aside, std::unique_ptr<WorkThread> lists);

  cluster::Aside aside(WorkThread& thread);
  void greet();
  void take(const Result<Greeting>& greeting);
  void warn(std::vector<api::ClusterStatus::Warning> warnings);
  void take_name(const std::string& instance);
  void make_jobs();
  cluster::EventHandler::Actions actions();
  void subscribe();
  void hear(std::string payload);
  void work_off_events();
  std::shared_ptr<void> hold_events();
  void read_hosts();
  void reload_list(cluster::JobList::Cause cause, cluster::JobList::Done done);

  World world_;
  Rules rules_;
  ZoneDatabase zones_;
  std::optional<Error> refused_;
  std::string problem_ = "Redis has not answered yet";  // why the member is not begun; empty: it is
  std::string not_heard_;                               // why events are not heard; empty: they are
  std::string zone_;
  bool is_draining_ = false;
  bool is_greeting_ = false;
  bool was_subscribed_ = false;
  std::deque<std::string> heard_;  // events that wait
  int holds_ = 0;                  // for so many readings of the list
  Nanoseconds greet_at_{0};
  Nanoseconds read_hosts_at_{0};
  std::vector<api::ClusterStatus::Warning> warnings_;
  std::vector<api::ClusterStatus::Host> seen_hosts_;
  std::unique_ptr<cluster::JobList> jobs_;
  std::unique_ptr<cluster::Hosts> hosts_;
  std::unique_ptr<cluster::Reaper> reaper_;
  std::unique_ptr<cluster::EventHandler> events_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // what was asked aside is taken as long as it is there
  std::unique_ptr<WorkThread> aside_;
  std::unique_ptr<WorkThread> lists_;  // reads and edits definitions, which may be many: no beat must wait for it
  std::unique_ptr<cluster::Subscriber> subscriber_;  // last: its thread uses the above
};

}  // namespace kron::daemon
