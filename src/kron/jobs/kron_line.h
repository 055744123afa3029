#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kron/jobs/model.h"

namespace kron::jobs {

// A line, with what backslashes join to it, may have this many bytes: the kernel takes no longer argument either.
inline constexpr std::size_t kMostLineBytes = std::size_t{128} << 10;

// The .kron spelling. One pass; every line is read whatever the others hold. A job is
//   schedule, then in any order @tz(…) @win(…) @dist(…) @seed(…) @policy(…) @only(…) @avoid(…) @dst(…) and key=value.
// Values end at a blank; double quotes keep blanks, and within them \" and \\ stand for " and \ (any other backslash
// for itself). In @only and @avoid a comma followed by `word=` begins a new clause, any other comma continues the list.
std::vector<JobDefinition> read_kron_lines(std::string_view text, ModelContext& context, Report& report);

// The definition as one .kron line, without a newline; reading it gives the same definition. Fails for what a line
// cannot say: line breaks and control characters in a value, a name that job files do not allow.
Result<std::string> kron_line(const JobDefinition& definition);

}  // namespace kron::jobs
