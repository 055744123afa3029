#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/core/schedule.h"

namespace kron {

// The fields of cron_args, from the coarsest to the finest, and their grammar: stricter than a cron expression's (no
// wrap-around, no step longer than its range) and with weekdays counted from Monday.
enum class ArgsField : std::uint8_t { year, month, day, week, day_of_week, hour, minute, second };

std::string name_of(ArgsField field);

// The bits of all fields while they are read, weekdays still counted from Monday.
struct ArgsValues {
  YearSet years{};
  std::uint64_t months = 0;
  std::uint64_t days = 0;
  std::uint64_t weeks = 0;
  std::uint64_t weekdays = 0;  // bit 0 = Monday
  std::uint64_t hours = 0;
  std::uint64_t minutes = 0;
  std::uint64_t seconds = 0;
  std::uint64_t nth_weekdays = 0;  // day: `2nd tue`, as Schedule::nth_weekdays
  std::uint8_t last_weekdays = 0;  // day: `last fri`, as Schedule::last_weekdays
  bool last_day = false;           // day: `last`
  bool star_minute = false;
  bool star_hour = false;
};

// Adds what `text` says to `values`. Errors: field = the key, column in `text`.
Status read_args_field(ArgsField field, std::string_view text, ArgsValues& values);

// All fields are AND-ed. A combination that never matches gives a schedule without nominal times.
Schedule schedule_of(const ArgsValues& values);

// `2026-12-01`, `2026-12-01 00:00:00`, with `T`, a fraction, and `Z` or an offset; without one the zone decides (the
// first instant after a gap; the first of two).
Result<Instant> parse_args_date(std::string_view text, const std::string& key, const TimeZone& zone, bool round_up);

}  // namespace kron
