#pragma once

#include <string>
#include <string_view>

namespace kron::cli {

// An id that nobody has had: the type, and 80 random bits. A type that is no valid one gives an id that is none either.
std::string new_task_id(std::string_view type);

}  // namespace kron::cli
