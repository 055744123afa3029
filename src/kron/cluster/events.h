#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"

// What is said on the channel `:__events__`: JSON objects with `action` and `args` (cronken's), and beside them our
// `id` and `at`. Pure.
namespace kron::cluster {

namespace events {

// As the name of a job: every job that is loaded.
inline constexpr std::string_view kAllJobs = "all";

struct Pause {
  std::string job;                 // or kAllJobs
  std::optional<Instant> at = {};  // when it was sent, by Redis's clock: all hosts tell the same beginning
  bool operator==(const Pause&) const = default;
};
struct Resume {
  std::string job;  // or kAllJobs
  bool operator==(const Resume&) const = default;
};
struct TerminateRun {
  std::string run_id;
  bool operator==(const TerminateRun&) const = default;
};
struct KillRun {
  std::string run_id;
  bool operator==(const KillRun&) const = default;
};
struct Add {
  std::string job;
  std::string definition;  // JSON, byte for byte as it stands in the event
  bool operator==(const Add&) const = default;
};
struct Remove {
  std::string job;
  bool operator==(const Remove&) const = default;
};
struct Reload {
  bool operator==(const Reload&) const = default;
};
struct Trigger {
  std::string job;
  std::string id = {};             // what makes it one run, however many hosts hear of it; empty: not given
  std::optional<Instant> at = {};  // when it was sent, by Redis's clock
  bool operator==(const Trigger&) const = default;
};
struct Validate {
  std::vector<std::string> jobs;  // none: all of them
  bool operator==(const Validate&) const = default;
};
struct DrainNodes {
  std::vector<std::string> hosts;
  bool operator==(const DrainNodes&) const = default;
};

}  // namespace events

using Event = std::variant<events::Pause, events::Resume, events::TerminateRun, events::KillRun, events::Add,
                           events::Remove, events::Reload, events::Trigger, events::Validate, events::DrainNodes>;

// No event is longer; a definition fits into it.
inline constexpr std::size_t kLargestEvent = std::size_t{1} << 20;

// The `action` of the event.
std::string_view name_of(const Event& event);

// Invalid: too long, no JSON, no action or args, an unknown action, args of another kind. The message says which, and
// can be logged whatever the payload was.
Result<Event> parse_event(std::string_view payload);

// Who published it, and what he said about it: our `by` and `note`, beside cronken's members. Empty: not told.
struct Sender {
  std::string by = {};
  std::string note = {};

  bool operator==(const Sender&) const = default;
};

// Of a payload that parse_event takes. Whoever reaches Redis can write anything there: it is told, and is no proof.
Sender sender_in(std::string_view payload);

// What is published; parse_event gives the same event. The definition of an Add must be JSON.
std::string text_of(const Event& event, const Sender& sender = {});

}  // namespace kron::cluster
