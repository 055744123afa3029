#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kron/core/evaluate.h"
#include "kron/env/process_runner.h"
#include "kron/ledger/ledger.h"

// Pure: what a scheduler's steps say, in the ledger's words.
namespace kron {

// 32 hex digits. `scope` is the job's identity, or what Scheduler::World::scope makes of it. One period has one run id,
// so even the run's directory is made at most once.
std::string run_id_of(std::string_view scope, Instant nominal);
std::string boot_run_id(std::string_view scope, std::string_view boot_id);  // an @reboot job runs once in a boot
std::string manual_run_id(std::string_view scope, std::string_view boot_id, Nanoseconds boot_time,
                          std::uint64_t number);
std::string requested_run_id(std::string_view scope, std::string_view key);  // the same for every repetition

// What a run is about, for those who build its RunSpec.
struct RunCause {
  std::string run_id;
  Trigger trigger = Trigger::schedule;
  std::optional<Decision> period;  // none for a manual run
  bool has_key = false;            // of a manual run: whoever asked for it has named it
};
RunCause cause_of(std::string_view scope, const Decision& period);
RunCause cause_of(const ActiveExecution& run);

// A period has reached its outcome: the bookkeeping, Last*, and for all but executed the line of history (an executed
// period gets its line when its run ends). `at`: when it was decided; the turn may have begun long before. Returns what
// was closed for good with it, because the state would have grown beyond its limits.
std::optional<PassedOver> note_outcome(const Job& job, KnownJob& known, LedgerStep& step, const Record& outcome,
                                       Turn turn, Instant at);

HistoryEntry history_of(const Record& outcome, Instant completed_at);
HistoryEntry history_of(const ActiveExecution& run, const RunExit& exit, Instant completed_at);
HistoryEntry history_of(const Decision& period, const RunExit& earlier, Trigger trigger, Instant now);
HistoryEntry history_of(const PassedOver& passed_over, Instant now);

}  // namespace kron
