// How the files of a state directory are read. simdjson, because a daemon reads a million records when it starts.
#include <algorithm>
#include <charconv>
#include <simdjson.h>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/base/sha256.h"
#include "kron/base/text.h"
#include "kron/json/writer.h"
#include "kron/state/first_seen.h"
#include "kron/state/migrate.h"
#include "kron/state/record.h"

namespace kron {
namespace {

namespace dom = simdjson::dom;
using state::Migration;
using state::migrations;

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kSmallest = 4096;

tl::unexpected<Error> bad_member(std::string_view key, std::string_view expected) {
  return fail(Code::invalid, "'" + std::string(key) + "' must be " + std::string(expected), std::string(key));
}

// Each read_* takes the value of `key` into `to`; an error names the key.
Status read_text(std::string_view key, const dom::element& value, std::string& to) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return bad_member(key, "a text");
  to = text;
  return {};
}

Status read_instant(std::string_view key, const dom::element& value, std::optional<Instant>& to) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return bad_member(key, "an RFC 3339 time or \"\"");
  to.reset();
  if (text.empty()) return {};
  const Result<Instant> time = parse_rfc3339(text);
  if (!time) return bad_member(key, "an RFC 3339 time or \"\", not " + quoted(text));
  to = *time;
  return {};
}

Status read_instant(std::string_view key, const dom::element& value, Instant& to) {
  std::optional<Instant> time;
  if (Status status = read_instant(key, value, time); !status) return status;
  if (!time) return bad_member(key, "an RFC 3339 time");
  to = *time;
  return {};
}

Status read_bool(std::string_view key, const dom::element& value, bool& to) {
  return value.get(to) == simdjson::SUCCESS ? Status{} : Status(bad_member(key, "true or false"));
}

template <class Integer>
Status read_integer(std::string_view key, const dom::element& value, Integer& to) {
  std::int64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS || !std::in_range<Integer>(number)) return bad_member(key, "an integer");
  to = static_cast<Integer>(number);
  return {};
}

template <class Enum, class Parse>
Status read_word(std::string_view key, const dom::element& value, Enum& to, Parse parse) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return bad_member(key, "a text");
  const auto word = parse(text);
  if (!word) return fail(Code::invalid, word.error().message, std::string(key));
  to = *word;
  return {};
}

Status read_seconds(std::string_view key, const dom::element& value, Seconds& to) {
  std::int64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS || number < 0 || Seconds(number) > kLastInstant - kFirstInstant) {
    return bad_member(key, "a number of seconds");
  }
  to = Seconds(number);
  return {};
}

// Calls read(key, value) for each member; refuses a value that is no object and a key that stands twice.
template <class Read>
Status each_member(std::string_view what, const dom::element& value, Read read) {
  dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return bad_member(what, "an object");
  std::vector<std::string_view> seen;
  for (const auto& member : object) {
    if (std::ranges::find(seen, member.key) != seen.end()) {
      return fail(Code::invalid, "'" + std::string(member.key) + "' stands twice", std::string(member.key));
    }
    seen.push_back(member.key);
    if (Status status = read(member.key, member.value); !status) return status;
  }
  return {};
}

template <class Read>
Status each_item(std::string_view what, const dom::element& value, Read read) {
  dom::array array;
  if (value.get(array) != simdjson::SUCCESS) return bad_member(what, "a list");
  for (const dom::element& item : array) {
    if (Status status = read(item); !status) return status;
  }
  return {};
}

// A member of another version goes to `members`, to be written back as it was.
Status keep_unknown(std::string_view key, const dom::element& value, std::string& members) {
  members += "," + JsonWriter().text(key).take() + ":" + simdjson::minify(value);
  return {};
}

// What a file is, and which older versions of it can be read.
struct FileKind {
  Migration::Step Migration::*kind;
  std::span<const Migration> older = migrations();
};

// invalid: no JSON object, or none with a Version.
Result<dom::element> parse_object(dom::parser& parser, std::string_view text) {
  // Allocated for the largest so far: a million small files cost one allocation.
  dom::element document;
  if (parser.capacity() < std::max(text.size(), kSmallest) &&
      parser.allocate(std::max(text.size(), kSmallest), kDeepest) != simdjson::SUCCESS) {
    return fail(Code::internal, "out of memory while reading a state file");
  }
  if (const auto error = parser.parse(text.data(), text.size()).get(document); error != simdjson::SUCCESS) {
    return fail(Code::invalid, std::string("not JSON: ") + simdjson::error_message(error));
  }
  if (!document.is_object()) return bad_member("a state file", "a JSON object");
  if (!document["Version"].is_string()) return bad_member("Version", "the text \"1\"");
  return document;
}

