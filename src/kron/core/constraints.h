#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "kron/base/result.h"
#include "kron/core/civil.h"

namespace kron {

struct DateRange {  // inclusive, as YYYYMMDD numbers: 20261224
  std::int32_t first = 0;
  std::int32_t last = 0;

  auto operator<=>(const DateRange&) const = default;
};
std::string to_string(const DateRange& range);  // "2026-12-24" or "2026-12-24..2026-12-26"

struct MinuteRange {  // minutes of the day 0–1439, both included; first > last wraps over midnight
  std::int16_t first = 0;
  std::int16_t last = 0;

  auto operator<=>(const MinuteRange&) const = default;
};

// A named list of dates given with the job.
struct Calendar {
  std::string name;
  std::vector<DateRange> dates;

  bool operator==(const Calendar&) const = default;
};

// One side, `only` or `avoid`. A mask of 0 or an empty list means "this kind is not given".
struct ConstraintSet {
  std::uint32_t hours = 0;     // bits 0–23
  std::uint32_t weekdays = 0;  // bits 0 (Sunday) – 6
  std::uint32_t days = 0;      // bits 1–31
  std::uint32_t months = 0;    // bits 1–12
  std::vector<MinuteRange> between;
  std::vector<DateRange> dates;     // `date` and `dates`
  std::vector<Calendar> calendars;  // `calendar`, each with its dates

  bool operator==(const ConstraintSet&) const = default;
  [[nodiscard]] bool empty() const;
};

// Every kind, for those who look at one after the other.
inline constexpr std::tuple kConstraintMembers{
    &ConstraintSet::hours,   &ConstraintSet::weekdays, &ConstraintSet::days,     &ConstraintSet::months,
    &ConstraintSet::between, &ConstraintSet::dates,    &ConstraintSet::calendars};

// Each kind that the set gives, as a set of its own.
std::vector<ConstraintSet> kinds_of(const ConstraintSet& set);

struct Constraints {
  ConstraintSet only;
  ConstraintSet avoid;

  bool operator==(const Constraints&) const = default;
  [[nodiscard]] bool empty() const { return only.empty() && avoid.empty(); }
  [[nodiscard]] bool allow(const CivilTime& candidate) const;

  // Every kind of clause looks either at the date or at the minute of the day (0–1439), so a time is allowed when both
  // its halves are.
  [[nodiscard]] bool allow_date(const CivilDate& date) const;
  [[nodiscard]] bool allow_minute(int minute_of_day) const;
};

// A kind of clause as people name it, and what its value looks like: for hints and for the schema of job files.
struct ConstraintKind {
  std::string_view word;
  std::string_view about;
};
std::span<const ConstraintKind> constraint_kinds();

// One clause as people write it: kind "hours", value "9-17,20". Adds to `set`. `calendars` holds the lists the job
// defines. Errors: field = the kind, column in `value`.
Status add_clause(ConstraintSet& set, std::string_view kind, std::string_view value,
                  const std::map<std::string, std::vector<DateRange>>& calendars = {});
Result<DateRange> parse_date_range(std::string_view text);  // "2026-12-24" or "2026-12-24..2026-12-26"

// Kind → value, canonical, in a fixed order of kinds; add_clause reads each back.
std::vector<std::pair<std::string, std::string>> clauses_of(const ConstraintSet& set);
// "only hours=9-17; avoid dates=2026-12-24..2026-12-26", or "none": the summary a Decision carries.
std::string summary_of(const Constraints& constraints);

}  // namespace kron
