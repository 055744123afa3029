#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/cluster/events.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/jobs/definition.h"

namespace kron::cluster {

// What this host does about an event. On the loop; nothing here waits for Redis.
class EventHandler {
 public:
  // Triggers that were sent longer ago are passed by: who sent them does not expect them any more.
  static constexpr Seconds kOldestTrigger{60};

  // Of the job list and of the scheduler. Those that give a Status: not_found when it is no job or run of this host,
  // which is usual in a cluster.
  struct Actions {
    // job: or events::kAllJobs; no pause: it is resumed.
    std::function<void(std::string job, std::optional<jobs::ClusterPause> pause)> set_paused;
    std::function<Status(std::string_view run_id, const Sender& sender)> terminate;
    std::function<Status(std::string_view run_id, const Sender& sender)> kill;
    std::function<void(std::string job, std::string definition)> add;
    std::function<void(std::string job)> remove;
    std::function<void()> reload;
    // `id`: the same one starts one run in the whole cluster (one on each host without a lock). Empty: a run of its own
    // for each host that gets the lock, which is then held for at least a second.
    // `done` is called on the loop, at once or when it is known; the handler may be gone by then, its log is not.
    using Done = std::function<void(const Status&)>;
    std::function<void(std::string_view job, std::string_view id, const Sender& sender, Done done)> trigger;
    std::function<void(std::vector<std::string> jobs)> validate;
    std::function<void()> drain;
    std::function<bool()> is_draining;
  };

  struct Host {
    std::string name;      // as in rundata
    std::string instance;  // name, or name#2 …
  };

  // The clock is the cluster's; it and the log outlive it.
  EventHandler(Actions actions, Host host, const Clock& clock, Log& log);

  // A message of the channel. Junk is logged and survived.
  void handle(std::string_view payload);
  void handle(const Event& event, const Sender& sender = {});

 private:
  struct Doer;
  struct SubjectOf;

  Actions actions_;
  Host host_;
  const Clock& clock_;
  Log& log_;
};

}  // namespace kron::cluster
