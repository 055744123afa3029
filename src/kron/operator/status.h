#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/core/state.h"
#include "kron/json/document.h"

// The status of a KronJob as a value. `handled`, `starting`, `waiting` and `last_manual` are the operator's memory, on
// which "at most once" rests; the rest is for people.
namespace kron::kronjobs {

inline constexpr std::size_t kMostRecent = 10;
inline constexpr std::size_t kMostStarting = 16;
inline constexpr std::size_t kMostActiveShown = 32;
inline constexpr std::size_t kMostOpenKept = 256;
inline constexpr std::size_t kLongestMessage = 1024;

struct PeriodNote {
  Instant period;
  std::optional<Instant> chosen = {};
  std::optional<Instant> at = {};  // when it was judged; none of a period that is ahead
  std::optional<Outcome> outcome = {};
  std::string reason = {};
  std::string seed_hash = {};
  std::string job_name = {};

  bool operator==(const PeriodNote&) const = default;
};

// A Job that is recorded, and whose gate is to be opened. Of a period, or of a run by hand.
struct Starting {
  std::optional<Instant> period = {};
  std::string token = {};
  std::string job_name;
  std::string job_uid;
  Instant at;

  bool operator==(const Starting&) const = default;
};

// A period that was judged when it was due, and waits for the runs it replaces to end.
struct Waiting {
  Instant period;
  Instant since;

  bool operator==(const Waiting&) const = default;
};

struct LastManual {
  std::string token;
  std::string job_name = {};
  std::string outcome = {};
  std::string reason = {};

  bool operator==(const LastManual&) const = default;
};

struct ActiveJob {
  std::string name;
  std::string uid;
  std::optional<Instant> period = {};

  bool operator==(const ActiveJob&) const = default;
};

struct Condition {
  std::string type;
  bool is_true = false;
  std::int64_t observed_generation = 0;
  std::string reason;
  std::string message = {};
  Instant since;  // lastTransitionTime: of is_true

  bool operator==(const Condition&) const = default;
};

struct KronJobStatus {
  std::optional<std::int64_t> observed_generation = {};
  std::optional<PeriodNote> last = {};
  std::optional<PeriodNote> next = {};
  std::vector<PeriodNote> recent = {};   // oldest first
  std::optional<JobState> handled = {};  // L, open periods, spans and schedule; first sight is not part of it
  std::vector<Starting> starting = {};   // oldest first
  std::optional<Waiting> waiting = {};
  std::optional<LastManual> last_manual = {};
  std::int64_t active_count = 0;
  std::vector<ActiveJob> active = {};  // by name, at most kMostActiveShown
  std::optional<Instant> last_successful = {};
  std::optional<Instant> last_failure = {};
  std::vector<Condition> conditions = {};

  bool operator==(const KronJobStatus&) const = default;

  [[nodiscard]] const Condition* find(std::string_view type) const;
};

// What is for people and cannot be read counts as absent. Refused with code invalid: something of the memory cannot be
// read. To take that for absent would be to forget that a period has run.
Result<KronJobStatus> read_status(const Node* status);

// One JSON object; read_status reads it back to an equal value.
std::string status_json(const KronJobStatus& status);

// Within what the schema takes: of more open periods than that the oldest are closed for good, which can only make
// fewer periods run.
void fit(JobState& handled);

// Whether nothing can start the period any more by this state, wherever the clock goes.
bool is_handled(const JobState& state, Instant period);

}  // namespace kron::kronjobs
