#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/ledger/task_to_submit.h"
#include "kron/state/record.h"

namespace kron {

// What a scheduler must know about a job to go on: everything of its record but the past.
struct KnownJob {
  JobState periods;
  std::vector<ActiveExecution> active;
  std::string last_boot_id;
  std::string unusable = {};  // why the record cannot be used; such a job must not be scheduled
  // Of a record that was loaded: messages of its alarm that nobody knows to be in the queue. Whoever loads it takes
  // them.
  std::vector<AlarmMessage> owed = {};

  bool operator==(const KnownJob&) const = default;
};

// A run that a step starts.
struct StartedRun {
  std::string run_id;
  std::optional<Instant> period;  // none for a manual run
  std::optional<Instant> chosen;
  Trigger trigger = Trigger::schedule;
  bool has_key = false;  // of a manual run: who asked for it has named it, and may ask again elsewhere
  // What it submits instead of running a command. A ledger beside its queue submits it in the same step; of others the
  // scheduler's TaskSubmitter does, once the step is durable.
  std::optional<TaskToSubmit> task = {};

  bool operator==(const StartedRun&) const = default;
};

// What is to be noted of a job's alarm beside what its periods tell.
struct AlarmNotes {
  std::vector<AlarmSign> signs = {};   // runs that are late
  std::vector<std::string> paid = {};  // keys of messages that the queue has

  [[nodiscard]] bool empty() const { return signs.empty() && paid.empty(); }
};

// One step of one job, to be made durable as a whole. The scheduler says what is so now and what is new.
struct LedgerStep {
  std::string identity;
  KnownJob now;
  std::optional<Outcome> last_outcome;  // when the step handled now.periods.last_handled: its outcome …
  std::optional<Instant> last_chosen;   // … and chosen time
  std::vector<HistoryEntry> history;    // appended; the oldest beyond history_cap are dropped
  std::uint32_t history_cap = 20;
  std::vector<StartedRun> started = {};  // those of now.active that are new; their commands wait for the answer
  std::shared_ptr<const AlarmTerms> alarm_terms = {};  // none: the job has no alarm, and one that it had is forgotten
  AlarmNotes alarm_notes = {};
};

// What became of a step. Several daemons may share a ledger: then a step is refused unless its record is still the one
// that its author judged by.
struct [[nodiscard]] Written {
  enum class How : std::uint8_t {
    done,     // it survives a power cut; with `periods` when others have moved the job on since
    newer,    // nothing was written: another daemon has moved the job on, to `periods`; judge again by these
    held,     // nothing was written: the job's lock is held, by the run `run_id`
    ran,      // nothing was written: the run `run_id` of the step has been before; its period is executed
    refused,  // nothing was written, for the reason `why`; to be tried again at `retry_at`
    unknown,  // it may have happened, and nobody knows, for the reason `why`; its runs must not be let go
  };

  How how = How::done;
  Error why = {};
  std::optional<JobState> periods = {};
  std::string run_id = {};
  std::optional<Instant> retry_at = {};  // none: when the caller likes
  std::vector<AlarmMessage> owed = {};   // done: messages that the step has made, as durable as it is

  [[nodiscard]] bool is_done() const { return how == How::done; }

  static Written refused(Error why, std::optional<Instant> retry_at = {}) {
    return {.how = How::refused, .why = std::move(why), .retry_at = retry_at};
  }
  static Written unknown(Error why) { return {.how = How::unknown, .why = std::move(why)}; }
  static Written newer(JobState periods) { return {.how = How::newer, .periods = std::move(periods)}; }
  static Written held(std::string by_run) { return {.how = How::held, .run_id = std::move(by_run)}; }
  static Written ran(std::string run_id) { return {.how = How::ran, .run_id = std::move(run_id)}; }
};

// Pure: the record after the step. Conflict, and no change, when LastHandledPeriodID would move back: the record knows
// of a period that the step's author has never heard of.
Status apply(StateRecord& record, const LedgerStep& step);

// What an entry of the history says to an alarm; nothing when it says nothing: it was skipped, excluded, passed over,
// or asked for by hand.
std::optional<AlarmSign> sign_of(const HistoryEntry& entry);
// The part of apply() that is about the alarm. Returns the messages that are owed since.
std::vector<AlarmMessage> apply_alarm(StateRecord& record, const LedgerStep& step);

// What happened to each period, durably. One owner at a time; nothing of it is thread-safe. A ledger that others share
// (on a server) answers all that Written names; one that is its owner's alone only done and refused.
class Ledger {
 public:
  virtual ~Ledger() = default;

  // What is known of each of these jobs, in their order. Jobs never seen before are seen from `now` on, and that is
  // durable when this returns. Repeatable: a reload loads again.
  virtual Result<std::vector<KnownJob>> load(std::span<const std::string> identities, Instant now) = 0;

  // Begins what is known of a job anew, so that only what is due later than `now` runs; see FileLedger.
  virtual Result<KnownJob> reset(std::string_view identity, Instant now, std::string_view boot_id) = 0;

  // Whether the job's record tells of this run, active or ended.
  virtual Result<bool> has_run(std::string_view identity, std::string_view run_id) = 0;

  // All steps as one durable batch (each identity at most once), and one answer per step, in order. `refused` means
  // that the step did not happen, or that `broken` now says so. May take as long as the disk or a server does; the
  // scheduler calls it on a thread of its own when its batch is full.
  virtual std::vector<Written> write(std::span<const LedgerStep> steps) = 0;

  // Why nothing can be written any more, once a sync has failed: nobody knows what is on the disk. The caller starts
  // nothing more and exits; the next start recovers from what the disk really holds.
  virtual const std::optional<Error>& broken() const = 0;
};

}  // namespace kron
