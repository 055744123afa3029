#include "kron/queue/redis_task.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "kron/base/text.h"
#include "kron/queue/task_queue.h"
#include "kron/queue/transitions.h"

namespace kron {
namespace {

constexpr std::size_t kExecutionColumns = 10;
constexpr std::size_t kMostExecutions = static_cast<std::size_t>(kMostAttempts + kMostUncounted) + 1;

std::string seconds_text(const std::optional<Instant>& time) {
  return time ? std::to_string(epoch_seconds(*time)) : std::string();
}

// A reason may hold any text; a line of the field `x` has neither tabs nor newlines within its columns.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    ++i;
    out += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
  }
  return out;
}

// Reads the fields of one task by name, and remembers the first that is wrong.
class FieldReader {
 public:
  explicit FieldReader(const RedisFields& fields) : fields_(fields) {}

  const std::string& text(std::string_view name) const {
    static const std::string kNone;
    const auto found = fields_.find(name);
    return found == fields_.end() ? kNone : found->second;
  }
  std::int64_t number(std::string_view name, std::int64_t otherwise, std::int64_t least, std::int64_t most) {
    return text(name).empty() ? otherwise : number_in(text(name), name, least, most);
  }
  std::int64_t required(std::string_view name, std::int64_t least, std::int64_t most) {
    return number_in(text(name), name, least, most);
  }
  std::optional<Instant> time(std::string_view name) { return time_in(text(name), name); }

  std::int64_t number_in(std::string_view text, std::string_view name, std::int64_t least, std::int64_t most) {
    const auto number = whole_number(text);
    if (number && *number >= least && *number <= most) return *number;
    wrong(name, "holds " + quoted(text) + ", which is not a number in its range");
    return least;
  }
  std::optional<Instant> time_in(std::string_view text, std::string_view name) {
    if (text.empty()) return std::nullopt;
    return instant_of(number_in(text, name, epoch_seconds(kFirstInstant), epoch_seconds(kLastInstant)));
  }

  void wrong(std::string_view name, std::string problem) {
    if (status) status = fail(Code::io, "its field " + std::string(name) + " " + std::move(problem));
  }

  Status status;

 private:
  const RedisFields& fields_;
};

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string past_execution(const Execution& e) {
  std::string line = std::to_string(e.token) + "\t" + std::to_string(e.attempt) + "\t" +
                     std::to_string(e.lease_term.count()) + "\t" + seconds_text(e.lease_expires_at) + "\t" +
                     seconds_text(e.leased_at) + "\t" + seconds_text(e.started_at) + "\t" +
                     seconds_text(e.finished_at) + "\t";
  if (e.holder == Holder::in_process) line += 'i';
  if (e.final) line += 'f';
  if (!e.counts) line += 'u';
  return line + "\t" + escaped(e.lease_owner) + "\t" + escaped(e.reason) + "\n";
}

Execution read_past(std::string_view line, std::string_view task_id, FieldReader& in) {
  Execution e;
  const auto columns = split(line, '\t');
  if (columns.size() != kExecutionColumns) {
    in.wrong("x", "has a line with " + std::to_string(columns.size()) + " columns");
    return e;
  }
  e.token = static_cast<std::uint64_t>(in.number_in(columns[0], "x", 0, INT64_MAX));
  e.exec_id = exec_id_of(task_id, e.token);
  e.attempt = static_cast<int>(in.number_in(columns[1], "x", 1, kMostRedisAttempts));
  e.lease_term = Seconds(in.number_in(columns[2], "x", 0, kMostTaskDuration.count()));
  e.lease_expires_at = in.time_in(columns[3], "x").value_or(Instant());
  e.leased_at = in.time_in(columns[4], "x").value_or(Instant());
  e.started_at = in.time_in(columns[5], "x");
  e.finished_at = in.time_in(columns[6], "x");
  e.status = ExecutionStatus::aborted;
  if (columns[7].find('i') != std::string_view::npos) e.holder = Holder::in_process;
  e.final = columns[7].find('f') != std::string_view::npos;
  e.counts = columns[7].find('u') == std::string_view::npos;
  e.lease_owner = unescaped(columns[8]);
  e.reason = unescaped(columns[9]);
  if (!is_valid_utf8(e.lease_owner) || !is_valid_utf8(e.reason)) in.wrong("x", "is not UTF-8");
  return e;
}