// The object as the present version has it. Files of the present version, which is nearly all of them, are parsed once.
Result<dom::element> parse_document(dom::parser& parser, std::string_view text, const FileKind& file) {
  Result<dom::element> document = parse_object(parser, text);
  if (!document) return document;
  const std::string_view version = document->at_key("Version").get_string().value_unsafe();
  if (version == kStateVersion) return document;
  // Asked first: what an unknown version looks like is not for us to judge.
  if (const Status known = state::check_version(version, file.older); !known) return fail(known.error());
  const Result<Node> tree = parse_json(text, {.size = text.size(), .depth = kDeepest});
  if (!tree) return fail(tree.error());
  const Result<Node> migrated = state::migrate(*tree, file.kind, file.older);
  if (!migrated) return fail(migrated.error());
  return parse_object(parser, JsonWriter().node(*migrated).take());
}

// The members of a file but Version.
template <class Read>
Status read_state_document(dom::parser& parser, std::string_view text, const FileKind& file, Read read) {
  const Result<dom::element> document = parse_document(parser, text, file);
  if (!document) return fail(document.error());
  return each_member("a state file", *document, [&](std::string_view key, const dom::element& value) -> Status {
    return key == "Version" ? Status{} : read(key, value);
  });
}

Status read_active(const dom::element& value, ActiveExecution& to) {
  return each_member("ActiveExecution", value, [&](std::string_view key, const dom::element& v) -> Status {
    if (key == "PeriodID") return read_instant(key, v, to.period);
    if (key == "PID") return read_integer(key, v, to.pid);
    if (key == "StartedAt") return read_instant(key, v, to.started_at);
    if (key == "ChosenTime") return read_instant(key, v, to.chosen);
    if (key == "RunID") return read_text(key, v, to.run_id);
    if (key == "Trigger") return read_word(key, v, to.trigger, parse_trigger);
    if (key == "ProcessStart") return read_integer(key, v, to.process_start);
    if (key == "BootID") return read_text(key, v, to.boot_id);
    if (key == "TaskID") return read_text(key, v, to.task_id);
    return keep_unknown(key, v, to.unknown_members);
  });
}

Status read_history(const dom::element& value, HistoryEntry& to) {
  PassedOver report;
  bool is_report = false;
  const Status status = each_member("History", value, [&](std::string_view key, const dom::element& v) -> Status {
    if (key == "PeriodID") return read_instant(key, v, to.period);
    if (key == "ChosenTime") return read_instant(key, v, to.chosen);
    if (key == "CompletedAt") return read_instant(key, v, to.completed_at);
    if (key == "Reason") return read_word(key, v, to.reason, parse_reason);
    if (key == "Clause") return read_text(key, v, to.clause);
    if (key == "RunID") return read_text(key, v, to.run_id);
    if (key == "Trigger") return read_word(key, v, to.trigger, parse_trigger);
    if (key == "Count") return read_integer(key, v, report.count);
    if (key == "First") return read_instant(key, v, report.first);
    if (key == "Last") return read_instant(key, v, report.last);
    if (key == "Outcome") {
      std::string_view word;
      const bool is_text = v.get(word) == simdjson::SUCCESS;
      is_report = is_text && word == kPassedOverWord;
      if (is_report || (is_text && word.empty())) return {};
      return read_word(key, v, to.outcome, parse_outcome);
    }
    if (key == "ExitCode") {
      if (v.is_null()) return {};
      return read_integer(key, v, to.exit_code.emplace());
    }
    if (key == "Failed") return read_bool(key, v, to.failed.emplace());
    if (key == "Attempts") return read_integer(key, v, to.attempts.emplace());
    if (key == "NominalTime") return {};  // the same as PeriodID
    return keep_unknown(key, v, to.unknown_members);
  });
  if (is_report) to.passed_over = report;
  return status;
}

Status read_span(const dom::element& value, StateRecord& record) {
  Span& to = record.periods.passed_over.emplace_back();
  std::string unknown;
  const Status status = each_member("PassedOver", value, [&](std::string_view key, const dom::element& v) -> Status {
    if (key == "First") return read_instant(key, v, to.first);
    if (key == "Last") return read_instant(key, v, to.last);
    return keep_unknown(key, v, unknown);
  });
  const auto is_known = [&](const auto& of) { return of.first == to; };
  if (!unknown.empty() && std::ranges::none_of(record.unknown_of_spans, is_known)) {
    record.unknown_of_spans.emplace_back(to, std::move(unknown));
  }
  return status;
}

Status read_suspension(const dom::element& value, Suspension& to, std::string& unknown) {
  return each_member("Suspended", value, [&](std::string_view key, const dom::element& v) -> Status {
    if (key == "Since") return read_instant(key, v, to.since);
    if (key == "Until") return read_instant(key, v, to.until);
    if (key == "SkipMissed") return read_bool(key, v, to.skip_missed);
    if (key == "By") return read_text(key, v, to.by);
    if (key == "Note") return read_text(key, v, to.note);
    return keep_unknown(key, v, unknown);
  });
}

