#include "kron/core/schedule_days.h"

#include <bit>

namespace kron {
namespace {

constexpr int kSunday = 0;
constexpr int kSaturday = 6;

struct Month {
  std::int64_t first_day;  // days since the epoch
  int first_weekday;
  int length;

  [[nodiscard]] int weekday_of(int day) const { return (first_weekday + day - 1) % 7; }
};

constexpr std::uint32_t bit(int n) { return std::uint32_t{1} << n; }

// Seven weekday bits repeated over the month: bit d is set when day d is such a weekday.
std::uint32_t days_on(std::uint32_t weekdays, const Month& month) {
  constexpr std::uint64_t kSixWeeks = 0x8'1020'4081;  // one bit every seven
  return static_cast<std::uint32_t>((weekdays * kSixWeeks >> month.first_weekday) << 1);
}

// n#k for all n and k at once. Days 7(k-1)+1 … 7k hold each weekday once, in an order rotated by the weekday of the
// first, so each group of seven bits of the set is rotated by as much.
std::uint32_t nth_days(std::uint64_t nth, const Month& month) {
  constexpr std::uint64_t kFiveWeeks = 0x1020'4081;
  const int turn = month.first_weekday;
  const std::uint64_t stay = (std::uint64_t{kEveryWeekday} >> turn) * kFiveWeeks;
  const std::uint64_t whole = kEveryWeekday * kFiveWeeks;
  return static_cast<std::uint32_t>(((nth >> turn & stay) | (nth << (7 - turn) & whole & ~stay)) << 1);
}

// The Monday-to-Friday day nearest to `day`, within the month.
int nearest_weekday(int day, const Month& month) {
  const int weekday = month.weekday_of(day);
  if (weekday == kSaturday) return day > 1 ? day - 1 : day + 2;
  if (weekday == kSunday) return day < month.length ? day + 1 : day - 2;
  return day;
}

std::uint32_t special_dates(const Schedule& schedule, const Month& month) {
  std::uint32_t found = 0;
  for (std::uint32_t rest = schedule.days_from_end; rest != 0; rest &= rest - 1) {
    const int day = month.length - std::countr_zero(rest);
    if (day >= 1) found |= bit(day);
  }
  for (std::uint32_t rest = schedule.near_weekday; rest != 0; rest &= rest - 1) {
    const int day = std::countr_zero(rest);
    if (day <= month.length) found |= bit(nearest_weekday(day, month));
  }
  if (schedule.last_weekday) {
    const int weekday = month.weekday_of(month.length);
    found |= bit(month.length - (weekday == kSaturday ? 1 : weekday == kSunday ? 2 : 0));
  }
  return found;
}

std::uint32_t days_in_weeks(std::uint64_t weeks, const Month& month) {
  std::uint32_t found = 0;
  for (int day = 1; day <= month.length;) {
    const int next_monday = day + 7 - (month.weekday_of(day) + 6) % 7;
    const int week = iso_week_of(month.first_day + day - 1).week;
    if ((weeks >> week & 1) != 0) {
      for (; day < next_monday && day <= month.length; ++day) found |= bit(day);
    }
    day = next_monday;
  }
  return found;
}

}  // namespace

std::uint32_t matching_days(const Schedule& schedule, int year, int month_number) {
  const std::int64_t first_day = days_from_civil(year, month_number, 1);
  const Month month{first_day, weekday_of(first_day), days_in_month(year, month_number)};

  std::uint32_t by_date = schedule.days;
  if (schedule.days_from_end != 0 || schedule.near_weekday != 0 || schedule.last_weekday) {
    by_date |= special_dates(schedule, month);
  }
  std::uint32_t by_weekday = days_on(schedule.weekdays, month);
  if (schedule.last_weekdays != 0) {
    by_weekday |= days_on(schedule.last_weekdays, month) & std::uint32_t{kEveryWeekday} << (month.length - 6);
  }
  if (schedule.nth_weekdays != 0) by_weekday |= nth_days(schedule.nth_weekdays, month);

  const bool any = schedule.combine == Schedule::Combine::any;
  std::uint32_t found = any ? by_date | by_weekday : by_date & by_weekday;
  found &= (bit(month.length) - 1) << 1;
  if (schedule.weekday_filter != kEveryWeekday) found &= days_on(schedule.weekday_filter, month);
  if (found != 0 && schedule.week_filter != kEveryWeek) found &= days_in_weeks(schedule.week_filter, month);
  return found;
}

int next_year(const Schedule& schedule, int year) {
  if (year > kLastYear) return 0;
  const auto from = static_cast<std::size_t>(year < kFirstYear ? 0 : year - kFirstYear);
  std::uint64_t word = schedule.years[from / 64] & ~std::uint64_t{0} << from % 64;
  for (std::size_t i = from / 64;; word = schedule.years[i]) {
    if (word != 0) return kFirstYear + static_cast<int>(i * 64) + std::countr_zero(word);
    if (++i == schedule.years.size()) return 0;
  }
}

int previous_year(const Schedule& schedule, int year) {
  if (year < kFirstYear) return 0;
  const auto from = static_cast<std::size_t>(year > kLastYear ? kLastYear - kFirstYear : year - kFirstYear);
  std::uint64_t word = schedule.years[from / 64] & ~std::uint64_t{0} >> (63 - from % 64);
  for (std::size_t i = from / 64;; word = schedule.years[i]) {
    if (word != 0) return kFirstYear + static_cast<int>(i * 64) + 63 - std::countl_zero(word);
    if (i-- == 0) return 0;
  }
}

std::uint16_t possible_months(const Schedule& schedule) {
  std::uint32_t possible = 0;
  for (std::uint32_t rest = schedule.months; rest != 0; rest &= rest - 1) {
    const int month = std::countr_zero(rest);
    for (int year = next_year(schedule, kFirstYear); year != 0; year = next_year(schedule, year + 1)) {
      if (matching_days(schedule, year, month) == 0) continue;
      possible |= bit(month);
      break;
    }
  }
  return static_cast<std::uint16_t>(possible);
}

bool has_any_date(const Schedule& schedule) {
  for (int year = next_year(schedule, kFirstYear); year != 0; year = next_year(schedule, year + 1)) {
    for (std::uint32_t rest = schedule.months; rest != 0; rest &= rest - 1) {
      if (matching_days(schedule, year, std::countr_zero(rest)) != 0) return true;
    }
  }
  return false;
}

}  // namespace kron