// The one that the fields themselves tell of: it is held, or has committed.
Execution read_last(std::string_view task_id, const RedisTask& of, FieldReader& in) {
  Execution e;
  e.token = static_cast<std::uint64_t>(in.required("t", 1, INT64_MAX));
  e.exec_id = exec_id_of(task_id, e.token);
  e.attempt = static_cast<int>(in.required("n", 1, kMostRedisAttempts));
  e.lease_owner = in.text("w");
  if (!is_valid_utf8(e.lease_owner)) in.wrong("w", "is not UTF-8");
  if (in.text("h") == "i") e.holder = Holder::in_process;
  e.lease_term = Seconds(in.required("T", 1, kMostTaskDuration.count()));
  e.lease_expires_at = instant_of(of.lease_ends / 1'000'000);
  e.leased_at = in.time("l").value_or(Instant());
  e.started_at = in.time("g");
  e.status = of.state == "L" ? ExecutionStatus::leased : ExecutionStatus::in_progress;
  if (of.state == "S") {
    e.status = ExecutionStatus::done;
    e.committed_at = e.finished_at = in.time("u");
  }
  return e;
}

void read_executions(std::string_view task_id, RedisTask& to, FieldReader& in) {
  std::string_view lines = in.text("x");
  while (!lines.empty() && to.task.executions.size() < kMostExecutions) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    to.task.executions.push_back(read_past(lines.substr(0, end), task_id, in));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  if (!lines.empty()) in.wrong("x", "has too many lines");
  if (to.state == "P" || to.state == "F") return;
  const std::int64_t last_moment = epoch_seconds(kLastInstant) * 1'000'000;
  to.lease_ends = in.required("e", 0, last_moment);
  if (!in.text("a").empty()) to.attempt_ends = in.required("a", 0, last_moment);
  to.task.executions.push_back(read_last(task_id, to, in));
}

NewTask read_spec(std::string_view task_id, FieldReader& in) {
  NewTask spec;
  spec.id = task_id;
  spec.type = in.text("y");
  if (!in.text("d").empty()) spec.data = in.text("d");
  spec.priority = static_cast<int>(in.number("p", 0, -kMostPriority, kMostPriority));
  spec.run_at = in.time("r");
  spec.retry.max_attempts = static_cast<int>(in.required("m", 1, kMostAttempts + kMostUncounted));
  const auto back_offs = split(in.text("b"), ' ');
  const std::int64_t most = kMostTaskDuration.count();
  spec.retry.backoff = Seconds(in.number_in(back_offs.front(), "b", 0, most));
  spec.retry.most_backoff = Seconds(in.number_in(back_offs.back(), "b", 0, most));
  if (!in.text("o").empty()) spec.timeout = Seconds(in.required("o", 1, most));
  spec.unique_key = in.text("k");
  return spec;
}

std::optional<TaskState> state_named(std::string_view letter) {
  if (letter == "P") return TaskState::pending;
  if (letter == "L" || letter == "R") return TaskState::running;
  if (letter == "S") return TaskState::succeeded;
  if (letter == "F") return TaskState::failed;
  return std::nullopt;
}