Status read_owed(const dom::element& value, AlarmMessage& to) {
  AlarmSign& sign = to.sign;
  return each_member("Owed", value, [&](std::string_view key, const dom::element& v) -> Status {
    if (key == "Kind") return read_word(key, v, sign.kind, parse_alarm_kind);
    if (key == "First") return read_instant(key, v, to.first);
    if (key == "PeriodID") return read_instant(key, v, sign.period);
    if (key == "At") return read_instant(key, v, sign.at);
    if (key == "Count") return read_integer(key, v, to.count);
    if (key == "Number") return read_integer(key, v, to.number);
    if (key == "OpenedAs") return read_word(key, v, to.opened_as, parse_alarm_kind);
    if (key == "RunID") return read_text(key, v, sign.run_id);
    if (key == "ExitCode") return read_integer(key, v, sign.exit_code.emplace());
    if (key == "Reason") return read_text(key, v, sign.reason);
    if (key == "To") {
      return each_item(key, v, [&](const dom::element& item) { return read_text(key, item, to.to.emplace_back()); });
    }
    return {};  // a message is soon gone
  });
}

Status read_alarm(const dom::element& value, Alarm& to, std::string& unknown) {
  return each_member("Alarm", value, [&](std::string_view key, const dom::element& v) -> Status {
    if (key == "Bad") return read_integer(key, v, to.bad);
    if (key == "First") return read_instant(key, v, to.first);
    if (key == "Last") return read_instant(key, v, to.last);
    if (key == "Open") return read_bool(key, v, to.is_open);
    if (key == "Kind") return read_word(key, v, to.kind, parse_alarm_kind);
    if (key == "Told") return read_integer(key, v, to.told);
    if (key == "ToldAt") return read_instant(key, v, to.told_at);
    if (key == "Owed") {
      return each_item(key, v, [&](const dom::element& item) { return read_owed(item, to.owed.emplace_back()); });
    }
    return keep_unknown(key, v, unknown);
  });
}

Status read_hash(std::string_view key, const dom::element& value, std::uint64_t& to) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS || text.size() != 16) return bad_member(key, "16 hex digits");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to, 16);
  if (error != std::errc() || end != text.data() + text.size()) return bad_member(key, "16 hex digits");
  return {};
}

Status read_schedule(const dom::element& value, ScheduleSeen& to, std::string& unknown) {
  return each_member("Schedule", value, [&](std::string_view key, const dom::element& v) -> Status {
    if (key == "Hash") return read_hash(key, v, to.hash);
    if (key == "Since") return read_instant(key, v, to.since);
    return keep_unknown(key, v, unknown);
  });
}

// The members of the periods' bookkeeping and of the runs; false when the key is not one of them.
Result<bool> read_member(std::string_view key, const dom::element& v, StateRecord& to) {
  const auto known = [](Status status) -> Result<bool> {
    if (!status) return fail(status.error());
    return true;
  };
  JobState& periods = to.periods;
  if (key == "Identity") return known(read_text(key, v, to.identity));
  if (key == "LastHandledPeriodID") return known(read_instant(key, v, periods.last_handled));
  if (key == "LastChosenTime") return known(read_instant(key, v, to.last_chosen));
  if (key == "LastNominalTime") return true;  // the same as LastHandledPeriodID
  if (key == "LastBootID") return known(read_text(key, v, to.last_boot_id));
  if (key == "FirstSeen") return known(read_instant(key, v, periods.first_seen));
  if (key == "FirstSeenIsFloor") return known(read_bool(key, v, periods.first_seen_is_floor));
  if (key == "FirstSeenReach") return known(read_seconds(key, v, periods.first_seen_reach));
  if (key == "Schedule") return known(read_schedule(v, periods.schedule.emplace(), to.unknown_of_schedule));
  if (key == "Suspended") return known(read_suspension(v, periods.suspended.emplace(), to.unknown_of_suspended));
  if (key == "FailuresInARow") return known(read_integer(key, v, periods.failures_in_a_row));
  if (key == "Alarm") return known(read_alarm(v, to.alarm.emplace(), to.unknown_of_alarm));
  if (key == "LastOutcome") {
    std::string_view word;
    if (v.get(word) == simdjson::SUCCESS && word.empty()) return true;
    return known(read_word(key, v, to.last_outcome, parse_outcome));
  }
  if (key == "OpenPeriods") {
    return known(each_item(key, v, [&](const dom::element& item) {
      return read_instant(key, item, periods.open_periods.emplace_back());
    }));
  }
  if (key == "PassedOver") {
    return known(each_item(key, v, [&](const dom::element& item) { return read_span(item, to); }));
  }
  if (key == "ActiveExecutions") {
    to.active.clear();
    return known(
        each_item(key, v, [&](const dom::element& item) { return read_active(item, to.active.emplace_back()); }));
  }
  if (key == "ActiveExecution") {
    if (v.is_null() || !to.active.empty()) return true;  // ActiveExecutions holds it too
    return known(read_active(v, to.active.emplace_back()));
  }
  if (key == "History") {
    if (v.is_null()) return true;
    return known(
        each_item(key, v, [&](const dom::element& item) { return read_history(item, to.history.emplace_back()); }));
  }
  return false;
}

