#pragma once

#include <optional>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/forecast/next_start.h"
#include "kron/json/writer.h"
#include "kron/scheduler/scheduler.h"

// What several paths tell of a job.
namespace kron::api {

// In a cluster the definition itself says that somebody has paused the job; null: it does not.
const jobs::ClusterPause* pause_in_definition(const Scheduler::View& view);
bool is_paused(const Scheduler::View& view, Instant now);
// By an operator, over or not, wherever it is written. None, too, of a cluster's when nobody knows since when it lasts.
std::optional<Suspension> suspension_of(const Scheduler::View& view);

// Members of a map that the caller has begun.
void write_time(JsonWriter& json, std::string_view name, const std::optional<Instant>& time);  // left out without one
void write_paused(JsonWriter& json, const Scheduler::View& view, Instant now);
// `waiting`, when something of the job is due, or was asked for, and waits for a run to end or for a slot.
void write_waiting(JsonWriter& json, const Scheduler::View& view);

void write_start(JsonWriter& json, std::string_view name, const std::optional<NextStart>& start);

std::optional<NextStart> next_of(const Scheduler::View& view, Instant now);

}  // namespace kron::api
