#include <cstdio>

#include "flag_values.h"
#include "kron/base/rfc3339.h"
#include "kron/jobs/zone_files.h"
#include "lines.h"
#include "next_times.h"
#include "verbs.h"

namespace kron::cli {
namespace {

struct Question {
  Schedule schedule;
  TimeZone zone;
  Instant from;
};

Result<Question> question_of(const NextOptions& options) {
  Question question;
  Result<Schedule> schedule = parse_schedule(options.cron, options.identity);
  if (!schedule) return fail(schedule.error());
  question.schedule = *schedule;
  if (!options.dst.empty()) {
    const Result<DstRule> rule = parse_dst_rule(options.dst, question.schedule.dst);
    if (!rule) return about_flag(rule.error(), "--dst");
    question.schedule.dst = *rule;
  }
  ZoneDatabase zones;
  const Result<TimeZone> zone = zones.find(options.zone);
  if (!zone) {
    Error error = zone.error();
    error.message = jobs::with_nearest_zone(error.message, options.zone);
    return about_flag(std::move(error), "--tz");
  }
  question.zone = *zone;
  const Result<Instant> from = time_flag(options.from, "--from");
  if (!from) return fail(from.error());
  question.from = *from;
  return question;
}

}  // namespace

void write_next(JsonWriter& json, const Schedule& schedule, const TimeZone& zone, Instant from, std::int64_t count) {
  json.key("next").begin_list();
  for_each_next(schedule, zone, from, count, [&](Instant t) { json.text(rfc3339(t)); });
  json.end_list();
}

int next(const NextOptions& options) {
  const Result<Question> question = question_of(options);
  if (!question) return refuse("next", question.error(), options.json);
  const auto& [schedule, zone, from] = *question;
  if (options.json) {
    JsonWriter json;
    json.begin_map().member("expr", options.cron).member("tz", zone.name());
    write_next(json, schedule, zone, from, options.count);
    std::printf("%s\n", json.end_map().take().c_str());
  } else {
    const ScreenTimes times = screen_times(options.times);
    for_each_next(schedule, zone, from, options.count, [&](Instant t) { std::printf("%s\n", times.near(t).c_str()); });
  }
  return 0;
}

}  // namespace kron::cli
