#pragma once

#include <string>

#include "kron/core/schedule.h"

namespace kron {

// The schedule as one would say it: "every day at 02:30", "every 15 minutes on weekdays", "on the last day of the month
// at 18:00". On the wall clock of its time zone, which is not said.
std::string words_of(const Schedule& schedule);

}  // namespace kron
