#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/sha256.h"
#include "kron/core/job.h"

namespace kron {

inline constexpr int kSamplingBudget = 64;
inline constexpr std::string_view kNoCandidate = "no candidate accepted within 64 attempts";

// At most 20 characters ("2026-03-01T00:00:00Z", "2026-03-01", "2026-W09"), so a decision allocates nothing.
class PeriodKey {
 public:
  PeriodKey() = default;
  explicit PeriodKey(std::string_view text);
  [[nodiscard]] std::string_view view() const { return {text_.data(), size_}; }
  bool operator==(const PeriodKey& other) const { return view() == other.view(); }

 private:
  std::array<char, 20> text_{};
  std::uint8_t size_ = 0;
};

// SPEC Decision: when the period anchored at `nominal` runs. Only what the job itself does not already say.
struct Decision {
  Instant nominal;
  PeriodKey period_key;
  Window window;
  Sha256 seed_hash{};
  std::optional<Instant> chosen;  // none: unschedulable
  int attempts = 0;

  bool operator==(const Decision&) const = default;

  // Where the period stands in time: its chosen time, or its window's start when it is unschedulable.
  [[nodiscard]] Instant due() const { return chosen.value_or(window.start); }
};

// Frozen: the same inputs give the same bytes for ever. No allocation.
Decision decide(const Job& job, Instant nominal);

// One step of the sampling, for those who explain: the candidate and whether the constraints allowed it.
struct Draw {
  double u;
  Instant candidate;
  bool allowed;
};
// As decide, and calls `see(draw)` for each attempt. A window of one second draws nothing.
Decision decide_showing(const Job& job, Instant nominal, const std::function<void(const Draw&)>& see);

std::string period_id(Instant nominal);  // RFC3339 UTC

// SPEC seed semantics, for tools that show how a seed came about.
PeriodKey period_key_of(SeedStrategy strategy, const TimeZone& zone, Instant nominal);

}  // namespace kron
