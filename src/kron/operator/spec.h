#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kron/core/job.h"
#include "kron/core/time_zone.h"
#include "kron/json/document.h"

namespace kron::kronjobs {

inline constexpr std::int64_t kMostHistory = 1000;

// What the spec of a KronJob says, whether a server shows it or a file that may become one.
struct KronJobSpec {
  std::optional<Job> job = {};     // none: the spec cannot be scheduled, and `errors` say why
  std::vector<Error> errors = {};  // all that is wrong; of field "spec.window.duration", with a column where known
  bool suspended = false;          // by spec.policy.suspend, which is read even when the rest cannot be
  std::int64_t successful_limit = 3;
  std::int64_t failed_limit = 1;
  bool foreign_gate = false;  // the template says that somebody else suspends and starts its Jobs
};

// Total and pure but for the zones. `spec` may be null.
KronJobSpec read_spec(const Node* spec, std::string_view ns, std::string_view name, ZoneDatabase& zones);

}  // namespace kron::kronjobs
