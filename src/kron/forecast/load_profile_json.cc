#include "kron/base/rfc3339.h"
#include "kron/forecast/load_profile.h"
#include "kron/json/writer.h"

namespace kron {
namespace {

std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

using Definitions = std::span<const jobs::JobDefinition>;

void write_hot_spot(JsonWriter& json, const LoadProfile& profile, const LoadProfile::HotSpot& spot,
                    Definitions definitions) {
  json.begin_map().member("time", rfc3339(profile.start_of(spot.step)));
  json.key("starts").integer(number(spot.starts)).key("jobs").integer(number(spot.jobs));
  json.key("causes").begin_list();
  for (const LoadProfile::Cause& cause : spot.causes) {
    json.begin_map().member("job", definitions[cause.job].job.identity);
    json.key("starts").integer(number(cause.starts)).end_map();
  }
  json.end_list().end_map();
}

void write_load(JsonWriter& json, const LoadProfile& profile, const LoadProfile::Side& load, Definitions definitions) {
  json.begin_map().key("total").integer(number(load.total)).key("peak").integer(number(load.peak));
  json.key("p50").integer(number(load.p50)).key("p95").integer(number(load.p95));
  json.key("p99").integer(number(load.p99));
  json.key("hotSpots").begin_list();
  for (const LoadProfile::HotSpot& spot : load.hot_spots) write_hot_spot(json, profile, spot, definitions);
  json.end_list().key("starts").begin_list();
  for (const std::uint64_t starts : load.starts) json.integer(number(starts));
  json.end_list().end_map();
}

void write_unschedulable(JsonWriter& json, const LoadProfile& profile, Definitions definitions) {
  json.begin_map().key("periods").integer(number(profile.unschedulable_periods()));
  json.key("jobs").begin_list();
  for (const LoadProfile::Unschedulable& lost : profile.unschedulable) {
    json.begin_map().member("job", definitions[lost.job].job.identity);
    json.key("periods").integer(number(lost.periods)).key("first").begin_list();
    for (const Instant nominal : lost.first) json.text(rfc3339(nominal));
    json.end_list().end_map();
  }
  json.end_list().end_map();
}

void write_excluded(JsonWriter& json, const LoadProfile& profile, Definitions definitions) {
  json.begin_map().key("periods").integer(number(profile.excluded_periods()));
  json.key("jobs").begin_list();
  for (const LoadProfile::Excluded& excluded : profile.excluded) {
    json.begin_map().member("job", definitions[excluded.job].job.identity);
    json.key("periods").integer(number(excluded.periods)).member("clause", excluded.clause).end_map();
  }
  json.end_list().end_map();
}

}  // namespace

std::string load_profile_json(const LoadProfile& profile, Definitions definitions) {
  JsonWriter json;
  json.begin_map().member("from", rfc3339(profile.from)).member("until", rfc3339(profile.until));
  json.key("stepSeconds").integer(profile.step.count());
  json.key("steps").integer(number(profile.before.starts.size()));
  json.key("jobs").integer(number(profile.jobs));
  json.key("suspendedJobs").integer(number(profile.suspended));
  json.key("rebootJobs").integer(number(profile.at_boot));
  json.key("before");
  write_load(json, profile, profile.before, definitions);
  json.key("after");
  write_load(json, profile, profile.after, definitions);
  json.key("unschedulable");
  write_unschedulable(json, profile, definitions);
  if (!profile.excluded.empty()) {
    json.key("excluded");
    write_excluded(json, profile, definitions);
  }
  return json.end_map().take();
}

std::string with_actual(std::string load_json, const std::vector<std::uint64_t>* actual) {
  JsonWriter json;
  if (actual == nullptr) {
    json.null();
  } else {
    json.begin_list();
    for (const std::uint64_t starts : *actual) json.integer(number(starts));
    json.end_list();
  }
  load_json.pop_back();  // the end of the document
  return load_json + ",\"actual\":" + json.take() + "}";
}

}  // namespace kron
