#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kron/api/parts.h"
#include "kron/json/writer.h"

namespace kron::api {

// The member `jobFiles` of the status. `changes`: nothing when nobody looked for them.
void write_job_files(JsonWriter& json, const JobFilesStatus& files,
                     const std::optional<std::vector<FileChange>>& changes);

// Why no job is loaded at all, when job files were refused; empty otherwise.
std::string why_no_job(const DaemonStatus& status);

}  // namespace kron::api
