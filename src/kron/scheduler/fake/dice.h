#pragma once

#include <array>
#include <cstdint>
#include <random>

#include "kron/base/instant.h"

namespace kron::testing {

// What a simulation draws from its seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  std::int64_t upto(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most + 1));
  }
  bool once_in(int n) { return upto(n - 1) == 0; }
  Seconds seconds(Seconds most) { return Seconds(upto(most.count())); }

  template <class T, std::size_t n>
  const T& one_of(const std::array<T, n>& values) {
    return values[static_cast<std::size_t>(upto(static_cast<std::int64_t>(n) - 1))];
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace kron::testing
