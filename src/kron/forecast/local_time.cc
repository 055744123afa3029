#include "kron/forecast/local_time.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "kron/base/rfc3339.h"

namespace kron {

std::string local_text(const TimeZone& zone, Instant t) {
  const LocalSeconds local = zone.to_local(t);
  const std::int64_t offset = local - epoch_seconds(t);
  const std::int64_t size = std::abs(offset);
  std::string text = rfc3339(instant_of(local));
  text.pop_back();
  std::array<char, 32> suffix{};
  std::snprintf(suffix.data(), suffix.size(), "%c%02d:%02d", offset < 0 ? '-' : '+', static_cast<int>(size / 3600),
                static_cast<int>(size / 60 % 60));
  text += suffix.data();
  // Monrovia was 44 minutes and 30 seconds behind until 1972.
  if (size % 60 != 0) text += ":" + std::to_string(size % 60);
  return text;
}

std::string wall_clock_text(const CivilTime& time) {
  std::string text = rfc3339(instant_of(local_of(time)));
  text.pop_back();
  text[10] = ' ';
  return text;
}

}  // namespace kron
