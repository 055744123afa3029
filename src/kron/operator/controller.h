#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kron/core/time_zone.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/kube/api_error.h"
#include "kron/kube/election.h"
#include "kron/kube/limiter.h"
#include "kron/kube/reflector.h"
#include "kron/kube/transport.h"
#include "kron/metrics/operator_metrics.h"
#include "kron/operator/answers.h"
#include "kron/operator/cache.h"
#include "kron/operator/calls.h"
#include "kron/operator/notices.h"
#include "kron/operator/work_queue.h"

namespace kron::kronjobs {

// The operator: it keeps the cache told of KronJobs and Jobs, and while it is the leader it makes, for each KronJob
// that needs it, the one call that reconcile asks for, puts the answer into the cache, and asks again. At most one call
// is under way for a KronJob. A standby watches too, so that it goes on within a second when the lease is given back.
//
// Stepped, on one thread: tick(), and the transport's callbacks, after which tick() is to be called. It owns no thread,
// no timer and no descriptor. Nothing that it remembers is needed for "at most once": it may be destroyed at any point.
class Controller {
 public:
  struct Options {
    std::string ns = {};  // whose KronJobs; empty: those of all namespaces
    JobApi jobs = {};
    std::optional<kube::Election::Options> election = {};  // none: it works from the start, whoever else does
    kube::Limiter::Options limits = {};
    std::size_t calls = 16;                           // under way at a time, events included
    std::size_t page = 500;                           // objects of a list at a time
    std::string instance = {};                        // who reports events
    Nanoseconds stop_patience = Seconds(5);           // for what is under way, when it is told to stop
    Nanoseconds turn = std::chrono::milliseconds(2);  // so long it looks at KronJobs before others are heard
    std::function<double()> jitter = {};              // from 0 up to 1; none: 0
  };
  // All of it outlives the controller.
  struct World {
    kube::Transport& transport;
    const Clock& clock;
    ZoneDatabase& zones;
    Log& log;
    metrics::OperatorMetrics& metrics;
  };
  enum class State : std::uint8_t {
    standby,
    leader,
    lost,   // the lease, for good: a fresh process is the simplest clean slate
    ended,  // as stop() asked
  };
  // When tick() is to be called at the latest.
  struct Wakeup {
    std::optional<Instant> wall = {};
    std::optional<Nanoseconds> monotonic = {};
  };

  Controller(World world, Options options);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  ~Controller();  // what is under way is cancelled: nobody knows whether it is carried out, and whoever comes next asks

  Wakeup tick();
  // Hands over: nothing new is begun; what is recorded is opened, what is under way is waited for, and the lease given
  // back. Over when state() says so.
  void stop();

  [[nodiscard]] State state() const;
  // It could work, if it were the leader; as standby: it could become the leader.
  [[nodiscard]] bool is_ready() const;
  // All KronJobs and Jobs are known, whoever leads.
  [[nodiscard]] bool is_synced() const;
  [[nodiscard]] metrics::OperatorLevels levels() const;
  [[nodiscard]] const Cache& cache() const { return cache_; }

 private:
  // What is known of a KronJob that is being worked on, and forgotten when it rests.
  struct Progress {
    std::optional<kube::Limiter::Id> waits = {};  // for its turn to make a call …
    kube::CallClass waits_as = kube::CallClass::write;
    std::optional<kube::Transport::Id> under_way = {};
    std::optional<Step> then = {};  // to be made before reconcile is asked
    bool fails = false;             // back off, when that is done
    bool is_link = false;           // … because there was no answer
    Nanoseconds least_pause{0};
    int lost_answers = 0;
    int calls = 0;
    std::string act = {};  // what was done last, and how often in a row
    int repeats = 0;
  };
  // What reconcile found: of the same entry at the same time it would be the same again.
  struct Found {
    Reconciled reconciled;
    std::uint64_t revision;  // of the entry
    Turn turn;
  };
  struct EventToTell {
    kube::ObjectMeta kron_job;
    Notice notice;
    WallTime at;
  };
  // What is to be told when a step has been carried out.
  struct Telling {
    std::vector<Notice> notices = {};
    std::vector<PeriodNote> judged = {};
    std::vector<Starting> starting = {};
  };

