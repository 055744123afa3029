#pragma once

#include <string_view>

namespace kron::jobs {

// The JSON Schema (draft 2020-12) of the YAML spelling, as `kron schema` prints it: editors complete and check by it.
std::string_view job_file_schema();

}  // namespace kron::jobs
