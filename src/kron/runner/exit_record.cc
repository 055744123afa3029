#include "kron/runner/exit_record.h"

#include "kron/runner/protocol.h"
#include "kron/runner/record_lines.h"

namespace kron::runner {
namespace {

bool read_pair(std::string_view key, std::string_view value, RunExit& exit) {
  if (key == "run") return value == exit.run_id;
  if (key == "code") return read_number(value, exit.code.emplace());
  if (key == "signal") return read_number(value, exit.signal) && exit.signal > 0;
  if (key == "output") return read_number(value, exit.output_bytes);
  if (key == "reason") exit.reason = value;
  if (key == "ended") {
    std::int64_t seconds = 0;
    const bool read = read_number(value.substr(0, value.find('.')), seconds);
    exit.ended = instant_of(seconds);
    return read;
  }
  return true;
}

}  // namespace

std::optional<RunExit> parse_exit_record(std::string_view text, std::string_view run_id) {
  if (text.size() > kMostRecord || cut_before(text, '\n') != kRecordFirstLine) return std::nullopt;
  RunExit exit{std::string(run_id), std::nullopt, {}};
  while (std::optional<std::string_view> line = cut_before(text, '\n')) {
    if (line == kRecordLastLine) {
      exit.never_ran = !exit.code.has_value();
      return exit;
    }
    const std::optional<std::string_view> key = cut_before(*line, '=');
    if (!key || !read_pair(*key, *line, exit)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace kron::runner
