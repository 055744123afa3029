#pragma once

#include <string>
#include <string_view>

#include "kron/base/result.h"

namespace kron::jobs {

// A calendar event of systemd.time(7) as a schedule of docs/cron-dialect.md.
struct CalendarSchedule {
  std::string cron;
  std::string zone;  // as written; empty: that of the host

  bool operator==(const CalendarSchedule&) const = default;
};

// `Mon..Fri *-*-* 09:00:00 Europe/Paris`, `*-*~01 12:00`, `weekly`: as a unit or `systemctl show` has it. invalid: it
// is not understood, or no cron expression says the same, and the message says what; nothing is guessed.
Result<CalendarSchedule> schedule_of_calendar(std::string_view text);

}  // namespace kron::jobs
