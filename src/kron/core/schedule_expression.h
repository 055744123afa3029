#pragma once

#include <string>

#include "kron/core/schedule.h"

namespace kron {

// As to_string, but for people, as they would write it: `*/2`, not `0-58/2`, in the seconds and months too.
// parse_schedule gives the same schedule.
std::string expression_of(const Schedule& schedule);

}  // namespace kron
