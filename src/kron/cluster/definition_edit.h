#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/jobs/definition.h"

// Changes of a definition as text: what is not changed stays byte for byte, unknown keys, their order and the spelling
// of numbers included. Pure. Invalid: the text is no JSON object, or its job_state is something else than a map or
// null.
namespace kron::cluster {

// job_state.paused, and beside it since when, by whom and why (jobs::kPauseMember), as far as the pause says so; none:
// not paused. The text as it was, when it says so already; absent is not paused. A job that is paused already stays so
// since when it was: of it only another `by` and `note` are taken, and only where there is one.
Result<std::string> with_paused(std::string_view definition, const std::optional<jobs::ClusterPause>& pause);

// job_state.validation_errors; nothing takes it away.
Result<std::string> with_validation_errors(std::string_view definition, const std::optional<std::string>& errors);

// kron_sig, beside cron_args and job_args (signature.h).
Result<std::string> with_signature(std::string_view definition, std::string_view signature);

// What validation_errors says: nothing when it is absent, null or no text.
Result<std::optional<std::string>> validation_errors_of(std::string_view definition);

}  // namespace kron::cluster
