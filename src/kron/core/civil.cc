#include "kron/core/civil.h"

#include <array>

namespace kron {
namespace {

// Years are counted from 1 March, so that the leap day is the last day of a year and months have a regular rhythm
// (153 days in every five). An era is 400 years, after which the calendar repeats.
constexpr std::int64_t kDaysPerEra = 146'097;
constexpr std::int64_t kDaysToEpoch = 719'468;  // from 0000-03-01 to 1970-01-01

constexpr std::int64_t floor_div(std::int64_t value, std::int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

constexpr bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

}  // namespace

std::int64_t days_from_civil(int year, int month, int day) {
  const std::int64_t march_year = static_cast<std::int64_t>(year) - (month <= 2 ? 1 : 0);
  const std::int64_t era = floor_div(march_year, 400);
  const std::int64_t year_of_era = march_year - era * 400;
  const std::int64_t march_month = month > 2 ? month - 3 : month + 9;
  const std::int64_t day_of_year = (153 * march_month + 2) / 5 + day - 1;
  return era * kDaysPerEra + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - kDaysToEpoch;
}

CivilDate date_of(std::int64_t days_since_epoch) {
  const std::int64_t days = days_since_epoch + kDaysToEpoch;
  const std::int64_t era = floor_div(days, kDaysPerEra);
  const auto day_of_era = static_cast<std::uint32_t>(days - era * kDaysPerEra);
  // The leap days before this one are taken out (every 1,460 days, but for those of whole centuries), so that what is
  // left divides evenly.
  const std::uint32_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::uint32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::uint32_t march_month = (5 * day_of_year + 2) / 153;
  const auto day = static_cast<int>(day_of_year - (153 * march_month + 2) / 5 + 1);
  const int month = static_cast<int>(march_month) + (march_month < 10 ? 3 : -9);
  const auto year = static_cast<int>(era * 400 + year_of_era) + (month <= 2 ? 1 : 0);
  return {year, month, day};
}

CivilTime civil_of(LocalSeconds local) {
  const std::int64_t days = floor_div(local, kSecondsPerDay);
  const auto rest = static_cast<int>(local - days * kSecondsPerDay);
  const CivilDate date = date_of(days);
  return {date.year, date.month, date.day, rest / 3600, rest / 60 % 60, rest % 60};
}

LocalSeconds local_of(const CivilTime& civil) {
  const std::int64_t minutes = std::int64_t{civil.hour} * 60 + civil.minute;
  return days_from_civil(civil.year, civil.month, civil.day) * kSecondsPerDay + minutes * 60 + civil.second;
}

int days_in_month(int year, int month) {
  constexpr std::array<std::uint8_t, 13> kLength{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kLength[static_cast<std::size_t>(month)];
}

int weekday_of(std::int64_t days_since_epoch) {
  const std::int64_t shifted = days_since_epoch + 4;  // 1970-01-01 was a Thursday
  return static_cast<int>(shifted - floor_div(shifted, 7) * 7);
}

IsoWeek iso_week_of(std::int64_t days_since_epoch) {
  // A week belongs to the year of its Thursday.
  const std::int64_t thursday = days_since_epoch + 3 - (weekday_of(days_since_epoch) + 6) % 7;
  const int year = date_of(thursday).year;
  return {year, static_cast<int>((thursday - days_from_civil(year, 1, 1)) / 7) + 1};
}

}  // namespace kron
