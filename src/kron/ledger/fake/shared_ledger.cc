#include "kron/ledger/fake/shared_ledger.h"

#include <algorithm>
#include <utility>

#include "kron/base/rfc3339.h"

namespace kron::testing {

void SharedRecords::put_periods(std::string_view identity, JobState periods) {
  Record& record = at(identity);
  record.periods = std::move(periods);
  record.revision = next_revision_++;
}

Result<std::vector<KnownJob>> SharedLedger::load(std::span<const std::string> identities, Instant now) {
  std::vector<KnownJob> known;
  for (const std::string& identity : identities) {
    SharedRecords::Record& record = records_.at(identity);
    if (record.revision == 0) {
      record.revision = records_.next_revision_++;
      record.periods.first_seen = now;
    }
    revisions_[identity] = record.revision;
    known.push_back({record.periods, record.active[host_], record.last_boot_id});
  }
  return known;
}

Result<KnownJob> SharedLedger::reset(std::string_view identity, Instant now, std::string_view boot_id) {
  SharedRecords::Record& record = records_.at(identity);
  JobState anew;
  anew.first_seen = now + Seconds(1);
  anew.first_seen_is_floor = true;
  records_.put_periods(identity, std::move(anew));
  record.last_boot_id = boot_id;
  revisions_[std::string(identity)] = record.revision;
  return KnownJob{record.periods, {}, record.last_boot_id};
}

Result<bool> SharedLedger::has_run(std::string_view /*identity*/, std::string_view run_id) {
  return records_.host_of(std::string(run_id)) != nullptr;
}

std::vector<Written> SharedLedger::write(std::span<const LedgerStep> steps) {
  batches.push_back(steps.size());
  if (before_batch) before_batch();
  std::vector<Written> written;
  for (const LedgerStep& step : steps) {
    written.push_back(write(step));
    ++answers[written.back().how];
  }
  return written;
}

Written SharedLedger::write(const LedgerStep& step) {
  if (instead) {
    if (std::optional<Written> answer = instead(step)) return *std::move(answer);
  }
  SharedRecords::Record& record = records_.at(step.identity);
  if (std::optional<Written> answer = refusal(step, record)) {
    revisions_[step.identity] = record.revision;
    return *std::move(answer);
  }
  apply_to(record, step);
  if (loses_answer && loses_answer(step)) {
    end_never_ran(record, step);
    return Written::unknown({Code::unreachable, "the answer was lost"});
  }
  revisions_[step.identity] = record.revision;
  return {};
}

std::optional<Written> SharedLedger::refusal(const LedgerStep& step, const SharedRecords::Record& record) const {
  if (records_.takes_all) return std::nullopt;
  const auto known = revisions_.find(step.identity);
  if (known == revisions_.end() || known->second != record.revision) return Written::newer(record.periods);
  for (const StartedRun& run : step.started) {
    if (records_.host_of(run.run_id) != nullptr) return Written::ran(run.run_id);
  }
  if (step.started.empty() || record.lock.empty()) return std::nullopt;
  const auto holder = records_.locks_.find(record.lock);
  if (holder != records_.locks_.end()) return Written::held(holder->second);
  return std::nullopt;
}

void SharedLedger::apply_to(SharedRecords::Record& record, const LedgerStep& step) {
  record.revision = records_.next_revision_++;
  record.periods = step.now.periods;
  record.last_boot_id = step.now.last_boot_id;
  record.active[host_] = step.now.active;
  for (const StartedRun& run : step.started) {
    records_.hosts_.emplace(run.run_id, host_);
    if (!record.lock.empty()) records_.locks_[record.lock] = run.run_id;
    if (run.period) note_outcome(record, step, *run.period, Outcome::executed);
  }
  for (const HistoryEntry& entry : step.history) {
    record.history.push_back(entry);
    std::erase_if(records_.locks_, [&](const auto& lock) { return lock.second == entry.run_id; });
    if (entry.period && !entry.passed_over && entry.outcome != Outcome::executed) {
      note_outcome(record, step, *entry.period, *entry.outcome);
    }
  }
}

void SharedLedger::note_outcome(SharedRecords::Record& record, const LedgerStep& step, Instant period,
                                Outcome outcome) {
  const auto [known, is_new] = record.outcomes.try_emplace(period, outcome);
  if (is_new || !records_.violation_.empty()) return;
  records_.violation_ = step.identity + " " + rfc3339(period) +
                        " has a second outcome: " + std::string(name_of(known->second)) + ", then " +
                        std::string(name_of(outcome));
}

// Its author will not let it go: it cannot know that it may.
void SharedLedger::end_never_ran(SharedRecords::Record& record, const LedgerStep& step) {
  for (const StartedRun& run : step.started) {
    std::erase_if(record.active[host_], [&](const ActiveExecution& active) { return active.run_id == run.run_id; });
    std::erase_if(records_.locks_, [&](const auto& lock) { return lock.second == run.run_id; });
  }
}

}  // namespace kron::testing
