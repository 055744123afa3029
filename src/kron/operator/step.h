#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kron/base/instant.h"
#include "kron/operator/status.h"

// What the operator may do about one KronJob: each step is at most one call of the API server.
namespace kron::kronjobs {

// Creates a Job, at its gate.
struct Create {
  std::string name;
  std::string body;

  bool operator==(const Create&) const = default;
};
// Asks what the server would make of a Job of this template, without creating it.
struct TryTemplate {
  std::int64_t generation = 0;
  std::string body;

  bool operator==(const TryTemplate&) const = default;
};
// Replaces the status, if the KronJob is still the version that was looked at.
struct WriteStatus {
  KronJobStatus status;

  bool operator==(const WriteStatus&) const = default;
};
// Opens the gate of a recorded Job: of this uid, and only if it is still at its gate.
struct Open {
  std::string name;
  std::string uid;

  bool operator==(const Open&) const = default;
};
enum class Propagation : std::uint8_t { background, foreground };
struct Remove {
  std::string name;
  std::string uid;
  std::string resource_version = {};  // of a Job at its gate: one that is opened meanwhile is not removed
  Propagation how = Propagation::background;

  bool operator==(const Remove&) const = default;
};
// What is known of this Job may be old: look. When the answer is not the Job of this uid, which was there before we
// asked, that one is gone for good.
struct ReadJob {
  std::string name;
  std::string uid = {};  // empty: whoever has the name

  bool operator==(const ReadJob&) const = default;
};
struct ReadKronJob {
  std::string uid;

  bool operator==(const ReadKronJob&) const = default;
};
// Nothing to do before `until`, or before something changes.
struct Rest {
  std::optional<Instant> until = {};

  bool operator==(const Rest&) const = default;
};
using Step = std::variant<Create, TryTemplate, WriteStatus, Open, Remove, ReadJob, ReadKronJob, Rest>;

// Something to tell people: an event and a line in the log. Told when the step it came with has been carried out.
struct Notice {
  bool is_warning = false;
  std::string reason;  // "NotOpened": one word, as events have it
  std::string message;

  bool operator==(const Notice&) const = default;
};

}  // namespace kron::kronjobs
