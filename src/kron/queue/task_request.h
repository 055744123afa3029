#pragma once

#include <string_view>

#include "kron/json/document.h"
#include "kron/queue/opaque_json.h"
#include "kron/queue/task.h"

// A task as it is submitted, in JSON: the members of a task file that are the submitter's to decide (docs/formats.md).
namespace kron {

// A payload as large as can be, with all that stands around it.
inline constexpr std::size_t kMostRequestBytes = kMostPayloadBytes + (std::size_t{64} << 10);

// One JSON object. `id` is empty when it names none. Code invalid: no such object, a member that is unknown or wrong;
// the limits of task.h are checked when it is submitted.
Result<NewTask> parse_new_task(std::string_view json);

// The same from a part of a larger document, which is not parsed again. `source` is that document's.
Result<NewTask> new_task_in(const Node& node, JsonSource& source);

// The same from a document that may have other members; the first wrong one goes to `status`.
NewTask read_new_task(const Node& node, JsonSource& source, Status& status, int most_attempts = kMostAttempts);

}  // namespace kron
