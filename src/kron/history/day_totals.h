#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "kron/history/recent.h"

namespace kron::history {

// What became of one job on one day (UTC), in numbers. An entry belongs to the day of its time_of().
struct DayTotals {
  std::string job;
  std::chrono::sys_days day;
  std::array<std::int64_t, kLetters.size()> counts{};  // of entries, by the place of their letter in kLetters
  Length sum{0};                                       // of the runs that have ended, as far as their lengths are known
  Length longest{0};                                   // of these

  bool operator==(const DayTotals&) const = default;

  void add(const Entry& entry);
  // What was added of an entry that is now known better. The longest stays.
  void take_back(const Entry& entry);

  [[nodiscard]] std::int64_t runs() const;  // that have ended
};

std::chrono::sys_days day_of(const Entry& entry);
std::string day_text(std::chrono::sys_days day);  // 2026-03-01
Result<std::chrono::sys_days> parse_day(std::string_view text);

// {"day":"2026-03-01","counts":{"+":3,"x":1},"runs":4,"sumSeconds":12.5,"maxSeconds":4}, and in a line of the file with
// "job" before it.
void write(JsonWriter& out, const DayTotals& totals);
std::string day_line(const DayTotals& totals);  // with its newline
Result<DayTotals> parse_day_line(std::string_view line);

}  // namespace kron::history
