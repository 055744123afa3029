#include "kron/core/constraints.h"

#include <algorithm>

namespace kron {
namespace {

bool has_bit(std::uint32_t mask, int bit) { return (mask >> bit & 1U) != 0; }

bool contains(const std::vector<MinuteRange>& ranges, int minute) {
  return std::ranges::any_of(ranges, [&](const MinuteRange& range) {
    return range.first <= range.last ? range.first <= minute && minute <= range.last
                                     : range.first <= minute || minute <= range.last;
  });
}

bool contains(const std::vector<DateRange>& ranges, std::int32_t date) {
  return std::ranges::any_of(ranges, [&](const DateRange& range) { return range.first <= date && date <= range.last; });
}

bool contains(const std::vector<Calendar>& calendars, std::int32_t date) {
  return std::ranges::any_of(calendars, [&](const Calendar& calendar) { return contains(calendar.dates, date); });
}

int weekday(const CivilDate& date) { return weekday_of(days_from_civil(date.year, date.month, date.day)); }

std::int32_t number_of(const CivilDate& date) { return date.year * 10000 + date.month * 100 + date.day; }

// Calls `judge(matches)` for each kind of date clause that is given, until one answers true.
template <class Judge>
bool any_date_kind(const ConstraintSet& set, const CivilDate& date, Judge judge) {
  return (set.months != 0 && judge(has_bit(set.months, date.month))) ||
         (set.days != 0 && judge(has_bit(set.days, date.day))) ||
         (set.weekdays != 0 && judge(has_bit(set.weekdays, weekday(date)))) ||
         (!set.dates.empty() && judge(contains(set.dates, number_of(date)))) ||
         (!set.calendars.empty() && judge(contains(set.calendars, number_of(date))));
}

template <class Judge>
bool any_minute_kind(const ConstraintSet& set, int minute, Judge judge) {
  return (set.hours != 0 && judge(has_bit(set.hours, minute / 60))) ||
         (!set.between.empty() && judge(contains(set.between, minute)));
}

constexpr auto kMatches = [](bool matches) { return matches; };
constexpr auto kMismatches = [](bool matches) { return !matches; };

}  // namespace

bool ConstraintSet::empty() const {
  return std::apply([this](auto... kind) { return ((this->*kind == ConstraintSet().*kind) && ...); },
                    kConstraintMembers);
}

std::vector<ConstraintSet> kinds_of(const ConstraintSet& set) {
  std::vector<ConstraintSet> kinds;
  const auto add = [&](auto kind) {
    ConstraintSet alone;
    alone.*kind = set.*kind;
    if (!alone.empty()) kinds.push_back(std::move(alone));
  };
  std::apply([&](auto... kind) { (add(kind), ...); }, kConstraintMembers);
  return kinds;
}

bool Constraints::allow_date(const CivilDate& date) const {
  return !any_date_kind(only, date, kMismatches) && !any_date_kind(avoid, date, kMatches);
}

bool Constraints::allow_minute(int minute_of_day) const {
  return !any_minute_kind(only, minute_of_day, kMismatches) && !any_minute_kind(avoid, minute_of_day, kMatches);
}

bool Constraints::allow(const CivilTime& candidate) const {
  return allow_minute(candidate.hour * 60 + candidate.minute) &&
         allow_date({candidate.year, candidate.month, candidate.day});
}

}  // namespace kron
