#pragma once

#include <cstdint>

#include "kron/core/civil.h"
#include "kron/core/schedule.h"

namespace kron {

// The calendar side of a schedule, without clock or zone. The fields `months` and `years` are the caller's to apply.

// The days of the month that match, bits 1–31; a few bit operations for the usual fields.
std::uint32_t matching_days(const Schedule& schedule, int year, int month);

// The months (bits 1–12) of `schedule.months` that have a matching day in at least one of its years.
std::uint16_t possible_months(const Schedule& schedule);

// Whether any date matches at all; 31 February does not.
bool has_any_date(const Schedule& schedule);

// The first year ≥ `year`, or the last ≤ it, that the schedule allows; 0 when there is none.
int next_year(const Schedule& schedule, int year);
int previous_year(const Schedule& schedule, int year);

}  // namespace kron
