#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/core/job.h"
#include "kron/json/fields.h"

namespace kron {

// The keys by which a document says when a job runs (job files and requests alike):
//   schedule   cron expression                  dst      "gap=run,overlap=first"
//   timezone   IANA name                        window   "3h" or {mode, duration}
//   distribution  name or {name, params{…}}     seed     {strategy, salt}
//   only, avoid   kind of clause → text or list calendars  name → list of dates and ranges, or {file}
//   policy     {concurrency, deadline, suspend, pauseAfter, catchUpSpread}
inline constexpr std::array<std::string_view, 10> kJobKeys{"schedule", "dst",  "timezone", "window",    "distribution",
                                                           "seed",     "only", "avoid",    "calendars", "policy"};

// Reads the dates of a calendar of which only its file is given: its path, and where that stands.
using CalendarReader = std::function<Result<std::vector<DateRange>>(const std::string& path, const Node& place)>;

// Sets in the draft what these keys say and leaves the rest alone; other keys are not looked at. `draft.identity` must
// be set before: it feeds the H of a schedule. Whoever has read all of a draft makes the Job of it (core/make_job.h).
// Without a reader of calendars, one that is in a file is refused.
void read_job(Job& draft, Fields fields, ZoneDatabase& zones, const CalendarReader& calendar_file = {});

}  // namespace kron
