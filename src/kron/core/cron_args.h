#pragma once

#include <map>
#include <optional>
#include <string>

#include "kron/base/result.h"
#include "kron/core/schedule.h"
#include "kron/core/time_zone.h"

namespace kron {

// The cronken field form (contract/cluster.md): APScheduler's grammar, 0 is Monday, day and day_of_week AND-ed.
// Keys: year month day week day_of_week hour minute second start_date end_date timezone jitter; or cronstring, beside
// which all of them are ignored.
struct CronArgs {
  Schedule schedule;
  TimeZone zone;
  Seconds jitter{0};  // the length of an `after` window
};

// Values are the texts of the JSON values (numbers included). `fallback` is the zone when `timezone` is absent.
Result<CronArgs> parse_cron_args(const std::map<std::string, std::string>& args, const TimeZone& fallback,
                                 ZoneDatabase& zones);

}  // namespace kron
