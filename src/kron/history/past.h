#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kron/history/archive.h"

namespace kron::history {

// What a picture of a time shows of what was.
struct PastQuestion {
  struct Lane {
    std::vector<std::string> jobs;
    bool wants_runs = false;
  };

  StartsQuery starts;
  std::vector<Lane> lanes = {};
  std::size_t most_of_a_lane = 400;  // runs, the newest
  std::size_t most = 10'000;         // of all lanes
};

struct Past {
  struct Lane {
    std::optional<Length> usual = {};  // of a lane of one job
    char worst = 0;                    // the letter of the worst last outcome; 0: none is bad
    std::vector<Entry> runs = {};      // and outcomes without one, the oldest first
  };

  std::vector<std::uint64_t> starts = {};
  std::vector<Lane> lanes = {};
};

Result<Past> past_of(Archive& archive, const PastQuestion& question);

// How much the last outcome of a job needs somebody: 0, not at all. What runs now says nothing; the one before counts.
unsigned need_of(std::string_view letters);

}  // namespace kron::history
