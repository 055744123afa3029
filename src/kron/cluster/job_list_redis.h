#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kron/cluster/job_reading.h"
#include "kron/cluster/keys.h"
#include "kron/cluster/link.h"
#include "kron/env/log.h"

// What a job list asks of Redis. All of it blocks; not on the loop. Unreachable, refused: as Redis said.
namespace kron::cluster {

// `:jobs`, page by page, `:jobs:paused`, and the cluster's zone.
Result<JobTexts> read_job_texts(Link& link, const Keys& keys, Instant now);

// The definitions of these names that are there.
Result<JobTexts> read_job_texts_of(Link& link, const Keys& keys, std::span<const std::string> names, Instant now);

// Each edit by one script. What somebody else has changed meanwhile stays as he wants it. How many were made or found
// made already.
Result<std::size_t> write_edits(Link& link, const Keys& keys, const std::vector<DefinitionEdit>& edits);

// Pauses or (none) resumes jobs, in the set and in the definitions: a text that was changed meanwhile is edited anew,
// and one that cannot be edited is left alone. `texts`: as they were read last.
struct TextOfJob {
  std::string name;
  std::string text;
};
Status write_paused(Link& link, const Keys& keys, std::vector<TextOfJob> texts,
                    const std::optional<jobs::ClusterPause>& pause);

// Notes validation_errors of these jobs (none: all), or takes them away; false: another host is at it.
Result<bool> validate_in_redis(Link& link, const Keys& keys, const std::vector<std::string>& names,
                               const JobRules& rules);

}  // namespace kron::cluster
