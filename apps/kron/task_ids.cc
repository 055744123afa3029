#include "task_ids.h"

#include "kron/env/random_hex.h"

namespace kron::cli {

std::string new_task_id(std::string_view type) { return std::string(type) + "-" + random_hex(); }

}  // namespace kron::cli
