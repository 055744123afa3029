#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/core/constraints.h"

namespace kron::jobs {

inline constexpr int kCalendarYearsBefore = 1;
inline constexpr int kCalendarYearsAhead = 6;
inline constexpr std::size_t kMostIcsRules = 500;
// Of all rules of a file together: how many dates they are followed through, from their beginning on.
inline constexpr std::size_t kMostIcsRuleDates = 50'000;
// Ranges of dates that a calendar comes to. Each job that uses it has them.
inline constexpr std::size_t kMostIcsRanges = 1000;

// The years that a calendar is known for: a rule without end has to end somewhere. Whether a date in them is in the
// calendar does not depend on which years they are.
struct CalendarYears {
  int first;
  int last;
};
CalendarYears calendar_years(Instant now);  // from kCalendarYearsBefore to kCalendarYearsAhead, by UTC

struct CalendarDates {
  std::vector<DateRange> dates;  // in order, apart from each other, none outside the years
  // Events that were left out: how many, and the name of the first.
  struct LeftOut {
    std::size_t count = 0;
    std::string first = {};
  };
  LeftOut timed;     // they have a time of day
  LeftOut by_rules;  // their rules are other than yearly ones
  LeftOut broken;    // they have no date, or something that could not be read
};

// The all-day events of an iCalendar text (RFC 5545), with yearly rules. The same text and years give the same dates on
// every machine. Refused: what checked_ics refuses, and what exceeds the above. Any thread.
Result<CalendarDates> read_ics(std::string_view text, const CalendarYears& years);

}  // namespace kron::jobs
