#pragma once

#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/core/time_zone.h"
#include "screen_times.h"

namespace kron::cli {

// The present second: the only place where a verb reads the clock.
Instant present();

// The zone of the reader's wall clock: TZ, else /etc/localtime. An error with the cure when it has no name.
Result<TimeZone> local_zone();

// The time a flag gives, as parse_time_argument reads it; the present when it is empty. What it says relative to now,
// or as a time of today, counts from `now`.
Result<Instant> time_flag(std::string_view text, std::string_view flag, Instant now = present());

// On a terminal for people, in local time unless --utc was given; elsewhere for programs, unless --local was given. A
// local zone that has no name leaves UTC.
ScreenTimes screen_times(const TimeFlags& flags, Instant now = present());

// The errors of the parsers speak of their own field; here the flag is what the reader typed.
tl::unexpected<Error> about_flag(Error error, std::string_view flag);

}  // namespace kron::cli