// Those that the commit created: they are tasks of their own now, of which here only the id is known.
std::vector<NewTask> read_follow_ups(std::string_view lines) {
  constexpr std::string_view kAccepted = "accepted ";
  std::vector<NewTask> created;
  for (const std::string_view line : split(lines, '\n')) {
    if (!line.starts_with(kAccepted) || created.size() == kMostFollowUps) continue;
    NewTask task;
    task.id = line.substr(kAccepted.size());
    if (check_task_id(task.id)) created.push_back(std::move(task));
  }
  return created;
}

}  // namespace

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

void add_redis_task_arguments(std::vector<std::string>& to, NewTask task) {
  to.push_back(std::move(task.id));
  to.push_back(std::move(task.type));
  to.push_back(std::move(task.data));
  to.push_back(std::to_string(task.priority));
  to.push_back(seconds_text(task.run_at));
  to.push_back(std::to_string(task.retry.max_attempts));
  to.push_back(std::to_string(task.retry.backoff.count()) + " " + std::to_string(task.retry.most_backoff.count()));
  to.push_back(task.timeout ? std::to_string(task.timeout->count()) : std::string());
  to.push_back(std::move(task.unique_key));
}

const std::vector<std::string>& redis_state_fields() {
  static const std::vector<std::string> kNames{"s", "y", "p", "r", "m", "b", "o", "k", "c", "u", "q",
                                               "i", "n", "x", "t", "w", "h", "T", "e", "a", "l", "g"};
  return kNames;
}

RedisFields fields_of(const RedisValue& pairs) {
  RedisFields fields;
  for (std::size_t i = 0; i + 1 < pairs.items.size(); i += 2) {
    fields.insert_or_assign(pairs.items[i].text, pairs.items[i + 1].text);
  }
  return fields;
}

RedisFields fields_of(const std::vector<std::string>& names, const RedisValue& values) {
  RedisFields fields;
  for (std::size_t i = 0; i < std::min(names.size(), values.items.size()); ++i) {
    if (values.items[i].kind == RedisValue::Kind::text) fields.emplace(names[i], values.items[i].text);
  }
  return fields;
}

Result<RedisTask> task_in_redis(std::string_view task_id, const RedisFields& fields) {
  FieldReader in(fields);
  RedisTask read;
  read.state = in.text("s");
  read.token = in.text("t");
  read.attempts = in.text("n");
  read.request = in.text("i");
  const auto state = state_named(read.state);
  if (!state) in.wrong("s", "holds " + quoted(read.state) + ", which is no state");
  NewTask spec = read_spec(task_id, in);
  // A retry, and attempts that do not count, may have raised it beyond what can be submitted.
  const int max_attempts = spec.retry.max_attempts;
  spec.retry.max_attempts = std::min(max_attempts, kMostAttempts);
  auto good = checked(std::move(spec));
  if (!in.status) return fail(in.status.error());
  if (!good) return fail(Code::io, good.error().message);
  read.task.spec = *std::move(good);
  read.task.spec.retry.max_attempts = max_attempts;
  read.task.sequence = static_cast<std::uint64_t>(in.required("q", 0, INT64_MAX));
  read.task.created_at = in.time("c").value_or(Instant());
  read.task.updated_at = in.time("u").value_or(read.task.created_at);
  read_executions(task_id, read, in);
  read.task.result = in.text("R");
  if (!check_result(read.task.result)) in.wrong("R", "is no text that a result may be");
  read.task.follow_ups = read_follow_ups(in.text("F"));
  if (!in.status) return fail(in.status.error());
  if (state_of(read.task) != *state) {
    return fail(Code::io, "its state " + quoted(read.state) + " does not follow from its executions");
  }
  return read;
}

std::vector<std::string> settled_fields(const Task& after) {
  std::string past;
  for (const Execution& execution : after.executions) past += past_execution(execution);
  return {state_of(after) == TaskState::pending ? "P" : "F", std::move(past),
          std::to_string(after.spec.retry.max_attempts), seconds_text(after.spec.run_at),
          after.executions.empty() ? std::string() : std::to_string(after.executions.back().attempt)};
}

}  // namespace kron
