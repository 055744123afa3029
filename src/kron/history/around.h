#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kron/history/index.h"

namespace kron::history {

// What a question about one job and one time touches.
struct Around {
  std::string job;
  std::optional<Instant> period = {};  // its nominal time …
  std::optional<Instant> from = {};    // … and when whatever became of it is expected: it is looked for there first
  std::optional<Instant> to = {};
  std::optional<Instant> at = {};  // the runs that went on then are meant too
  bool last_run = false;           // and the last run of all
};

inline constexpr std::size_t kMostRunsAround = 20;
inline constexpr std::size_t kMostReportsAround = 1000;

// What is known of the period; the runs that went on at the time, and while something was skipped or missed; and when
// nothing is known of the period, the reports of periods passed over that may hold it. Each entry once.
Result<std::vector<Entry>> entries_around(Index& index, const Around& around);

}  // namespace kron::history
