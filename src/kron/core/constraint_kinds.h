#pragma once

#include <array>
#include <span>
#include <string_view>

#include "kron/core/civil.h"
#include "kron/core/constraints.h"

namespace kron {

// What reading and printing of clauses share. Internal to constraints_parse.cc and constraints_print.cc.

// A kind whose values are small numbers. `names` spell the values from `low` on; `high` of dow is 7, Sunday again.
struct NumberKind : ConstraintKind {
  std::uint32_t ConstraintSet::*mask;
  int low;
  int high;
  std::span<const std::string_view> names;
  std::string_view expected;

  [[nodiscard]] int last() const { return names.size() == kWeekdayNames.size() ? 6 : high; }
};
inline constexpr std::array kNumberKinds{
    NumberKind{{"hours", "0-23, such as 9-17,20"}, &ConstraintSet::hours, 0, 23, {}, "hours 0-23 such as 9-17,20"},
    NumberKind{{"dow", "Weekdays, such as MON-FRI; 0 and 7 are Sunday"},
               &ConstraintSet::weekdays,
               0,
               7,
               kWeekdayNames,
               "weekdays such as MON-FRI or 1,3,5 (0 and 7 are Sunday)"},
    NumberKind{
        {"dom", "Days of the month 1-31"}, &ConstraintSet::days, 1, 31, {}, "days of the month 1-31 such as 1-7,15"},
    NumberKind{{"months", "1-12 or JAN..DEC"}, &ConstraintSet::months, 1, 12, kMonthNames, "months such as JAN-MAR,12"},
};

}  // namespace kron
