#include "screen_times.h"

#include <array>
#include <cstdlib>
#include <limits>

#include "kron/base/rfc3339.h"
#include "kron/forecast/local_time.h"

namespace kron::cli {
namespace {

struct DistanceUnit {
  std::int64_t below;  // seconds; from here on the next unit is easier to read
  std::int64_t size;
  const char* name;
};

constexpr std::int64_t kMinuteOfDistance = 60;
constexpr std::int64_t kHourOfDistance = 60 * kMinuteOfDistance;
constexpr std::int64_t kDayOfDistance = 24 * kHourOfDistance;
constexpr std::int64_t kYearOfDistance = 365 * kDayOfDistance;

constexpr std::array kDistanceUnits{
    DistanceUnit{kMinuteOfDistance, 1, "s"}, DistanceUnit{kHourOfDistance, kMinuteOfDistance, "min"},
    DistanceUnit{2 * kDayOfDistance, kHourOfDistance, "h"}, DistanceUnit{2 * kYearOfDistance, kDayOfDistance, "d"},
    DistanceUnit{std::numeric_limits<std::int64_t>::max(), kYearOfDistance, "y"}};

}  // namespace

std::string distance_text(Seconds from_now) {
  if (from_now == Seconds(0)) return "now";
  const std::int64_t size = std::abs(from_now.count());
  const DistanceUnit* unit = kDistanceUnits.begin();
  while (size >= unit->below) ++unit;
  const std::string text = std::to_string(size / unit->size) + " " + unit->name;
  return from_now > Seconds(0) ? "in " + text : text + " ago";
}

std::string ScreenTimes::at(Instant t) const {
  if (!zone_) return rfc3339(t);
  std::string text = local_text(*zone_, t);
  text[10] = ' ';
  constexpr std::size_t kWithoutOffset = 19;
  const bool is_twice = zone_->resolve(zone_->to_local(t)).kind == TimeZone::Resolution::Kind::repeated;
  return is_twice ? text : text.substr(0, kWithoutOffset);
}

std::string ScreenTimes::distance(Instant t) const { return is_for_people_ ? distance_text(t - now_) : ""; }

std::string ScreenTimes::near(Instant t) const { return is_for_people_ ? at(t) + ", " + distance(t) : at(t); }

std::string ScreenTimes::at(std::string_view time) const {
  const auto t = parse_rfc3339(time);
  return is_for_people_ && t ? at(*t) : std::string(time);
}

std::string ScreenTimes::near(std::string_view time) const {
  const auto t = parse_rfc3339(time);
  return is_for_people_ && t ? near(*t) : std::string(time);
}

}  // namespace kron::cli
