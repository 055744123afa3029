#include "kron/base/rfc3339.h"
#include "kron/json/writer.h"
#include "kron/report/why.h"

namespace kron::report {
namespace {

void write_time(JsonWriter& json, std::string_view name, const std::optional<Instant>& time) {
  json.key(name);
  if (time) {
    json.text(rfc3339(*time));
  } else {
    json.null();
  }
}

void write_period(JsonWriter& json, std::string_view name, const std::optional<Decision>& period) {
  json.key(name);
  if (!period) {
    json.null();
    return;
  }
  json.begin_map().member("periodId", period_id(period->nominal));
  write_time(json, "chosenTime", period->chosen);
  json.member("windowStart", rfc3339(period->window.start)).member("windowEnd", rfc3339(period->window.end));
  json.end_map();
}

void write_down(JsonWriter& json, const WhyAnswer& answer) {
  json.key("down");
  if (!answer.down) {
    json.null();
    return;
  }
  json.begin_map().member("from", rfc3339(answer.down->from)).member("to", rfc3339(answer.down->to));
  json.member("why", history::name_of(answer.down->why));
  if (!answer.down_host.empty()) json.member("host", answer.down_host);
  json.end_map();
}

void write_pause(JsonWriter& json, const std::optional<Pause>& pause) {
  json.key("paused");
  if (!pause) {
    json.null();
    return;
  }
  json.begin_map().member("since", rfc3339(pause->since));
  if (pause->until) json.member("until", rfc3339(*pause->until));
  if (!pause->by.empty()) json.member("by", pause->by);
  if (!pause->note.empty()) json.member("note", pause->note);
  json.end_map();
}

}  // namespace

std::string json_of(const WhyAnswer& answer, const Job& job, Instant asked, Instant now) {
  JsonWriter json;
  json.begin_map().member("job", job.identity).member("asked", rfc3339(asked)).member("now", rfc3339(now));
  json.member("verdict", name_of(answer.verdict)).member("sentence", answer.sentence);
  json.member("reason", answer.reason).member("instead", answer.instead);
  write_period(json, "period", answer.period);
  json.key("entry");
  if (answer.entry) {
    history::write(json, *answer.entry);
  } else {
    json.null();
  }
  write_down(json, answer);
  write_pause(json, answer.pause);
  write_period(json, "before", answer.before);
  write_period(json, "after", answer.after);
  json.key("mismatches").begin_list();
  for (const Explanation::Field& field : answer.mismatches) {
    json.begin_map().member("field", field.name).key("value").integer(field.value);
    json.member("accepts", field.accepts).end_map();
  }
  json.end_list().key("next");
  if (answer.next) {
    json.begin_map().member("periodId", period_id(answer.next->period.nominal));
    json.member("startsAt", rfc3339(answer.next->at)).end_map();
  } else {
    json.null();
  }
  return json.end_map().take();
}

}  // namespace kron::report
