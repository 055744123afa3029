#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/env/redis_connection.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"
#include "screen_times.h"

// What stands in Redis, as far as it can be shown. Anybody may have written it: what cannot be understood is empty or
// says so, and nothing here fails. Pure.
namespace kron::cli {

// A document, with invalid UTF-8 read as U+FFFD: cronken writes the bytes of a job's output as they are.
Result<Node> lenient_json(std::string_view text);

// The text of a reply; empty for anything else.
std::string text_of(const RedisReply& reply);
std::int64_t integer_of(const RedisReply& reply);
// A score, or a time in seconds, as number or text.
std::optional<double> number_of(std::string_view text);

// `2026-03-01T00:00:00Z`; empty when it is no time.
std::string time_text(std::optional<double> seconds);
// `3.25s`, `2m5s`, `-0.2s`; empty when there is none.
std::string seconds_text(std::optional<double> seconds);
// `512 B`, `1.5 MiB`.
std::string bytes_text(std::uint64_t bytes);

// A run, as its rundata says (docs/formats.md, "In Redis").
struct ClusterRun {
  std::string id;
  std::string job = {};
  std::string host = {};
  std::string status = {};  // running, success, fail, frozen; empty: unreadable
  std::optional<double> started = {};
  std::optional<double> duration = {};
  std::optional<int> code = {};
  std::string output = {};
  std::optional<double> at = {};  // its last heartbeat, or its end: the score by which it was found

  [[nodiscard]] bool is_running() const { return status == "running"; }
};
ClusterRun run_of(std::string id, std::string_view blob);

// `running`, `exit 0`, `signal 9`, `frozen`, `unreadable`.
std::string result_of(const ClusterRun& run);
void write_json(JsonWriter& json, const ClusterRun& run);
void print_cluster_run(const ClusterRun& run, const ScreenTimes& times);

// 32 lower-case hexadecimal digits.
bool is_run_id(std::string_view text);

// A line for a terminal, which would obey control characters: they are escaped, but for tabs.
std::string shown_line(std::string_view line);

// How a definition reads: its cron_args in one line.
std::string schedule_text(const Node& definition);
// `its own name`, `NAME`, or `none`.
std::string lock_text(const Node& definition);
std::string problem_in(const Node& definition);  // job_state.validation_errors

}  // namespace kron::cli
