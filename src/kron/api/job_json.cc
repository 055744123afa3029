#include "kron/api/job_json.h"

#include "kron/api/json_values.h"
#include "kron/base/rfc3339.h"

namespace kron::api {

bool is_paused_by_definition(const Scheduler::View& view) {
  return view.definition.options->terms && view.definition.job.policy.suspend;
}

bool is_paused(const Scheduler::View& view, Instant now) {
  if (is_paused_by_definition(view)) return true;
  const auto& suspended = view.known.periods.suspended;
  return suspended && (!suspended->until || *suspended->until > now);
}

void write_time(JsonWriter& json, std::string_view name, const std::optional<Instant>& time) {
  if (time) json.member(name, rfc3339(*time));
}

void write_paused(JsonWriter& json, const Scheduler::View& view, Instant now) {
  json.key("paused");
  if (!is_paused(view, now)) {
    json.null();
    return;
  }
  if (is_paused_by_definition(view)) {
    json.begin_map().end_map();
    return;
  }
  const Suspension& suspended = *view.known.periods.suspended;
  json.begin_map().member("since", rfc3339(suspended.since));
  write_time(json, "until", suspended.until);
  if (suspended.skip_missed) json.key("skipMissed").boolean(true);
  if (!suspended.by.empty()) json.member("by", suspended.by);
  if (!suspended.note.empty()) json.member("note", suspended.note);
  json.end_map();
}

std::optional<NextStart> next_of(const Scheduler::View& view, Instant now) {
  return next_start(view.definition.job, view.known.periods, !view.known.active.empty(), now);
}

void write_start(JsonWriter& json, std::string_view name, const std::optional<NextStart>& start) {
  json.key(name);
  if (!start) {
    json.null();
    return;
  }
  json.begin_map().member("periodId", period_id(start->period.nominal));
  write_time_or_null(json, "chosenTime", start->period.chosen);
  json.member("startsAt", rfc3339(start->at)).end_map();
}

}  // namespace kron::api
