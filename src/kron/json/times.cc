#include "kron/json/times.h"

namespace kron {

bool has_fraction(std::string_view time) {
  const std::size_t point = time.find('.');
  if (point == std::string_view::npos) return false;
  const std::size_t significant = time.find_first_not_of('0', point + 1);
  return significant != std::string_view::npos && time[significant] >= '1' && time[significant] <= '9';
}

}  // namespace kron
