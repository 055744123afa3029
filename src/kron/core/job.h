#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/core/constraints.h"
#include "kron/core/distribution.h"
#include "kron/core/schedule.h"
#include "kron/core/time_zone.h"
#include "kron/core/window.h"

namespace kron {

enum class SeedStrategy : std::uint8_t { stable, daily, weekly };
std::string_view name_of(SeedStrategy strategy);
Result<SeedStrategy> parse_seed_strategy(std::string_view text);

enum class Concurrency : std::uint8_t { allow, forbid, replace, queue };
std::string_view name_of(Concurrency concurrency);
Result<Concurrency> parse_concurrency(std::string_view text);
std::span<const std::string_view> concurrency_names();  // all there are

struct Policy {
  Concurrency concurrency = Concurrency::forbid;
  bool suspend = false;
  Seconds deadline{0};
  std::uint32_t pause_after = 0;  // so many scheduled runs in a row have failed: the job is paused; 0: never
  std::optional<Seconds> catch_up_spread = {};  // over how long late starts are spread; none: as the daemon says

  bool operator==(const Policy&) const = default;
};

// Everything that decides when a job runs and what is done when it is due; not what it runs (that is jobs/).
struct Job {
  std::string identity;
  Schedule schedule;
  TimeZone zone;
  WindowSpec window;
  Distribution distribution;
  SeedStrategy seed_strategy = SeedStrategy::stable;
  std::string salt;
  Constraints constraints;
  Policy policy;

  bool operator==(const Job&) const = default;
};

}  // namespace kron
