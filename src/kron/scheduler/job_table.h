#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kron/base/hash_index.h"
#include "kron/jobs/definition.h"
#include "kron/ledger/ledger.h"
#include "kron/scheduler/run_cause.h"
#include "kron/scheduler/shared_pool.h"
#include "kron/scheduler/slots.h"

namespace kron {

// A run that waits for others to end: those that it replaces, or, queued, those of its job that go before it, or
// whoever has the slot that it needs.
struct WaitingRun {
  RunCause cause;
  std::optional<Nanoseconds> give_up_at;  // monotonic; none: a queued period, for which its deadline says it
  bool is_queued = false;
  Slots::Group* lacks_slot = nullptr;  // it waits for a slot, and its place in line is:
  Slots::Place place = {};
  Instant since = {};             // when the wait began
  Slots::Group* holds = nullptr;  // the slot of a run that it replaces, which has ended

  // It is judged anew when its turn comes. What was asked for by hand, or by the boot, is not.
  [[nodiscard]] bool is_queued_period() const {
    return is_queued && cause.period.has_value() && cause.trigger != Trigger::reboot;
  }
};

// A scheduler's jobs, by number and by identity. A daemon holds a million of them and looks at a few at a time: a job
// at rest is packed, some two hundred bytes beside its name and command, and unpacked while it is looked at.
class JobTable {
 public:
  using Number = std::uint32_t;

  // A job that is awake.
  struct Entry {
    jobs::JobDefinition definition;
    KnownJob known;
    std::unique_ptr<WaitingRun> waiting;
    bool is_kept = false;  // it has something waiting, and let_rest() does not look at it any more
  };

  void reserve(std::size_t more);

  // No job in the table has this identity. A number may have been another job's that is gone.
  Number add(jobs::JobDefinition&& definition, KnownJob&& known);
  void replace(Number job, jobs::JobDefinition definition);  // of the same identity; brings a removed job back
  void remove(Number job);                                   // no longer wanted; stays until it is erased
  void erase(Number job);                                    // a removed one; its entry is gone

  // The entry is valid, and what is changed in it is kept, until the next let_rest(), by which all rest that have
  // nothing waiting. Those that have cost it nothing, however many they are.
  Entry& wake(Number job);
  void let_rest();
  [[nodiscard]] bool is_restless() const { return awake_.size() >= kMostAwake; }

  // What waits no longer; there is something.
  WaitingRun take_waiting(Number job);

  // After a reload: lets go of what only jobs that are gone had.
  void tidy();

  [[nodiscard]] std::optional<Number> find(std::string_view identity) const;  // removed ones too
  [[nodiscard]] std::size_t wanted() const { return index_.size() - removed_; }
  [[nodiscard]] Number end() const { return static_cast<Number>(slots_.size()); }  // one more than the last number
  [[nodiscard]] bool is_wanted(Number job) const { return slots_[job].state == State::wanted; }
  [[nodiscard]] bool is_removed(Number job) const { return slots_[job].state == State::removed; }

  // Looks at jobs that rest with little known of them; on any thread, while nobody changes the table. Keeps copies, so
  // that threads do not quarrel over reference counts.
  class Glance {
   public:
    explicit Glance(const JobTable& table) : table_(table) {}
    bool at(Number job);  // false when there is more to know than `periods()` could tell
    [[nodiscard]] const Job& job() const { return *job_; }
    [[nodiscard]] const JobState& periods() const { return periods_; }

   private:
    const JobTable& table_;
    std::unordered_map<const Job*, Job> jobs_;  // by their terms
    Job* job_ = nullptr;
    JobState periods_;
  };

  // What is known of a job without waking it.
  [[nodiscard]] jobs::JobDefinition definition(Number job) const;
  [[nodiscard]] KnownJob known(Number job) const;
  [[nodiscard]] const std::string& identity(Number job) const { return slots_[job].identity; }
  [[nodiscard]] const jobs::RunOptions& options(Number job) const { return *slots_[job].options; }
  [[nodiscard]] const Schedule& schedule(Number job) const { return *slots_[job].schedule; }
  [[nodiscard]] const WindowSpec& window(Number job) const { return slots_[job].terms->window; }
  [[nodiscard]] bool has_runs(Number job) const;
  [[nodiscard]] const WaitingRun* waiting(Number job) const {  // null: none
    return slots_[job].awake != nullptr ? slots_[job].awake->waiting.get() : nullptr;
  }
  [[nodiscard]] bool has_open_or_passed_over(Number job) const;
  [[nodiscard]] std::optional<Instant> first_seen(Number job) const;
  [[nodiscard]] std::optional<Instant> last_handled(Number job) const;

 private:
  static constexpr std::size_t kMostAwake = 128;

  enum class State : std::uint8_t { free, wanted, removed };
  struct Slot {
    std::string identity;
    jobs::Action action;
    std::shared_ptr<const Schedule> schedule;
    std::shared_ptr<const Job> terms;  // the job without identity and schedule
    std::shared_ptr<const jobs::RunOptions> options;
    std::shared_ptr<const std::string> file;
    std::shared_ptr<const std::string> schedule_text;  // mostly null
    std::shared_ptr<const jobs::ClusterPause> pause;   // mostly null
    std::uint32_t line = 0;
    jobs::Spelling spelling = jobs::Spelling::kron;
    State state = State::free;
    bool has_last_handled = false;
    bool has_first_seen = false;
    Instant last_handled;
    Instant first_seen;
    Seconds first_seen_reach{0};
    std::unique_ptr<KnownJob> more;  // instead of the above, when there is more to know
    std::unique_ptr<Entry> awake;    // instead of all that is known
  };

  struct HashOf {
    std::size_t operator()(const Schedule& schedule) const;
    std::size_t operator()(const Job& terms) const;
  };

  void pack(Slot& slot, jobs::JobDefinition&& definition);
  static void pack(Slot& slot, KnownJob&& known);
  static void unpack(const Slot& slot, jobs::JobDefinition& definition);
  static void unpack(const Slot& slot, KnownJob& known);
  [[nodiscard]] static const KnownJob* more_of(const Slot& slot);

  std::vector<Slot> slots_;
  std::vector<Number> free_;
  HashIndex index_;
  std::size_t removed_ = 0;
  SharedPool<Schedule, HashOf> schedules_;
  SharedPool<Job, HashOf> terms_;
  std::vector<Number> awake_;                  // but those that are kept
  std::vector<std::unique_ptr<Entry>> spare_;  // entries of jobs that rest again
};

}  // namespace kron
