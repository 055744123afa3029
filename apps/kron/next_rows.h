#pragma once

#include <cstdint>
#include <string>

#include "kron/core/decision.h"
#include "kron/json/writer.h"
#include "screen_times.h"

// Periods that are ahead, as `kron next` shows them, wherever the jobs come from.
namespace kron::cli {

// How far to look: a number of periods, a stretch of time, or both.
struct Reach {
  Instant from;
  std::int64_t count = 0;
  Instant end;  // due before it
};
// As the flags --from, --count and --for say; an empty `duration` leaves it to the count.
Result<Reach> reach_of(const std::string& from, std::int64_t count, const std::string& duration);

void print_period_title(int name_width, const ScreenTimes& times);
void print_period(const Job& job, const Decision& period, int name_width, const ScreenTimes& times);

// The members of one period, in a map that the caller has begun.
void write_period(JsonWriter& json, const Job& job, const Decision& period);

}  // namespace kron::cli