  // controller.cc: who works, what is known, when
  void step_election();
  void follow_leadership();
  void notice_clock();
  void forget_old();
  void step_stop();
  void abandon();
  [[nodiscard]] Wakeup wakeup(std::optional<Nanoseconds> kron_jobs, std::optional<Nanoseconds> jobs) const;
  [[nodiscard]] bool wants_lease() const;
  [[nodiscard]] bool leads() const;
  [[nodiscard]] bool is_at_work() const;
  kube::Reflector::Listener kron_job_listener();
  kube::Reflector::Listener job_listener();
  kube::Reflector::Options reflector_options(std::string path, std::string_view selector) const;
  void check_kron_jobs(std::string_view version);
  void check_jobs(std::string_view version);
  void touch(std::string_view identity);
  void touch_all(Instant since);

  // controller_calls.cc: looking at KronJobs, and the calls that come of it
  void look_at_ready();
  void look(const std::string& identity);
  Reconciled reconciled(const std::string& identity);
  Reconciled reconciled_anew(const std::string& identity);
  void keep(const std::string& identity, Reconciled found);
  void rest(const std::string& identity, const Reconciled& found);
  void plan(const std::string& identity, kube::CallClass of);
  void release_calls();
  void make_call(const std::string& identity);
  void send(const std::string& identity, Step step, Telling telling);
  void take(const std::string& identity, const Step& step, Telling telling, const kube::Outcome& outcome);
  void go_on(const std::string& identity, Progress& progress);
  void back_off(const std::string& identity, Progress& progress);
  void obey_retry_after(const Step& step, const kube::Outcome& outcome, const std::optional<kube::ApiError>& error);
  void note_link(bool is_answered);
  [[nodiscard]] bool may_make(const Step& step) const;
  [[nodiscard]] kube::CallClass class_of(const std::string& identity, const Step& step) const;
  [[nodiscard]] std::optional<Instant> next_due(const std::string& identity) const;
  [[nodiscard]] kube::ObjectMeta meta_of(const std::string& identity) const;

  // controller_tell.cc: log, events and metrics
  [[nodiscard]] Telling telling_of(const std::string& identity, const Reconciled& found) const;
  void tell(const std::string& identity, const Telling& telling);
  void tell_notice(const std::string& identity, const Notice& notice);
  void tell_opened(const std::string& identity, const Open& opened);
  void tell_failure(const std::string& identity, const Step& step, const kube::Outcome& outcome,
                    const std::optional<kube::ApiError>& error);
  void tell_ungated(const std::string& identity);
  void settle_unconfirmed(const std::string& identity);
  void send_event(const EventToTell& event);

  [[nodiscard]] Instant now() const { return kron::now(world_.clock); }
  [[nodiscard]] double random() const { return options_.jitter ? options_.jitter() : 0.0; }

  World world_;
  Options options_;
  Cache cache_;
  std::optional<kube::Election> election_;
  kube::Reflector kron_jobs_;
  kube::Reflector jobs_;
  kube::Limiter limiter_;
  WorkQueue queue_;

  std::optional<kube::Transport::Id> lease_call_;
  Nanoseconds election_until_{0};  // of the boot clock
  bool is_working_ = false;        // leader, and both lists are complete
  bool was_leader_ = false;
  bool is_abandoned_ = false;

  std::unordered_map<std::string, Progress> progress_;
  std::unordered_map<std::string, Found> found_;          // of those that wait for their turn; at most kMostFound
  std::unordered_map<std::string, Telling> unconfirmed_;  // a status whose answer was lost
  kube::Limiter::Id last_id_ = 0;
  std::unordered_map<kube::Limiter::Id, std::string> planned_;
  std::map<kube::Limiter::Id, EventToTell> events_;  // that wait for their turn
  std::set<kube::Transport::Id> event_calls_;
  std::size_t under_way_ = 0;

  NoticeLimit notice_limit_;
  Reporter reporter_;
  bool is_ungated_ = false;
  bool is_link_down_ = false;
  Nanoseconds link_woken_{0};
  std::optional<Nanoseconds> failure_told_;
  std::int64_t failures_untold_ = 0;
  std::optional<Nanoseconds> clock_offset_;  // wall clock less boot clock
  Nanoseconds forget_at_{0};

  std::optional<WallTime> stopping_since_;
  Nanoseconds stop_at_{0};  // monotonic; at the latest
  bool is_ended_ = false;
};

}  // namespace kron::kronjobs
