#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

#include "kron/base/instant.h"

namespace kron {

// A date and time of day on some wall clock, without a zone. All arithmetic is the proleptic Gregorian calendar.
struct CivilTime {
  int year = 1970;
  int month = 1;  // 1–12
  int day = 1;    // 1–31
  int hour = 0;
  int minute = 0;
  int second = 0;

  auto operator<=>(const CivilTime&) const = default;
};

struct CivilDate {
  int year = 1970;
  int month = 1;
  int day = 1;

  auto operator<=>(const CivilDate&) const = default;
};

// "Local seconds": what epoch_seconds would be if the wall clock showed UTC. Cheap to compare and to add to.
using LocalSeconds = std::int64_t;
inline constexpr std::int64_t kSecondsPerDay = 86'400;

CivilTime civil_of(LocalSeconds local);
LocalSeconds local_of(const CivilTime& civil);

CivilDate date_of(std::int64_t days_since_epoch);
std::int64_t days_from_civil(int year, int month, int day);  // days since 1970-01-01
int days_in_month(int year, int month);
int weekday_of(std::int64_t days_since_epoch);  // 0 = Sunday … 6 = Saturday

inline constexpr std::array<std::string_view, 12> kMonthNames{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                              "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
inline constexpr std::array<std::string_view, 7> kWeekdayNames{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

struct IsoWeek {
  int year;
  int week;  // 1–53

  bool operator==(const IsoWeek&) const = default;
};
IsoWeek iso_week_of(std::int64_t days_since_epoch);

}  // namespace kron
