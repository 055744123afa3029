#include "kron/history/entry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kron/base/failure_rule.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/core/words.h"
#include "kron/json/fields.h"
#include "kron/json/run_usage.h"

namespace kron::history {
namespace {

constexpr std::array kKinds{
    Word{Kind::executed, "executed"},           Word{Kind::skipped, "skipped"},           Word{Kind::missed, "missed"},
    Word{Kind::unschedulable, "unschedulable"}, Word{Kind::passed_over, kPassedOverWord},
};

constexpr std::array kResults{
    Word{RunResult::running, "running"},
    Word{RunResult::succeeded, "succeeded"},
    Word{RunResult::failed, "failed"},
    Word{RunResult::unknown, "unknown"},
};

bool is_running(const Entry& entry) { return !entry.run_id.empty() && !entry.ended_at; }

// At most `most` bytes of a text, and no part of a character.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

template <class T>
void fill(std::optional<T>& target, const std::optional<T>& from) {
  if (!target) target = from;
}
template <class T>
void fill(T& target, const T& from) {
  if (target == T{}) target = from;
}

void write_time(JsonWriter& out, std::string_view name, const std::optional<Instant>& time) {
  if (time) out.member(name, rfc3339(*time));
}

void write_seconds(JsonWriter& out, std::string_view name, const std::optional<std::chrono::microseconds>& length) {
  if (length) out.key(name).real(std::chrono::duration<double>(*length).count());
}

void write_run(JsonWriter& out, const Entry& entry) {
  if (entry.pid != 0) out.key("pid").integer(entry.pid);
  if (entry.run_id.empty() || !entry.ended_at) return;
  out.key("exitCode");
  if (entry.exit_code) {
    out.integer(*entry.exit_code);
  } else {
    out.null();
  }
  if (entry.failed) out.key("failed").boolean(*entry.failed);
  if (entry.attempts) out.key("attempts").integer(*entry.attempts);
  out.key("outputBytes").integer(static_cast<std::int64_t>(entry.output_bytes));
  if (entry.used) write_usage(out, *entry.used);
}

void read_time(Fields& fields, std::string_view key, std::optional<Instant>& target) {
  const auto text = fields.text(key);
  if (!text) return;
  Instant time;
  fields.take(time, key, parse_rfc3339(*text));
  target = time;
}

// A number of seconds; what is too large for one of microseconds is no length.
void read_seconds(Fields& fields, std::string_view key, std::optional<std::chrono::microseconds>& target) {
  constexpr double kMost = 1e12;
  const Node* node = fields.find(key);
  if (node == nullptr) return;
  const auto* real = node->as<double>();
  const auto* whole = node->as<std::int64_t>();
  if (real == nullptr && whole == nullptr) return fields.report(std::string(key), "expected a number of seconds");
  const double seconds = real != nullptr ? *real : static_cast<double>(*whole);
  if (!(std::abs(seconds) < kMost)) return fields.report(std::string(key), "expected fewer seconds");
  target = std::chrono::round<std::chrono::microseconds>(std::chrono::duration<double>(seconds));
}

void read_passed_over(Fields fields, Entry& entry) {
  std::optional<Instant> first;
  std::optional<Instant> last;
  read_time(fields, "first", first);
  read_time(fields, "last", last);
  const std::int64_t count = fields.integer("count").value_or(0);
  if (!first || !last || count < 0) return fields.report("count", "expected a count with the first and the last time");
  entry.passed_over = {static_cast<std::uint64_t>(count), *first, *last};
}

void read_words(Fields& fields, Entry& entry) {
  if (const auto word = fields.text("outcome"); word && *word != kPassedOverWord) {
    Outcome outcome{};
    fields.take(outcome, "outcome", parse_outcome(*word));
    entry.outcome = outcome;
  }
  if (const auto word = fields.text("reason")) fields.take(entry.reason, "reason", parse_reason(*word));
  if (const auto word = fields.text("trigger")) fields.take(entry.trigger, "trigger", parse_trigger(*word));
}

void read_members(Fields& fields, Entry& entry) {
  entry.number = fields.integer("number").value_or(0);
  entry.job = fields.text("job").value_or("");
  if (entry.job.empty()) fields.report("job", "expected the job's name");
  entry.clause = fields.text("clause").value_or("");
  entry.detail = fields.text("detail").value_or("");
  entry.run_id = fields.text("runId").value_or("");
  entry.host = fields.text("host").value_or("");
  read_words(fields, entry);
  read_time(fields, "periodId", entry.period);
  read_time(fields, "chosenTime", entry.chosen);
  read_time(fields, "startedAt", entry.started_at);
  read_time(fields, "endedAt", entry.ended_at);
  read_seconds(fields, "delaySeconds", entry.delay);
  read_seconds(fields, "durationSeconds", entry.duration);
  if (const auto code = fields.integer("exitCode")) entry.exit_code = static_cast<int>(*code);
  if (const auto failed = fields.boolean("failed")) entry.failed = *failed;
  if (const auto attempts = fields.integer("attempts"); attempts && *attempts > 0) {
    entry.attempts = static_cast<std::uint32_t>(*attempts);
  }
  entry.pid = fields.integer("pid").value_or(0);
  entry.output_bytes = static_cast<std::uint64_t>(fields.integer("outputBytes").value_or(0));
  entry.used = read_usage(fields);
  if (auto passed_over = fields.map("passedOver")) read_passed_over(*passed_over, entry);
}

}  // namespace

Entry entry_of(const std::string& job, const ActiveExecution& run) {
  return {.job = job,
          .outcome = Outcome::executed,
          .trigger = run.trigger,
          .period = run.period,
          .chosen = run.chosen,
          .run_id = run.run_id,
          .started_at = run.started_at,
          .pid = std::max<std::int64_t>(run.pid, 0)};  // in a cluster it has no process before it is let go
}

std::string_view name_of(Kind kind) { return word_of(kind, kKinds); }
Result<Kind> parse_kind(std::string_view text) { return parse_word(text, kKinds, "outcome", "outcome"); }

Kind kind_of(const Entry& entry) {
  if (entry.passed_over) return Kind::passed_over;
  switch (entry.outcome.value_or(Outcome::executed)) {
    case Outcome::executed:
      return Kind::executed;
    case Outcome::skipped:
      return Kind::skipped;
    case Outcome::missed:
      return Kind::missed;
    case Outcome::unschedulable:
      return Kind::unschedulable;
  }
  return Kind::executed;
}

std::string_view name_of(RunResult result) { return word_of(result, kResults); }
Result<RunResult> parse_run_result(std::string_view text) { return parse_word(text, kResults, "result", "result"); }

std::optional<RunResult> result_of(const Entry& entry) {
  const bool never_ran = entry.outcome && *entry.outcome != Outcome::executed;  // a manual run that was given up
  if (entry.run_id.empty() || never_ran) return std::nullopt;
  if (!entry.ended_at) return RunResult::running;
  if (!entry.exit_code) return RunResult::unknown;
  return counts_as_failed(entry.failed, *entry.exit_code) ? RunResult::failed : RunResult::succeeded;
}

Instant time_of(const Entry& entry) {
  if (entry.started_at) return *entry.started_at;
  if (entry.chosen) return *entry.chosen;
  if (entry.period) return *entry.period;
  if (entry.passed_over) return entry.passed_over->last;
  return entry.ended_at.value_or(Instant{});
}

std::string run_key(std::string_view run_id) { return "run " + std::string(run_id); }

std::string key_of(const Entry& entry) {
  if (!entry.run_id.empty()) return run_key(entry.run_id);
  // Hosts, times and words hold no line feed, so the job may hold what it likes.
  const std::string where = entry.host.empty() ? "" : "at " + entry.host + "\n";
  if (entry.passed_over) {
    return where + "passed " + rfc3339(entry.passed_over->first) + "\n" + rfc3339(entry.passed_over->last) + "\n" +
           entry.job;
  }
  return where + "period " + (entry.period ? rfc3339(*entry.period) : std::string()) + "\n" +
         std::string(name_of(kind_of(entry))) + "\n" + entry.job;
}

Entry merged(const Entry& known, const Entry& news) {
  const bool news_end_it = is_running(known) && !is_running(news);
  Entry result = news_end_it ? news : known;
  const Entry& rest = news_end_it ? known : news;
  result.number = known.number;
  fill(result.outcome, rest.outcome);
  fill(result.reason, rest.reason);
  fill(result.clause, rest.clause);
  fill(result.detail, rest.detail);
  fill(result.host, rest.host);
  fill(result.trigger, rest.trigger);
  fill(result.period, rest.period);
  fill(result.chosen, rest.chosen);
  fill(result.started_at, rest.started_at);
  fill(result.ended_at, rest.ended_at);
  fill(result.delay, rest.delay);
  fill(result.duration, rest.duration);
  fill(result.exit_code, rest.exit_code);
  fill(result.attempts, rest.attempts);
  fill(result.failed, rest.failed);
  fill(result.pid, rest.pid);
  fill(result.output_bytes, rest.output_bytes);
  fill(result.used, rest.used);
  fill(result.passed_over, rest.passed_over);
  return result;
}

void join_starts_with_ends(std::vector<Entry>& entries) {
  std::unordered_map<std::string_view, Entry*> starts;
  std::vector<bool> is_joined(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    const auto start = entry.run_id.empty() ? starts.end() : starts.find(entry.run_id);
    if (is_running(entry)) {
      starts.emplace(entry.run_id, &entry);
    } else if (start != starts.end()) {
      Entry& first = *start->second;
      starts.erase(start);
      first = merged(first, entry);
      is_joined[i] = true;
    }
  }
  std::size_t i = 0;
  std::erase_if(entries, [&](const Entry&) { return is_joined[i++]; });
}

void write(JsonWriter& out, const Entry& entry) {
  out.begin_map().key("number").integer(entry.number).member("job", entry.job);
  out.member("outcome", name_of(kind_of(entry)));
  if (entry.reason != Reason::none) out.member("reason", name_of(entry.reason));
  if (!entry.clause.empty()) out.member("clause", entry.clause);
  if (!entry.detail.empty()) out.member("detail", cut(entry.detail, kMostDetail));
  out.member("trigger", name_of(entry.trigger));
  write_time(out, "periodId", entry.period);
  write_time(out, "chosenTime", entry.chosen);
  if (!entry.run_id.empty()) out.member("runId", entry.run_id);
  if (!entry.host.empty()) out.member("host", entry.host);
  write_time(out, "startedAt", entry.started_at);
  write_time(out, "endedAt", entry.ended_at);
  write_seconds(out, "delaySeconds", entry.delay);
  write_seconds(out, "durationSeconds", entry.duration);
  out.member("state", is_running(entry) ? "running" : "ended");
  write_run(out, entry);
  if (entry.passed_over) {
    out.key("passedOver").begin_map().key("count").integer(static_cast<std::int64_t>(entry.passed_over->count));
    out.member("first", rfc3339(entry.passed_over->first)).member("last", rfc3339(entry.passed_over->last)).end_map();
  }
  out.end_map();
}

std::string entry_json(const Entry& entry) {
  JsonWriter out;
  write(out, entry);
  return out.take();
}

Result<Entry> parse_entry(std::string_view json) {
  const Result<Node> document = parse_json(json);
  if (!document) return fail(document.error());
  std::vector<Error> errors;
  Fields fields(*document, "", errors);
  Entry entry;
  read_members(fields, entry);
  if (!errors.empty()) return fail(errors.front());
  return entry;
}

}  // namespace kron::history
