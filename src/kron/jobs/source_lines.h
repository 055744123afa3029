#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kron/jobs/definition.h"

namespace kron::jobs {

inline constexpr std::size_t kMostSourceBytes = 64 << 10;

// The lines of a job file that say this job, as they stand there, without the last newline. Nothing when they are not
// at the job's line (the file has changed since it was read), when there are more bytes of them than kMostSourceBytes,
// and for the JSON of a cluster.
// Without `with_secrets` the values of env, stdin and ping are replaced by `…`, as their owner alone may read the file;
// where the lines do not tell for sure which these are, there is nothing.
std::optional<std::string> source_of(std::string_view file_text, const JobDefinition& definition, bool with_secrets);

}  // namespace kron::jobs
