#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"

// When somebody is told about a job: once when it goes bad, once when it is well again. Pure.
//
// A job has one alarm. `after` bad periods in a row open it, and the next period that was executed well closes it. What
// was skipped, was not due because of a pause, or was run by hand changes nothing.
//
// Exactly one message, whatever dies: the alarm is a part of the job's record, and changes in the same durable write as
// the outcome that changes it. A message that is to be sent is `owed` in that same write. Whoever sees it there, after
// the write or at the next start, submits a task whose id is made of the job, the kind and the first period of the
// alarm; a queue takes a task with that id once, so it does not matter how often that is tried. When the queue has it,
// a further write takes it off the list. If we die before the first write, neither outcome nor message happened, and
// the period is judged, or the end of its run told, again. If we die between the two, the next start submits it again,
// and the queue knows it already. If we die after the second, nothing is owed.
namespace kron {

enum class AlarmKind : std::uint8_t { failed, missed, unschedulable, late, recovered };
std::string_view name_of(AlarmKind kind);
Result<AlarmKind> parse_alarm_kind(std::string_view text);
inline constexpr std::size_t kAlarmKinds = 5;

// When, and whom (`notify` of a job).
struct AlarmTerms {
  std::vector<AlarmKind> on;  // in the order of AlarmKind, each once
  std::uint32_t after = 1;
  std::optional<Seconds> repeat = {};  // none: never
  std::optional<Seconds> late = {};    // so long after its chosen time it has started, and after its start has ended
  std::vector<std::string> to = {};    // names of destinations

  bool tells(AlarmKind kind) const;
  bool operator==(const AlarmTerms&) const = default;
};
std::vector<AlarmKind> all_alarm_kinds();

inline constexpr std::uint32_t kMostAfter = 1000;
inline constexpr std::size_t kMostDestinations = 16;      // of one job
inline constexpr std::size_t kMostDestinationBytes = 64;  // of a name
inline constexpr std::size_t kMostOwed = 64;              // of one job; then the oldest is given up
// [a-z0-9]([a-z0-9._-]*[a-z0-9])?
bool is_destination_name(std::string_view name);

// What became of a period, as far as an alarm cares.
struct AlarmSign {
  AlarmKind kind = AlarmKind::failed;  // recovered: it was executed, and well
  Instant period = {};
  Instant at = {};
  std::string run_id = {};
  std::optional<int> exit_code = {};  // failed without one: nobody knows how it ended
  std::string reason = {};

  bool operator==(const AlarmSign&) const = default;
};

struct AlarmMessage {
  AlarmSign sign;                           // what made it, and its kind
  Instant first = {};                       // period of the first bad one of this alarm
  std::uint32_t count = 1;                  // how many are bad in a row; of `recovered`, how many were
  std::uint32_t number = 0;                 // 0 opens the alarm, or closes it; 1 … repeat the opening
  AlarmKind opened_as = AlarmKind::failed;  // the kind of the message that opened the alarm
  std::vector<std::string> to = {};

  bool operator==(const AlarmMessage&) const = default;
};

// Names the message of a job among all of them, for ever: of the same alarm it is always the same.
std::string key_of(const AlarmMessage& message);
// The id of its task for one destination: a hash of the job, the kind, the first period, and whom it goes to. Each
// destination has a task of its own, so that one that is away does not repeat the message to the others.
std::string notify_task_id(std::string_view identity, const AlarmMessage& message, std::string_view destination);
// The same of the message that opened the alarm.
std::string opening_task_id(std::string_view identity, const AlarmMessage& message, std::string_view destination);
inline constexpr std::string_view kNotifyTaskType = "kron.notify";

struct Alarm {
  std::uint32_t bad = 0;              // in a row
  std::optional<Instant> first = {};  // period of the first of these …
  std::optional<Instant> last = {};   // … and of the last; a period counts once
  bool is_open = false;
  AlarmKind kind = AlarmKind::failed;   // that opened it
  std::uint32_t told = 0;               // messages since it opened
  Instant told_at = {};                 // the last of them
  std::vector<AlarmMessage> owed = {};  // to be submitted; the oldest first

  // Nothing is bad, and nothing is owed: as if there had never been anything.
  bool is_quiet() const;
  bool operator==(const Alarm&) const = default;
};

// Takes a sign, and appends to `owed` what is to be told.
void note(Alarm& alarm, const AlarmTerms& terms, const AlarmSign& sign);
// The queue has the messages with these keys.
void pay(Alarm& alarm, const std::vector<std::string>& keys);

}  // namespace kron
