#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/core/dst_rule.h"
#include "kron/core/time_zone.h"

namespace kron {

// The years a schedule can name; a local date outside them never matches.
inline constexpr int kFirstYear = 1970;
inline constexpr int kLastYear = 2199;
using YearSet = std::array<std::uint64_t, 4>;  // bit (year - kFirstYear)
inline constexpr YearSet kAllYears{~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0},
                                   (std::uint64_t{1} << (kLastYear - kFirstYear + 1 - 192)) - 1};

inline constexpr std::uint8_t kEveryWeekday = 0x7F;             // bits 0 (Sunday) – 6
inline constexpr std::uint64_t kEveryWeek = ~std::uint64_t{0};  // ISO weeks

// When a job is due, on a wall clock: parsed text turned into bit sets. A value: compares, copies, prints.
struct Schedule {
  enum class Kind : std::uint8_t {
    fields,  // a cron expression or cron_args
    every,   // @every d: multiples of `every` since the epoch
    reboot,  // @reboot: once per boot, known to the daemon alone; no nominal times here
  };

  // The day rule. A day matches when
  //   (combine == any ? by_date || by_weekday : by_date && by_weekday) && weekday_filter has it && week_filter has it.
  enum class Combine : std::uint8_t { all, any };

  std::uint64_t seconds = 1;  // bit n = second n
  std::uint64_t minutes = 0;
  std::uint32_t hours = 0;
  std::uint32_t days = 0;                       // by date: bits 1–31
  std::uint32_t days_from_end = 0;              // by date: L and L-n, bit n = n days before the last, 0–30
  std::uint32_t near_weekday = 0;               // by date: nW, bits 1–31
  std::uint16_t months = 0;                     // bits 1–12
  bool last_weekday = false;                    // by date: LW (the last Monday-to-Friday day of the month)
  std::uint8_t weekdays = 0;                    // by weekday: bits 0 (Sunday) – 6
  std::uint8_t last_weekdays = 0;               // by weekday: nL, bits 0–6
  std::uint8_t weekday_filter = kEveryWeekday;  // cron_args: day_of_week beside day
  Combine combine = Combine::all;
  Kind kind = Kind::fields;
  DstRule dst;  // resolved: Vixie's rule for this expression, or the override
  // Which fields began with `*` (or were `?`): it decides Combine and the DST rule, and printing must keep it.
  bool star_minute = false, star_hour = false, star_day = false, star_weekday = false;
  std::uint64_t nth_weekdays = 0;          // by weekday: n#k, bit 7*(k-1)+n, k 1–5
  std::uint64_t week_filter = kEveryWeek;  // cron_args: ISO weeks, bits 1–53
  YearSet years{};
  Seconds every{0};
  std::optional<Instant> not_before;  // cron_args start_date
  std::optional<Instant> not_after;   // cron_args end_date

  bool operator==(const Schedule&) const = default;

  // Smallest nominal time > t; greatest nominal time ≤ t. Exact over 1970–2199; nothing outside. A few hundred
  // nanoseconds whatever the expression; no allocation.
  [[nodiscard]] std::optional<Instant> next_after(Instant t, const TimeZone& zone) const;
  [[nodiscard]] std::optional<Instant> at_or_before(Instant t, const TimeZone& zone) const;

  // How many nominal times lie in [first, last]; by days, not by periods, so ten years of seconds cost microseconds.
  [[nodiscard]] std::uint64_t count_between(Instant first, Instant last, const TimeZone& zone) const;

  [[nodiscard]] bool is_nominal(Instant t, const TimeZone& zone) const { return at_or_before(t, zone) == t; }
};

// The cron dialect of docs/formats.md. `identity` feeds `H`; an expression with H and no identity is refused.
// Errors carry the field's name ("minute", "day-of-month" …; empty for the whole) and the column in `text`.
Result<Schedule> parse_schedule(std::string_view text, std::string_view identity = {});

// A canonical expression; parse_schedule(to_string(s)) == s for every s that parse_schedule can make
// (the dst override is printed apart, by to_string(DstRule)). What only cron_args can say follows in words.
std::string to_string(const Schedule& schedule);

// The rule that applies when nobody overrides: wall-clock or interval, by how minute and hour begin.
DstRule default_dst_rule(const Schedule& schedule);

}  // namespace kron
