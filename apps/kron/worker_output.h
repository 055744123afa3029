#pragma once

#include <string_view>
#include <vector>

#include "kron/env/file_system.h"
#include "kron/queue/task_queue.h"

namespace kron::cli {

// What a command has left in its place, read back within the limits of a commit. Links and the like are not followed
// but refused: code invalid, with the name.

Result<std::vector<StagedFile>> read_staged_files(Directory& stage);

// JSON lines as `kron task submit-batch` takes them; no such file: none. One without an id gets no name: code invalid,
// because another attempt could not find it again.
Result<std::vector<NewTask>> read_follow_ups(Directory& place, std::string_view name);

}  // namespace kron::cli
