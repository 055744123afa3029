#include "kron/runner/exit_record.h"

#include <algorithm>
#include <string>

#include "kron/runner/protocol.h"
#include "kron/runner/record_lines.h"

namespace kron::runner {
namespace {

// Seconds with up to nine decimals.
bool read_time(std::string_view text, WallTime& time) {
  std::int64_t seconds = 0;
  const std::size_t dot = std::min(text.find('.'), text.size());
  if (!read_number(text.substr(0, dot), seconds)) return false;
  std::string decimals(text.substr(std::min(dot + 1, text.size())));
  decimals.resize(9, '0');
  std::int64_t nanoseconds = 0;
  if (!read_number(decimals, nanoseconds) || nanoseconds < 0) return false;
  time = WallTime(instant_of(seconds)) + Nanoseconds(nanoseconds);
  return true;
}

// Microseconds.
bool read_time_used(std::string_view text, std::chrono::microseconds& time) {
  std::int64_t count = 0;
  if (!read_number(text, count) || count < 0) return false;
  time = std::chrono::microseconds(count);
  return true;
}

// None: the key is none of what the run used.
std::optional<bool> read_usage(std::string_view key, std::string_view value, std::optional<RunUsage>& used) {
  const auto usage = [&]() -> RunUsage& { return used ? *used : used.emplace(); };
  if (key == "user_us") return read_time_used(value, usage().user);
  if (key == "system_us") return read_time_used(value, usage().system);
  if (key == "memory") return read_number(value, usage().memory);
  if (key == "read") return read_number(value, usage().read);
  if (key == "written") return read_number(value, usage().written);
  return std::nullopt;
}

// `ended`: to the nanosecond.
bool read_pair(std::string_view key, std::string_view value, RunExit& exit, std::optional<WallTime>& ended) {
  if (key == "run") return value == exit.run_id;
  if (key == "code") return read_number(value, exit.code.emplace());
  if (key == "signal") return read_number(value, exit.signal) && exit.signal > 0;
  if (key == "failed") {
    exit.failed = value == "yes";
    return *exit.failed || value == "no";
  }
  if (key == "attempts") return read_number(value, exit.attempts) && exit.attempts > 0;
  if (key == "output") return read_number(value, exit.output_bytes);
  if (const auto is_read = read_usage(key, value, exit.used)) return *is_read;
  if (key == "reason") exit.reason = value;
  if (key == "started") return read_time(value, exit.began.emplace());
  if (key == "ended") {
    if (!read_time(value, ended.emplace())) return false;
    exit.ended = std::chrono::floor<Seconds>(*ended);
  }
  return true;
}

}  // namespace

std::optional<RunExit> parse_exit_record(std::string_view text, std::string_view run_id) {
  if (text.size() > kMostRecord || cut_before(text, '\n') != kRecordFirstLine) return std::nullopt;
  RunExit exit{std::string(run_id), std::nullopt, {}};
  std::optional<WallTime> ended;
  while (std::optional<std::string_view> line = cut_before(text, '\n')) {
    if (line == kRecordLastLine) {
      exit.never_ran = !exit.code.has_value();
      // A clock that was set back meanwhile cannot tell.
      if (exit.began && ended && *ended >= *exit.began) exit.took = *ended - *exit.began;
      return exit;
    }
    const std::optional<std::string_view> key = cut_before(*line, '=');
    if (!key || !read_pair(*key, *line, exit, ended)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace kron::runner
