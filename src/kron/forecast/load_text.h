#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "kron/forecast/load_profile.h"

namespace kron {

// The profile for a terminal of `width` columns: the numbers, a histogram before and one after spreading in the same
// scale, the hot spots, the unschedulable periods.
std::string load_text(const LoadProfile& profile, std::span<const jobs::JobDefinition> definitions, std::size_t width);

// Rows of a histogram, the top one first, each ended by a line break; `columns` is at most the number of values. A
// column shows the greatest of the values that fall into it, in eighths of a row; whatever is not 0 can be seen.
std::string histogram(std::span<const std::uint64_t> values, std::uint64_t scale, std::size_t columns,
                      std::size_t rows);

}  // namespace kron
