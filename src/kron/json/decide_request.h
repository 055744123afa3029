#pragma once

#include <string>
#include <string_view>

#include "kron/core/decision.h"
#include "kron/json/fields.h"
#include "kron/json/writer.h"

namespace kron {

// What `kron decide` reads and writes (docs/formats.md).
struct DecideRequest {
  Job job;
  Instant nominal;
};

// One JSON object: `identity`, `periodStart` (the nominal time, whole seconds), the keys of job_fields.h, and the flat
// names of the reference vectors (mode, skewShape, seedStrategy, salt, onlyHours …, avoidDates). The error is the first
// of those found.
Result<DecideRequest> parse_decide_request(std::string_view json, ZoneDatabase& zones);

// A request that makes the same decision, to be fed to `kron decide`: what a log line carries.
// Of calendars it has the dates that can touch the period's window: it decides the same without the rest.
std::string decide_request_json(const Job& job, Instant nominal);

// The dates that a window can touch in whatever zone.
DateRange dates_near(const Window& window);

std::string decision_json(const Job& job, const Decision& decision);
// The members of decision_json, in a map that the caller has begun.
void write_decision(JsonWriter& json, const Job& job, const Decision& decision);

// {"error":{"field":…,"column":…,"message":…}}
std::string error_json(const Error& error);

}  // namespace kron
