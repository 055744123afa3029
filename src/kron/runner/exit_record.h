#pragma once

#include <optional>
#include <string_view>

#include "kron/env/process_runner.h"

namespace kron::runner {

// The run's end from what kron-exec wrote; nothing when the text is not whole, not of this version, or of another run.
// Keys it does not know are passed over.
std::optional<RunExit> parse_exit_record(std::string_view text, std::string_view run_id);

}  // namespace kron::runner
