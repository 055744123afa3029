#pragma once

#include <cstdint>
#include <optional>

#include "kron/cluster/calls.h"

namespace kron::cluster {

// Looks at the counter of fencing tokens in every answer. It never goes back, unless the server has lost writes; and
// then the first host that notices makes it jump far ahead (RaiseCall), so that the others notice too: also those that
// have seen some tokens more than the first.
class FenceWatch {
 public:
  struct Lost {
    std::uint64_t seen = 0;   // the greatest that was seen before
    std::uint64_t found = 0;  // what is there now
  };

  // More than is granted between two looks, and less than a jump by all that one host may have seen more than another.
  static constexpr std::uint64_t kFar = RaiseCall::kJump / 2;

  // One link's answers, in their order.
  std::optional<Lost> note(const Heading& heading) {
    if (!heading.fence) return std::nullopt;
    const std::uint64_t found = *heading.fence;
    const std::uint64_t before = seen_;
    if (found > seen_) seen_ = found;
    const bool is_below = found < before;
    const bool has_jumped = before > 0 && found >= before + kFar;
    // Once for each loss: until the counter is raised every answer is below, and then it jumps.
    const bool is_known = needs_raise_;
    if (is_below) needs_raise_ = true;
    if (has_jumped) needs_raise_ = false;
    if ((!is_below && !has_jumped) || is_known) return std::nullopt;
    return Lost{before, found};
  }

  [[nodiscard]] std::uint64_t seen() const { return seen_; }
  [[nodiscard]] bool needs_raise() const { return needs_raise_; }
  void is_raised() { needs_raise_ = false; }

 private:
  std::uint64_t seen_ = 0;
  bool needs_raise_ = false;
};

}  // namespace kron::cluster
