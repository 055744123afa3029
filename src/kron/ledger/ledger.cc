#include "kron/ledger/ledger.h"

#include <algorithm>
#include <iterator>

#include "kron/base/failure_rule.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"

namespace kron {

namespace {

// An exit that nobody knows is a failure.
bool went_well(const HistoryEntry& entry) {
  return entry.exit_code && !counts_as_failed(entry.failed, *entry.exit_code);
}

// Whether the period still waits, or runs, or ends with this step. What is said of it later would open an alarm that
// its end has closed already: the sign may have waited for a step that could be written.
bool is_under_way(const LedgerStep& step, Instant period) {
  const JobState& periods = step.now.periods;
  const bool waits = !periods.last_handled || period > *periods.last_handled ||
                     std::ranges::binary_search(periods.open_periods, period);
  const bool runs = std::ranges::any_of(step.now.active, [&](const ActiveExecution& run) {
    return run.period == period && run.trigger != Trigger::manual;
  });
  const bool ends = std::ranges::any_of(step.history, [&](const HistoryEntry& entry) {
    return entry.period == period && entry.trigger != Trigger::manual;
  });
  return waits || runs || ends;
}

}  // namespace

std::optional<AlarmSign> sign_of(const HistoryEntry& entry) {
  if (!entry.period || !entry.outcome || entry.passed_over || entry.trigger == Trigger::manual) return std::nullopt;
  AlarmSign sign{.period = *entry.period,
                 .at = entry.completed_at,
                 .run_id = entry.run_id,
                 .exit_code = entry.exit_code,
                 .reason = std::string(name_of(entry.reason))};
  switch (*entry.outcome) {
    case Outcome::executed:
      sign.kind = went_well(entry) ? AlarmKind::recovered : AlarmKind::failed;
      return sign;
    case Outcome::missed:
      sign.kind = AlarmKind::missed;
      return sign;
    case Outcome::unschedulable:
      // A planned day off is nobody's alarm.
      if (entry.reason == Reason::excluded) return std::nullopt;
      sign.kind = AlarmKind::unschedulable;
      return sign;
    case Outcome::skipped:
      break;
  }
  return std::nullopt;
}

std::vector<AlarmMessage> apply_alarm(StateRecord& record, const LedgerStep& step) {
  if (!step.alarm_terms && !record.alarm) return {};
  Alarm alarm = record.alarm.value_or(Alarm{});
  pay(alarm, step.alarm_notes.paid);
  const std::vector<AlarmMessage> before = alarm.owed;
  if (step.alarm_terms) {
    // What is late was so before it ended.
    for (const AlarmSign& sign : step.alarm_notes.signs) {
      if (is_under_way(step, sign.period)) note(alarm, *step.alarm_terms, sign);
    }
    for (const HistoryEntry& entry : step.history) {
      if (const auto sign = sign_of(entry)) note(alarm, *step.alarm_terms, *sign);
    }
  } else {
    alarm = Alarm{.owed = std::move(alarm.owed)};
  }
  std::vector<AlarmMessage> news;
  std::ranges::copy_if(alarm.owed, std::back_inserter(news),
                       [&](const AlarmMessage& one) { return std::ranges::find(before, one) == before.end(); });
  record.alarm = alarm.is_quiet() ? std::nullopt : std::optional(std::move(alarm));
  if (!record.alarm) record.unknown_of_alarm.clear();
  return news;
}

Status apply(StateRecord& record, const LedgerStep& step) {
  const auto& before = record.periods.last_handled;
  const auto& after = step.now.periods.last_handled;
  if (before && (!after || *after < *before)) {
    return fail(Code::conflict, "the record of " + quoted(step.identity, 200) + " says that period " +
                                    rfc3339(*before) +
                                    " was handled, which this process has not done: somebody else writes it; restart "
                                    "the daemon");
  }
  record.identity = step.identity;
  if (record.periods.suspended != step.now.periods.suspended) record.unknown_of_suspended.clear();
  std::erase_if(record.unknown_of_spans, [&](const auto& of) {
    return std::ranges::find(step.now.periods.passed_over, of.first) == step.now.periods.passed_over.end();
  });
  record.periods = step.now.periods;
  record.active = step.now.active;
  record.last_boot_id = step.now.last_boot_id;
  if (step.last_outcome) {
    record.last_outcome = step.last_outcome;
    record.last_chosen = step.last_chosen;
  }
  record.history.insert(record.history.end(), step.history.begin(), step.history.end());
  if (record.history.size() > step.history_cap) {
    record.history.erase(record.history.begin(), record.history.end() - step.history_cap);
  }
  return {};
}

}  // namespace kron
