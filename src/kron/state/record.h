#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/core/alarm.h"
#include "kron/core/open_periods.h"
#include "kron/core/state.h"

namespace kron {

// What set a run going.
enum class Trigger : std::uint8_t { schedule, manual, reboot };
std::string_view name_of(Trigger trigger);
Result<Trigger> parse_trigger(std::string_view text);

// STATE ActiveState: a run that has started and whose end has not been recorded. It is a process or a task. A PID alone
// is not an identity, so the process's start time (clock ticks since boot, from /proc) and the boot id go with it.
struct ActiveExecution {
  std::optional<Instant> period = {};  // none for a manual run
  std::optional<Instant> chosen = {};
  Instant started_at = {};
  std::int64_t pid = 0;
  std::uint64_t process_start = 0;
  std::string boot_id = {};
  std::string run_id = {};
  Trigger trigger = Trigger::schedule;
  std::string task_id = {};          // of the task that it submits; no process then
  std::string unknown_members = {};  // as in StateRecord

  // Records of earlier programs say PID 0 of a task, and not which one.
  [[nodiscard]] bool is_task() const { return !task_id.empty() || pid == 0; }

  bool operator==(const ActiveExecution&) const = default;
};

// STATE HistoryEntry: one terminal outcome, one manual run, or one report of periods passed over.
struct HistoryEntry {
  std::optional<Instant> period = {};   // none for a manual run and for a report
  std::optional<Outcome> outcome = {};  // none for a report
  Reason reason = Reason::none;
  std::string clause = {};  // with Reason::excluded: which constraint
  std::optional<Instant> chosen = {};
  Instant completed_at = {};
  std::optional<int> exit_code = {};           // none: unknown, or nothing ran
  std::optional<std::uint32_t> attempts = {};  // of executing the command in this run, when they were several
  std::optional<bool> failed = {};             // when the exit code alone would say otherwise
  std::string run_id = {};
  Trigger trigger = Trigger::schedule;
  std::optional<PassedOver> passed_over = {};
  std::string unknown_members = {};  // as in StateRecord

  bool operator==(const HistoryEntry&) const = default;
};

// One state file (STATE.md, contract/state.md): everything that is known about one identity.
struct StateRecord {
  std::string identity;
  JobState periods;
  std::optional<Outcome> last_outcome;    // of periods.last_handled
  std::optional<Instant> last_chosen;     // of periods.last_handled; none when it was unschedulable
  std::vector<ActiveExecution> active;    // oldest first
  std::vector<HistoryEntry> history;      // oldest first
  std::string last_boot_id;               // @reboot: the boot it was last run for
  std::optional<Alarm> alarm = {};        // none: all is well, or nobody wants to know
  std::string unknown_members;            // `,"Key":value…`: members of another version, kept as they were
  std::string unknown_of_schedule = {};   // the same, of Schedule, …
  std::string unknown_of_suspended = {};  // … of Suspended …
  std::string unknown_of_alarm = {};      // … of Alarm …
  std::vector<std::pair<Span, std::string>> unknown_of_spans = {};  // … and of each span in PassedOver that has some

  bool operator==(const StateRecord&) const = default;
};

inline constexpr std::string_view kStateVersion = "1";
inline constexpr std::string_view kPassedOverWord = "passed over";  // the Outcome of a report in History

// No record is larger: what writes one and what reads one go by this.
inline constexpr std::size_t kMostRecordBytes = std::size_t{4} << 20;

namespace state {

// The file's text, one JSON object and a newline; parse reads it back to an equal record.
std::string print(const StateRecord& record);

// The same, after the oldest entries of the history are dropped that make it larger than `most`. Refused, with the
// cure, when what is left is still larger: runs and periods must not be forgotten.
Result<std::string> fit(StateRecord& record, std::size_t most = kMostRecordBytes);

// Older versions are migrated (migrate.h). Code invalid: not a state file (to be quarantined). Code refused: a version
// this program does not know; the message names the version and the cure. A period with an active execution counts as
// handled, whatever Last* say.
Result<StateRecord> parse(std::string_view text);

}  // namespace state
}  // namespace kron
