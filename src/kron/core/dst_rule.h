#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kron/base/result.h"

namespace kron {

// What to do where the wall clock jumps (contract: `@dst(gap=…, overlap=…)`).
struct DstRule {
  enum class Gap : std::uint8_t { run, skip } gap = Gap::run;
  enum class Overlap : std::uint8_t { first, second, both } overlap = Overlap::first;

  bool operator==(const DstRule&) const = default;
};

// "gap=run,overlap=first", in any order; a part left out is taken from `otherwise` (the schedule's own rule). Errors:
// field "dst", column in `text`.
Result<DstRule> parse_dst_rule(std::string_view text, DstRule otherwise = {});
std::string to_string(const DstRule& rule);

}  // namespace kron
