#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/core/window.h"

namespace kron {

// How a draw u in [0, 1) becomes a place x in [0, 1) of the window. Every parameter has its default resolved when the
// distribution is made, except sigma and mu, whose defaults depend on the window.
struct Distribution {
  enum class Kind : std::uint8_t { uniform, skewEarly, skewLate, normal, exponential };
  enum class Mu : std::uint8_t { by_mode, nominal, start, mid, end };
  enum class Direction : std::uint8_t { early, late };

  Kind kind = Kind::uniform;
  double shape = 2;                        // skewEarly, skewLate
  double lambda = 1;                       // exponential
  Direction direction = Direction::early;  // exponential
  Mu mu = Mu::by_mode;                     // normal
  std::optional<Nanoseconds> sigma;        // normal; D/6 when absent

  bool operator==(const Distribution&) const = default;

  // x for a draw u, clamped to [0, 1). The same bits on every machine.
  [[nodiscard]] double place(double u, const WindowSpec& window) const;
  // The chance that a place is below x: the inverse of `place`, for the share of a window that is allowed.
  [[nodiscard]] double chance_below(double x, const WindowSpec& window) const;
};

std::string_view name_of(Distribution::Kind kind);

// Name and parameters as people write them; unknown names and parameters, NaN, infinities, zero and negatives are
// errors whose field is the parameter's name.
Result<Distribution> make_distribution(std::string_view name, const std::map<std::string, std::string>& parameters);

// The parameters in force for this window mode and duration, as texts: what a Decision reports and make_distribution
// reads back (shape=2; lambda=1,dir=early; mu=mid,sigma=30m).
std::map<std::string, std::string> parameters_of(const Distribution& distribution, const WindowSpec& window);

}  // namespace kron
