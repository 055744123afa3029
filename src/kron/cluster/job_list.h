#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/cluster/aside.h"
#include "kron/cluster/job_list_redis.h"
#include "kron/cluster/job_reading.h"
#include "kron/cluster/keys.h"
#include "kron/cluster/link.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"

namespace kron::cluster {

// The jobs of this host: what `:jobs` said when it was read last, and what events have changed since. Lives on the loop
// and never waits for Redis there: all reading and writing is done aside, and what it does meanwhile waits for it, in
// order. A list that was read is applied in slices, between which the loop does what else is to be done: a hundred
// thousand jobs take seconds. One that goes away while something of it is done aside is not told of the end.
class JobList {
 public:
  struct World {
    Link& link;
    const Keys& keys;
    const Clock& clock;  // the cluster's
    Log& log;
    JobTermsTable& terms;
    Aside aside;
    // Aside: reads what the ledger knows of jobs that are new here, so that put() need not wait for it. None: it waits.
    std::function<Status(std::span<const std::string> names, const JobTermsTable::Map& terms)> prefetch = {};
    // Of the scheduler, on the loop. A failure is logged, and the list read again later.
    // New jobs, other texts of some, and some that are as they were. What became due since is on time.
    std::function<Status(std::vector<jobs::JobDefinition>, Instant since)> put;
    std::function<Status(std::span<const std::string> names)> drop;  // those that it does not know are passed by
    std::function<Status()> loaded = {};                             // a list is there as a whole
  };
  JobList(World world, JobRules rules);
  JobList(const JobList&) = delete;
  JobList& operator=(const JobList&) = delete;
  ~JobList();

  enum class Cause : std::uint8_t {
    boot,
    subscribed,  // events may have been missed
    requested,   // by a reload event, or an operator here: then an empty list is applied too
  };
  using Done = std::function<void(const Status&)>;  // on the loop

  // Reads the list, and the cluster's zone, and applies it; what `add` and `remove` have changed is forgotten. A list
  // that cannot be read is tried again by tick(), and `done` told of the failure.
  void reload(Cause cause, Done done = {});

  // Events. While a reading is under way they wait for its end, so that it does not undo them.
  void add(std::string name, std::string definition);
  void remove(std::string name);
  using Pause = std::optional<jobs::ClusterPause>;  // none: not paused
  // Here at once, and in Redis: set and definition by one script. `job` may be events::kAllJobs: those loaded now.
  void set_paused(std::string job, Pause pause);
  // Notes validation_errors of these jobs (none: all) or takes them away, if no other host is at it.
  void validate(std::vector<std::string> names);
  // No job is started by its schedule any more on this host, reloaded or not, until the process ends.
  void drain();
  // A definition that others seem to know otherwise is read again.
  void read_again(std::string name);

  // What failed is tried again. Says when it wants to be called next, by Clock::monotonic; none: no need.
  std::optional<Nanoseconds> tick(Nanoseconds now);

  [[nodiscard]] bool is_loaded() const { return is_loaded_; }  // once at least
  [[nodiscard]] bool is_draining() const { return is_draining_; }
  [[nodiscard]] std::size_t size() const { return jobs_->size(); }
  // As it stands in Redis, or as `add` gave it; null: not in the list. Refused definitions are in it too.
  [[nodiscard]] const std::string* text(std::string_view name) const;
  // Name -> why the definition does not run.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& refused() const { return *refused_; }

 private:
  using Texts = std::map<std::string, std::string, std::less<>>;

  // What is said of a reading: no more than a few remarks, and nothing that was said of the last one.
  struct Remarks {
    std::vector<std::pair<std::string, std::string>> refused = {};
    std::vector<std::pair<std::string, std::string>> warnings = {};
    std::size_t left_out = 0;
  };
  // A list that was read and judged aside.
  struct Read {
    Cause cause = Cause::boot;
    std::vector<Done> done = {};
    bool is_from_redis = true;
    Result<JobTexts> texts = JobTexts();
    std::shared_ptr<const JobRules> rules = {};  // by which they were judged
    JobReading jobs = {};
    std::vector<std::string> gone = {};  // jobs of the scheduler that are not among them
    Texts refused = {};
    Remarks remarks = {};
    Status fetched = {};      // what the ledger knows of the new ones
    std::size_t applied = 0;  // of jobs.definitions, and then …
    std::size_t dropped = 0;  // … of `gone`
  };
  struct Waiting {
    Aside::Work work = {};  // none: a reload
    Cause cause = Cause::boot;
    std::vector<Done> done = {};
  };
  struct Alive {};

  void later(Aside::Work work);
  void work_off_waiting();
  void begin_reading(Cause cause, std::vector<Done> done);
  void judge_aside(std::shared_ptr<Read> read, std::function<Result<JobTexts>()> texts);
  struct Before;
  static void judge(Read& read, const JobRules& rules, const Before& before);
  void take(const std::shared_ptr<Read>& read);
  void apply_some(const std::shared_ptr<Read>& read);
  Result<bool> apply_slice(Read& read);
  void keep(const std::shared_ptr<Read>& read);
  void finish(const std::shared_ptr<Read>& read, const Status& applied);
  void take_one(const std::string& name, std::string text, Instant read_at);
  void write_aside(std::vector<DefinitionEdit> edits);
  void pause_all(const Pause& pause);
  void write_paused_aside(const std::string& job, std::shared_ptr<std::vector<TextOfJob>> texts, const Pause& pause);
  void say(const Remarks& remarks);

  World world_;
  std::shared_ptr<const JobRules> rules_;
  std::shared_ptr<Texts> jobs_ = std::make_shared<Texts>();     // not changed while a reading is under way
  std::shared_ptr<Texts> refused_ = std::make_shared<Texts>();  // likewise
  bool is_loaded_ = false;
  bool is_draining_ = false;
  bool is_reading_ = false;
  std::deque<Waiting> waiting_;  // for the end of the reading
  std::optional<Cause> failed_;  // to be tried again
  std::string last_failure_;     // the same one is said once
  Nanoseconds retry_at_{0};
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
};

}  // namespace kron::cluster