// A run is known by its id everywhere else; the seed's own schema has none.
void name_runs(StateRecord& record) {
  std::vector<ActiveExecution> named;
  for (ActiveExecution& run : record.active) {
    if (!run.task_id.empty()) {
      run.pid = 0;
      run.process_start = 0;
      run.boot_id.clear();
    }
    if (run.run_id.empty()) {
      run.run_id = hex(sha256({record.identity, "\n", std::to_string(run.pid), "\n", rfc3339(run.started_at)}));
    }
    if (std::ranges::find(named, run.run_id, &ActiveExecution::run_id) == named.end()) named.push_back(std::move(run));
  }
  record.active = std::move(named);
}

// What the rest of the program relies on: sorted lists, and no period open for a second start while one is active.
void normalise(StateRecord& record) {
  JobState& periods = record.periods;
  std::ranges::sort(periods.open_periods);
  std::ranges::stable_sort(periods.passed_over, {}, &Span::first);
  std::ranges::stable_sort(record.unknown_of_spans, {}, [](const auto& of) { return of.first.first; });
  name_runs(record);
  if (record.alarm && (record.alarm->is_open || record.alarm->bad > 0) && !record.alarm->first) {
    record.alarm->first = record.alarm->last = periods.last_handled.value_or(Instant{});
  }
  for (const ActiveExecution& run : record.active) {
    if (!run.period || run.trigger != Trigger::schedule) continue;
    std::erase(periods.open_periods, *run.period);
    if (periods.last_handled && *run.period <= *periods.last_handled) continue;
    periods.last_handled = run.period;
    record.last_outcome = Outcome::executed;
    record.last_chosen = run.chosen;
  }
}

}  // namespace

Result<StateRecord> state::parse(std::string_view text) { return parse(text, migrations()); }

Result<StateRecord> state::parse(std::string_view text, std::span<const Migration> older) {
  thread_local dom::parser parser;
  StateRecord record;
  const Status status = read_state_document(
      parser, text, {&Migration::record, older}, [&](std::string_view key, const dom::element& value) -> Status {
        const Result<bool> known = read_member(key, value, record);
        if (!known) return fail(known.error());
        return *known ? Status{} : keep_unknown(key, value, record.unknown_members);
      });
  if (!status) return fail(status.error());
  if (record.identity.empty()) return bad_member("Identity", "a non-empty text");
  normalise(record);
  return record;
}

Result<FirstSeen> parse_first_seen(std::string_view text) {
  FirstSeen jobs;
  const auto read_group = [&](const dom::element& group) -> Status {
    Instant at{};
    std::vector<std::string_view> identities;
    Status status = each_member("FirstSeen", group, [&](std::string_view key, const dom::element& value) -> Status {
      if (key == "At") return read_instant(key, value, at);
      if (key == "Identities") {
        return each_item(key, value, [&](const dom::element& item) -> Status {
          return item.get(identities.emplace_back()) == simdjson::SUCCESS ? Status{}
                                                                          : Status(bad_member(key, "a text"));
        });
      }
      return {};
    });
    jobs.reserve(jobs.size() + identities.size());
    for (const std::string_view identity : identities) jobs.add(identity, at);
    return status;
  };
  dom::parser parser;  // this file may be a thousand times as large as a record: its memory is not kept
  const Status status = read_state_document(parser, text, {&Migration::first_seen},
                                            [&](std::string_view key, const dom::element& value) -> Status {
                                              return key == "FirstSeen" ? each_item(key, value, read_group) : Status{};
                                            });
  if (!status) return fail(status.error());
  return jobs;
}

Result<std::vector<std::string>> parse_recorded(std::string_view text) {
  std::vector<std::string> identities;
  dom::parser parser;
  const Status status = read_state_document(
      parser, text, {&Migration::recorded}, [&](std::string_view key, const dom::element& value) -> Status {
        if (key != "Identities") return {};
        return each_item(key, value,
                         [&](const dom::element& item) { return read_text(key, item, identities.emplace_back()); });
      });
  if (!status) return fail(status.error());
  return identities;
}

}  // namespace kron
