#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kron/api/parts.h"
#include "kron/base/instant.h"
#include "kron/jobs/definition.h"

namespace kron::daemon {

struct JobSource {
  std::vector<std::string> paths;
  std::optional<jobs::Spelling> source;  // of every file, whatever its name
};

// What a reload would make of the jobs in force, and what lint says of the files, looking forward from `now`. Reads the
// files and changes nothing. On any thread: it shares nothing with the daemon.
api::ReloadReport preview_reload(const JobSource& source, const std::vector<jobs::JobDefinition>& in_force,
                                 Instant now);

}  // namespace kron::daemon
