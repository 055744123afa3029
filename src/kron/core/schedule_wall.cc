#include "kron/core/schedule_wall.h"

#include <algorithm>
#include <bit>

#include "kron/core/schedule_days.h"

namespace kron {
namespace {

constexpr int kNoTime = -1;

const std::int64_t kFirstDay = days_from_civil(kFirstYear, 1, 1);
const std::int64_t kDayAfterLast = days_from_civil(kLastYear + 1, 1, 1);

constexpr int lowest(std::uint64_t bits) { return std::countr_zero(bits); }
constexpr int highest(std::uint64_t bits) { return 63 - std::countl_zero(bits); }
constexpr bool has(std::uint64_t bits, int n) { return (bits >> n & 1) != 0; }
constexpr std::uint64_t above(std::uint64_t bits, int n) { return bits & ~std::uint64_t{1} << n; }
constexpr std::uint64_t below(std::uint64_t bits, int n) { return bits & ~(~std::uint64_t{0} << n); }

bool never_matches(const Schedule& s) { return s.seconds == 0 || s.minutes == 0 || s.hours == 0 || s.months == 0; }

int first_time(const Schedule& s) { return lowest(s.hours) * 3600 + lowest(s.minutes) * 60 + lowest(s.seconds); }
int last_time(const Schedule& s) { return highest(s.hours) * 3600 + highest(s.minutes) * 60 + highest(s.seconds); }

// The first matching time of day ≥ `time`: the earliest unit that must move on resets the finer ones to their first.
int first_time_from(const Schedule& s, int time) {
  const int hour = time / 3600;
  const int minute = time / 60 % 60;
  const int second = time % 60;
  if (has(s.hours, hour)) {
    if (has(s.minutes, minute)) {
      const std::uint64_t seconds = s.seconds >> second << second;
      if (seconds != 0) return time - second + lowest(seconds);
    }
    const std::uint64_t minutes = above(s.minutes, minute);
    if (minutes != 0) return hour * 3600 + lowest(minutes) * 60 + lowest(s.seconds);
  }
  const std::uint64_t hours = above(s.hours, hour);
  return hours == 0 ? kNoTime : lowest(hours) * 3600 + lowest(s.minutes) * 60 + lowest(s.seconds);
}

int last_time_to(const Schedule& s, int time) {
  const int hour = time / 3600;
  const int minute = time / 60 % 60;
  const int second = time % 60;
  if (has(s.hours, hour)) {
    if (has(s.minutes, minute)) {
      const std::uint64_t seconds = below(s.seconds, second + 1);
      if (seconds != 0) return time - second + highest(seconds);
    }
    const std::uint64_t minutes = below(s.minutes, minute);
    if (minutes != 0) return hour * 3600 + highest(minutes) * 60 + highest(s.seconds);
  }
  const std::uint64_t hours = below(s.hours, hour);
  return hours == 0 ? kNoTime : highest(hours) * 3600 + highest(s.minutes) * 60 + highest(s.seconds);
}

std::uint64_t times_before(const Schedule& s, int time) {
  const int hour = time / 3600;
  const int minute = time / 60 % 60;
  const auto in_minute = static_cast<std::uint64_t>(std::popcount(s.seconds));
  const std::uint64_t in_hour = in_minute * static_cast<std::uint64_t>(std::popcount(s.minutes));
  std::uint64_t count = in_hour * static_cast<std::uint64_t>(std::popcount(below(s.hours, hour)));
  if (!has(s.hours, hour)) return count;
  count += in_minute * static_cast<std::uint64_t>(std::popcount(below(s.minutes, minute)));
  if (has(s.minutes, minute)) count += static_cast<std::uint64_t>(std::popcount(below(s.seconds, time % 60)));
  return count;
}

LocalSeconds on_day(int year, int month, int day, int time) {
  return days_from_civil(year, month, day) * kSecondsPerDay + time;
}

std::uint32_t days_of(const Schedule& s, int year, int month) {
  return has(s.months, month) ? matching_days(s, year, month) : 0;
}

// The number of matching days in [first, last).
std::uint64_t count_days(const Schedule& s, std::int64_t first, std::int64_t last) {
  std::uint64_t count = 0;
  while (first < last) {
    const CivilDate date = date_of(first);
    if (next_year(s, date.year) != date.year) {
      first = days_from_civil(date.year + 1, 1, 1);
      continue;
    }
    const std::int64_t next_month = first - date.day + 1 + days_in_month(date.year, date.month);
    std::uint64_t days = days_of(s, date.year, date.month) >> date.day;
    if (next_month > last) days = below(days, static_cast<int>(last - first));
    count += static_cast<std::uint64_t>(std::popcount(days));
    first = next_month;
  }
  return count;
}

}  // namespace

LocalSeconds first_local_from(const Schedule& s, LocalSeconds from) {
  if (never_matches(s)) return kNoneLater;
  from = std::max(from, kFirstDay * kSecondsPerDay);
  const std::int64_t day = from / kSecondsPerDay;
  if (day >= kDayAfterLast) return kNoneLater;
  const CivilDate date = date_of(day);
  int month = date.month;
  int year = next_year(s, date.year);
  if (year == date.year) {
    const std::uint32_t days = days_of(s, year, month);
    if (has(days, date.day)) {
      const int time = first_time_from(s, static_cast<int>(from - day * kSecondsPerDay));
      if (time != kNoTime) return day * kSecondsPerDay + time;
    }
    const std::uint64_t later = above(days, date.day);
    if (later != 0) return (day + lowest(later) - date.day) * kSecondsPerDay + first_time(s);
  } else {
    month = 0;
  }
  for (; year != 0; year = next_year(s, year + 1), month = 0) {
    for (std::uint64_t months = above(s.months, month); months != 0; months &= months - 1) {
      const std::uint32_t days = matching_days(s, year, lowest(months));
      if (days != 0) return on_day(year, lowest(months), lowest(days), first_time(s));
    }
  }
  return kNoneLater;
}

LocalSeconds last_local_to(const Schedule& s, LocalSeconds to) {
  if (never_matches(s) || to < kFirstDay * kSecondsPerDay) return kNoneEarlier;
  to = std::min(to, kDayAfterLast * kSecondsPerDay - 1);
  const std::int64_t day = to / kSecondsPerDay;
  const CivilDate date = date_of(day);
  constexpr int kPastDecember = 13;
  int month = date.month;
  int year = previous_year(s, date.year);
  if (year == date.year) {
    const std::uint32_t days = days_of(s, year, month);
    if (has(days, date.day)) {
      const int time = last_time_to(s, static_cast<int>(to - day * kSecondsPerDay));
      if (time != kNoTime) return day * kSecondsPerDay + time;
    }
    const std::uint64_t earlier = below(days, date.day);
    if (earlier != 0) return (day + highest(earlier) - date.day) * kSecondsPerDay + last_time(s);
  } else {
    month = kPastDecember;
  }
  for (; year != 0; year = previous_year(s, year - 1), month = kPastDecember) {
    for (std::uint64_t months = below(s.months, month); months != 0; months = below(months, highest(months))) {
      const std::uint32_t days = matching_days(s, year, highest(months));
      if (days != 0) return on_day(year, highest(months), highest(days), last_time(s));
    }
  }
  return kNoneEarlier;
}

std::uint64_t count_local(const Schedule& s, LocalSeconds from, LocalSeconds to) {
  from = std::max(from, kFirstDay * kSecondsPerDay);
  to = std::min(to, kDayAfterLast * kSecondsPerDay);
  if (from >= to) return 0;
  const std::int64_t first_day = from / kSecondsPerDay;
  const std::int64_t last_day = to / kSecondsPerDay;
  const std::uint64_t per_day = static_cast<std::uint64_t>(std::popcount(s.hours)) *
                                static_cast<std::uint64_t>(std::popcount(s.minutes)) *
                                static_cast<std::uint64_t>(std::popcount(s.seconds));
  // Everything from the start of the first day to the end of the interval, less what lies before the interval.
  std::uint64_t count = per_day * count_days(s, first_day, last_day);
  if (const auto time = static_cast<int>(to % kSecondsPerDay); time > 0 && count_days(s, last_day, last_day + 1) > 0) {
    count += times_before(s, time);
  }
  if (const auto time = static_cast<int>(from % kSecondsPerDay);
      time > 0 && count_days(s, first_day, first_day + 1) > 0) {
    count -= times_before(s, time);
  }
  return count;
}

}  // namespace kron
