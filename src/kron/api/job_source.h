#pragma once

#include <optional>
#include <string>

#include "kron/jobs/definition.h"
#include "kron/json/writer.h"
#include "kron/scheduler/scheduler.h"

namespace kron::api {

// A larger job file is not read again for the lines of one job.
inline constexpr std::size_t kMostSourceFile = 8 << 20;

// The lines of its file that say a job (jobs::source_of). Reads the disk, so not on the loop. Nothing, too, when the
// file has changed after `read_at`, which is on the machine's clock.
std::optional<std::string> read_source(const jobs::JobDefinition& definition, std::optional<Instant> read_at,
                                       bool with_secrets);

// Members of a Job beyond its summary: the schedule in words and as it was written, the source, since when it is known.
void write_source(JsonWriter& json, const Scheduler::View& view, const std::optional<std::string>& source);

}  // namespace kron::api
