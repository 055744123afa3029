#include <algorithm>
#include <array>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/core/words.h"
#include "kron/json/writer.h"
#include "kron/state/record.h"

namespace kron {
namespace {

constexpr std::array kTriggers{
    Word{Trigger::schedule, "schedule"},
    Word{Trigger::manual, "manual"},
    Word{Trigger::reboot, "reboot"},
};

std::string text_of(const std::optional<Instant>& time) { return time ? rfc3339(*time) : std::string(); }

// 16 hex digits: JSON's numbers do not hold 64 bits everywhere.
std::string hash_text(std::uint64_t hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = kDigits[hash >> (60 - 4 * i) & 0xFU];
  return text;
}

// `members` as in StateRecord, within a map that has a member already.
void write_unknown(JsonWriter& out, std::string_view members) {
  if (!members.empty()) out.document(members.substr(1));
}

void write_active(JsonWriter& out, const ActiveExecution& run) {
  out.begin_map().member("PeriodID", text_of(run.period));
  if (run.task_id.empty()) out.key("PID").integer(run.pid);
  out.member("StartedAt", rfc3339(run.started_at))
      .member("ChosenTime", text_of(run.chosen))
      .member("RunID", run.run_id)
      .member("Trigger", name_of(run.trigger));
  if (run.task_id.empty()) {
    out.key("ProcessStart").integer(static_cast<std::int64_t>(run.process_start)).member("BootID", run.boot_id);
  } else {
    out.member("TaskID", run.task_id);
  }
  write_unknown(out, run.unknown_members);
  out.end_map();
}

void write_history(JsonWriter& out, const HistoryEntry& entry) {
  out.begin_map();
  if (entry.passed_over) {
    out.member("Outcome", kPassedOverWord)
        .member("CompletedAt", rfc3339(entry.completed_at))
        .key("Count")
        .integer(static_cast<std::int64_t>(entry.passed_over->count))
        .member("First", rfc3339(entry.passed_over->first))
        .member("Last", rfc3339(entry.passed_over->last));
    write_unknown(out, entry.unknown_members);
    out.end_map();
    return;
  }
  out.member("PeriodID", text_of(entry.period))
      .member("Outcome", entry.outcome ? name_of(*entry.outcome) : "")
      .member("NominalTime", text_of(entry.period))
      .member("ChosenTime", text_of(entry.chosen))
      .member("CompletedAt", rfc3339(entry.completed_at))
      .key("ExitCode");
  if (entry.exit_code) {
    out.integer(*entry.exit_code);
  } else {
    out.null();
  }
  if (entry.failed) out.key("Failed").boolean(*entry.failed);
  if (entry.attempts) out.key("Attempts").integer(*entry.attempts);
  if (entry.reason != Reason::none) out.member("Reason", name_of(entry.reason));
  if (!entry.clause.empty()) out.member("Clause", entry.clause);
  if (!entry.run_id.empty()) out.member("RunID", entry.run_id);
  if (entry.trigger != Trigger::schedule) out.member("Trigger", name_of(entry.trigger));
  write_unknown(out, entry.unknown_members);
  out.end_map();
}

void write_owed(JsonWriter& out, const AlarmMessage& message) {
  out.begin_map()
      .member("Kind", name_of(message.sign.kind))
      .member("First", rfc3339(message.first))
      .member("PeriodID", rfc3339(message.sign.period))
      .member("At", rfc3339(message.sign.at))
      .key("Count")
      .integer(message.count);
  if (message.number != 0) out.key("Number").integer(message.number);
  out.member("OpenedAs", name_of(message.opened_as));
  if (!message.sign.run_id.empty()) out.member("RunID", message.sign.run_id);
  if (message.sign.exit_code) out.key("ExitCode").integer(*message.sign.exit_code);
  if (!message.sign.reason.empty()) out.member("Reason", message.sign.reason);
  out.key("To").begin_list();
  for (const std::string& name : message.to) out.text(name);
  out.end_list().end_map();
}

void write_alarm(JsonWriter& out, const Alarm& alarm, std::string_view unknown) {
  out.key("Alarm").begin_map().key("Bad").integer(alarm.bad);
  if (alarm.first) out.member("First", rfc3339(*alarm.first));
  if (alarm.last) out.member("Last", rfc3339(*alarm.last));
  if (alarm.is_open) {
    out.key("Open").boolean(true).member("Kind", name_of(alarm.kind)).key("Told").integer(alarm.told);
    out.member("ToldAt", rfc3339(alarm.told_at));
  }
  if (!alarm.owed.empty()) {
    out.key("Owed").begin_list();
    for (const AlarmMessage& message : alarm.owed) write_owed(out, message);
    out.end_list();
  }
  write_unknown(out, unknown);
  out.end_map();
}

// The keys the contract adds to the seed's; each only when it says something.
void write_bookkeeping(JsonWriter& out, const StateRecord& record) {
  const JobState& periods = record.periods;
  if (periods.first_seen) out.member("FirstSeen", rfc3339(*periods.first_seen));
  if (periods.first_seen_is_floor) out.key("FirstSeenIsFloor").boolean(true);
  if (periods.first_seen_reach.count() != 0) out.key("FirstSeenReach").integer(periods.first_seen_reach.count());
  if (periods.schedule) {
    out.key("Schedule").begin_map().member("Hash", hash_text(periods.schedule->hash));
    if (periods.schedule->since) out.member("Since", rfc3339(*periods.schedule->since));
    write_unknown(out, record.unknown_of_schedule);
    out.end_map();
  }
  if (!periods.open_periods.empty()) {
    out.key("OpenPeriods").begin_list();
    for (const Instant period : periods.open_periods) out.text(rfc3339(period));
    out.end_list();
  }
  if (!periods.passed_over.empty()) {
    out.key("PassedOver").begin_list();
    for (const Span& span : periods.passed_over) {
      out.begin_map().member("First", rfc3339(span.first)).member("Last", rfc3339(span.last));
      const auto unknown = std::ranges::find(record.unknown_of_spans, span, &std::pair<Span, std::string>::first);
      if (unknown != record.unknown_of_spans.end()) write_unknown(out, unknown->second);
      out.end_map();
    }
    out.end_list();
  }
  if (periods.suspended) {
    out.key("Suspended").begin_map().member("Since", rfc3339(periods.suspended->since));
    if (periods.suspended->until) out.member("Until", rfc3339(*periods.suspended->until));
    if (periods.suspended->skip_missed) out.key("SkipMissed").boolean(true);
    if (!periods.suspended->by.empty()) out.member("By", periods.suspended->by);
    if (!periods.suspended->note.empty()) out.member("Note", periods.suspended->note);
    write_unknown(out, record.unknown_of_suspended);
    out.end_map();
  }
  if (periods.failures_in_a_row != 0) out.key("FailuresInARow").integer(periods.failures_in_a_row);
  if (!record.last_boot_id.empty()) out.member("LastBootID", record.last_boot_id);
  if (record.alarm) write_alarm(out, *record.alarm, record.unknown_of_alarm);
}

}  // namespace

std::string_view name_of(Trigger trigger) { return word_of(trigger, kTriggers); }
Result<Trigger> parse_trigger(std::string_view text) { return parse_word(text, kTriggers, "trigger", "trigger"); }

std::string state::print(const StateRecord& record) {
  JsonWriter out;
  out.begin_map()
      .member("Version", kStateVersion)
      .member("Identity", record.identity)
      .member("LastHandledPeriodID", text_of(record.periods.last_handled))
      .member("LastOutcome", record.last_outcome ? name_of(*record.last_outcome) : "")
      .member("LastChosenTime", text_of(record.last_chosen))
      .member("LastNominalTime", text_of(record.periods.last_handled));
  if (!record.active.empty()) {
    out.key("ActiveExecution");
    write_active(out, *std::ranges::max_element(record.active, {}, &ActiveExecution::started_at));
    out.key("ActiveExecutions").begin_list();
    for (const ActiveExecution& run : record.active) write_active(out, run);
    out.end_list();
  }
  out.key("History").begin_list();
  for (const HistoryEntry& entry : record.history) write_history(out, entry);
  out.end_list();
  write_bookkeeping(out, record);
  std::string text = out.take();
  text += record.unknown_members;
  text += "}\n";
  return text;
}

Result<std::string> state::fit(StateRecord& record, std::size_t most) {
  std::string text = print(record);
  if (text.size() <= most) return text;
  // Somewhat more than must go, so that not every step from now on writes its text twice.
  const std::size_t to_save = text.size() - most + most / 64;
  std::size_t saved = 0;
  auto kept = record.history.begin();
  for (; kept != record.history.end() && saved < to_save; ++kept) {
    JsonWriter entry;
    write_history(entry, *kept);
    saved += entry.take().size() + 1;
  }
  record.history.erase(record.history.begin(), kept);
  text = print(record);
  if (text.size() <= most) return text;
  return fail(Code::refused, "the record of " + quoted(record.identity, 200) + " would have " +
                                 std::to_string(text.size()) + " bytes, more than the " + std::to_string(most) +
                                 " it may have, without any history: it has too many active runs or open periods; end "
                                 "some of its runs, or make its window shorter");
}

}  // namespace kron
