#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/cluster/dialect.h"
#include "kron/env/process_runner.h"

// What `:rundata` says of a run, as JSON in either dialect. Pure.
namespace kron::cluster {

enum class RunStatus : std::uint8_t { running, success, fail, frozen };
std::string_view name_of(RunStatus status);
// Which of the result sets it goes to: success or fail.
std::string_view result_of(RunStatus status);

// A blob with a hole that a script fills with a time it reads itself.
struct BlobParts {
  std::string head;
  std::string tail;

  [[nodiscard]] std::string with(std::string_view filled) const { return (head + std::string(filled)) += tail; }
  bool operator==(const BlobParts&) const = default;
};

struct FinalRun {
  std::string host;
  std::string job;
  std::string start_time;  // "sec.usec"
  RunStatus status = RunStatus::fail;
  std::optional<int> retcode = {};  // negative: ended by that signal; none: unknown, or nothing ran
  std::string output = {};          // the last lines, each with its newline; any bytes
};

BlobParts running_blob(Dialect dialect, std::string_view host, std::string_view job);  // around the start time
// Of a run that has ended when it begins, because it only submits a task; around the start time.
BlobParts submitted_blob(std::string_view host, std::string_view job, std::string_view task_id);
BlobParts final_blob(Dialect dialect, const FinalRun& run);  // around the duration

// How a run that ended is told of.
RunStatus status_of(const RunExit& exit);
std::optional<int> retcode_of(const RunExit& exit);

// A blob of anybody's: keys in any order, numbers also as texts, members missing or null, bytes that are no UTF-8.
struct RunData {
  std::string host;
  std::string job;
  RunStatus status = RunStatus::running;
  std::string start_time;  // as it is spelled
  std::optional<int> retcode = {};
  std::optional<double> duration = {};  // seconds
  std::string output = {};

  bool operator==(const RunData&) const = default;
};
// Invalid: no JSON map, no job name, or a status that nobody writes.
Result<RunData> parse_rundata(std::string_view blob);

// "sec.usec", with or without a fraction, as a time. Nothing: it is no such number.
std::optional<std::chrono::sys_time<Nanoseconds>> time_of(std::string_view start_time);
std::string start_time_of(std::chrono::sys_time<Nanoseconds> time);  // with six decimals

// The last `most_lines` lines of `text`, at most `most_bytes` of it; a line ends with its newline.
std::string_view last_lines(std::string_view text, std::size_t most_lines, std::size_t most_bytes);

// As valid UTF-8: what is none becomes U+FFFD.
std::string as_utf8(std::string_view bytes);

}  // namespace kron::cluster
