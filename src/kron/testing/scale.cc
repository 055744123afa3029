#include "kron/testing/scale.h"

#include <algorithm>
#include <cstdlib>

namespace kron::testing {

int scaled(int count) {
  const char* text = std::getenv("KRON_TEST_SCALE");
  const double scale = text == nullptr ? 1.0 : std::strtod(text, nullptr);
  return static_cast<int>(std::clamp(count * scale, 1.0, 1e9));
}

}  // namespace kron::testing
