#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/ledger/state_record.h"

namespace kron {

// What a scheduler must know about a job to go on: everything of its record but the past.
struct KnownJob {
  JobState periods;
  std::vector<ActiveExecution> active;
  std::string last_boot_id;
  std::string unusable = {};  // why the record cannot be used; such a job must not be scheduled

  bool operator==(const KnownJob&) const = default;
};

// One step of one job, to be made durable as a whole. The scheduler says what is so now and what is new.
struct LedgerStep {
  std::string identity;
  KnownJob now;
  std::optional<Outcome> last_outcome;  // when the step handled now.periods.last_handled: its outcome …
  std::optional<Instant> last_chosen;   // … and chosen time
  std::vector<HistoryEntry> history;    // appended; the oldest beyond history_cap are dropped
  std::uint32_t history_cap = 20;
};

// Pure: the record after the step. Conflict, and no change, when LastHandledPeriodID would move back: the record knows
// of a period that the step's author has never heard of.
Status apply(StateRecord& record, const LedgerStep& step);

// What happened to each period, durably. One owner at a time; nothing of it is thread-safe.
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

  // All steps as one durable batch (each identity at most once). One status per step, in order: ok means that the step
  // survives a power cut; a failure means that the step did not happen, or that `broken` now says so.
  virtual std::vector<Status> write(std::span<const LedgerStep> steps) = 0;

  // Why nothing can be written any more, once a sync has failed: nobody knows what is on the disk. The caller starts
  // nothing more and exits; the next start recovers from what the disk really holds.
  virtual const std::optional<Error>& broken() const = 0;
};

}  // namespace kron
