#include "kron/scheduler/run_cause.h"

#include "kron/base/sha256.h"

namespace kron {
namespace {

// Never a UUID of version 4: those are the runs of cronken, and beside it a cluster tells them apart by that.
std::string short_hex(const Sha256& hash) {
  constexpr std::size_t kVersion = 12;
  constexpr std::size_t kVariant = 16;
  std::string id = hex(hash).substr(0, 32);
  const bool is_uuid = id[kVersion] == '4' && std::string_view("89ab").find(id[kVariant]) != std::string_view::npos;
  if (is_uuid) id[kVersion] = '5';
  return id;
}

}  // namespace

std::string run_id_of(std::string_view identity, Instant nominal) {
  return short_hex(sha256({identity, "\n", period_id(nominal)}));
}

std::string boot_run_id(std::string_view identity, std::string_view boot_id) {
  return short_hex(sha256({identity, "\nreboot\n", boot_id}));
}

std::string manual_run_id(std::string_view identity, std::string_view boot_id, Nanoseconds boot_time,
                          std::uint64_t number) {
  return short_hex(
      sha256({identity, "\nmanual\n", boot_id, "\n", std::to_string(boot_time.count()), "\n", std::to_string(number)}));
}

std::string requested_run_id(std::string_view identity, std::string_view key) {
  return short_hex(sha256({identity, "\nrequested\n", key}));
}

RunCause cause_of(std::string_view identity, const Decision& period) {
  return {run_id_of(identity, period.nominal), Trigger::schedule, period};
}

RunCause cause_of(const ActiveExecution& run) {
  RunCause cause{run.run_id, run.trigger, std::nullopt};
  if (!run.period) return cause;
  Decision& period = cause.period.emplace();
  period.nominal = *run.period;
  period.chosen = run.chosen;
  return cause;
}

std::optional<PassedOver> note_outcome(const Job& job, KnownJob& known, LedgerStep& step, const Record& outcome,
                                       Turn turn, Instant at) {
  const Decision& period = outcome.period;
  const std::optional<PassedOver> closed = mark_handled(job, known.periods, period.nominal, turn);
  if (known.periods.last_handled == period.nominal) {
    step.last_outcome = outcome.outcome;
    step.last_chosen = period.chosen;
  }
  if (outcome.outcome != Outcome::executed) step.history.push_back(history_of(outcome, at));
  return closed;
}

HistoryEntry history_of(const Record& outcome, Instant completed_at) {
  return {.period = outcome.period.nominal,
          .outcome = outcome.outcome,
          .reason = outcome.reason,
          .clause = outcome.clause,
          .chosen = outcome.period.chosen,
          .completed_at = completed_at};
}

HistoryEntry history_of(const ActiveExecution& run, const RunExit& exit, Instant completed_at) {
  return {.period = run.period,
          .outcome = Outcome::executed,
          .chosen = run.chosen,
          .completed_at = completed_at,
          .exit_code = exit.code,
          .attempts = several(exit.attempts),
          .failed = unlike_exit_code(exit.failed, exit.code),
          .run_id = run.run_id,
          .trigger = run.trigger};
}

HistoryEntry history_of(const Decision& period, const RunExit& earlier, Trigger trigger, Instant now) {
  return {.period = period.nominal,
          .outcome = Outcome::executed,
          .chosen = period.chosen,
          .completed_at = earlier.ended.value_or(now),
          .exit_code = earlier.code,
          .attempts = several(earlier.attempts),
          .failed = unlike_exit_code(earlier.failed, earlier.code),
          .run_id = earlier.run_id,
          .trigger = trigger};
}

HistoryEntry history_of(const PassedOver& passed_over, Instant now) {
  return {.completed_at = now, .passed_over = passed_over};
}

}  // namespace kron
