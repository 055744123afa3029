#include "kron/api/job_json.h"

#include <algorithm>

#include "kron/api/json_values.h"
#include "kron/base/rfc3339.h"

namespace kron::api {
namespace {

void write_asker(JsonWriter& json, const std::string& by, const std::string& note) {
  if (!by.empty()) json.member("by", by);
  if (!note.empty()) json.member("note", note);
}

}  // namespace

const jobs::ClusterPause* pause_in_definition(const Scheduler::View& view) { return view.definition.pause.get(); }

std::optional<Suspension> suspension_of(const Scheduler::View& view) {
  const jobs::ClusterPause* pause = pause_in_definition(view);
  if (pause == nullptr) return view.known.periods.suspended;
  if (!pause->since) return std::nullopt;
  return Suspension{.since = *pause->since, .until = {}, .by = pause->by, .note = pause->note};
}

bool is_paused(const Scheduler::View& view, Instant now) {
  if (pause_in_definition(view) != nullptr) return true;
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
  json.begin_map();
  if (const jobs::ClusterPause* pause = pause_in_definition(view)) {
    write_time(json, "since", pause->since);
    write_asker(json, pause->by, pause->note);
  } else {
    const Suspension& suspended = *view.known.periods.suspended;
    json.member("since", rfc3339(suspended.since));
    write_time(json, "until", suspended.until);
    if (suspended.skip_missed) json.key("skipMissed").boolean(true);
    write_asker(json, suspended.by, suspended.note);
  }
  json.end_map();
}

void write_waiting(JsonWriter& json, const Scheduler::View& view) {
  if (!view.queued && !view.slot_wait) return;
  json.key("waiting").begin_map().member("for", view.slot_wait ? "slot" : "run");
  if (view.slot_wait) {
    if (!view.slot_wait->pool.empty()) json.member("pool", view.slot_wait->pool);
    json.member("since", rfc3339(view.slot_wait->since));
  }
  if (view.queued) json.member("periodId", period_id(view.queued->nominal));
  json.end_map();
}

std::optional<NextStart> next_of(const Scheduler::View& view, Instant now) {
  auto next = next_start(view.definition.job, view.known.periods, !view.known.active.empty(), now);
  const auto& drawn = view.spread_start;
  if (next && drawn && drawn->period == next->period.nominal) next->at = std::max(next->at, drawn->at);
  return next;
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
