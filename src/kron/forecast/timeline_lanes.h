#pragma once

#include <span>
#include <vector>

#include "kron/forecast/timeline.h"

namespace kron {

// The lanes of these jobs, in the order of their first jobs; beyond `question.lanes`, those of one path are one.
std::vector<TimelineLane> lanes_of(std::span<const jobs::JobDefinition> definitions, const TimelineQuestion& question);

}  // namespace kron
