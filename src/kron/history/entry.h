#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/base/run_usage.h"
#include "kron/core/open_periods.h"
#include "kron/core/state.h"
#include "kron/json/writer.h"
#include "kron/state/record.h"

namespace kron::history {

// A run, an outcome without one, or a report of periods passed over.
struct Entry {
  std::int64_t number = 0;  // order of arrival, from 1; given by the history, and the cursor of its readers
  std::string job;
  std::optional<Outcome> outcome = {};  // none: a report
  Reason reason = Reason::none;
  std::string clause = {};  // with Reason::excluded: which constraint
  std::string detail = {};  // RunExit.reason: why it could not be executed, timed out …
  Trigger trigger = Trigger::schedule;
  std::optional<Instant> period = {};
  std::optional<Instant> chosen = {};
  std::string run_id = {};  // empty: nothing ran
  std::string host = {};    // of a cluster: the instance that it is about; empty: this machine, which is alone
  std::optional<Instant> started_at = {};
  std::optional<Instant> ended_at = {};                    // of a run, none: it goes on
  std::optional<std::chrono::microseconds> delay = {};     // from the chosen time to the start; none: nobody knows
  std::optional<std::chrono::microseconds> duration = {};  // of a run that has ended, likewise
  std::optional<int> exit_code = {};                       // none: unknown, or nothing ran
  std::optional<std::uint32_t> attempts = {};              // of executing the command in this run, when several
  std::optional<bool> failed = {};                         // when the exit code alone would say otherwise
  std::int64_t pid = 0;
  std::uint64_t output_bytes = 0;
  std::optional<RunUsage> used = {};  // of a run that has ended, as far as its own record tells
  std::optional<PassedOver> passed_over = {};

  bool operator==(const Entry&) const = default;
};

// A run that goes on.
Entry entry_of(const std::string& job, const ActiveExecution& run);

inline constexpr std::size_t kMostDetail = 1024;  // bytes of it that are kept

enum class Kind : std::uint8_t { executed, skipped, missed, unschedulable, passed_over };
std::string_view name_of(Kind kind);
Result<Kind> parse_kind(std::string_view text);
Kind kind_of(const Entry& entry);  // with a run id and no outcome: executed

enum class RunResult : std::uint8_t { running, succeeded, failed, unknown };
std::string_view name_of(RunResult result);
Result<RunResult> parse_run_result(std::string_view text);
std::optional<RunResult> result_of(const Entry& entry);  // nothing when nothing ran

// When it was, for questions about a time: the start, or else what is known that is nearest to it.
Instant time_of(const Entry& entry);

// Two entries with one key are the same: the run id; or the job, the period and its outcome; or the job and the first
// and last of the periods passed over; on one host.
std::string key_of(const Entry& entry);
// The key of the run with this id; of a prefix of ids, the prefix of their keys.
std::string run_key(std::string_view run_id);

// What is known after `news` of the same key: nothing is forgotten, and a run that has ended does not run again.
Entry merged(const Entry& known, const Entry& news);

// In what is to be told at one time, the end of a run takes the place of its start.
void join_starts_with_ends(std::vector<Entry>& entries);

// The names of docs/formats.md, "Run history"; parse_entry reads them back to an equal entry and passes over others.
void write(JsonWriter& out, const Entry& entry);
std::string entry_json(const Entry& entry);
Result<Entry> parse_entry(std::string_view json);

}  // namespace kron::history
