#include "kron/base/rfc3339.h"
#include "kron/forecast/evaluation_json.h"
#include "kron/forecast/explanation.h"
#include "kron/forecast/local_time.h"
#include "kron/json/decide_request.h"

namespace kron {
namespace {

void write_nominal(JsonWriter& json, const Explanation& explanation) {
  const Job& job = explanation.job;
  json.member("nominalLocal", local_text(job.zone, explanation.decision.nominal));
  json.member("schedule", explanation.has_schedule ? to_string(job.schedule) : "");
  json.key("fields").begin_list();
  for (const Explanation::Field& field : explanation.fields) {
    json.begin_map().member("field", field.name).key("value").integer(field.value);
    json.member("accepts", field.accepts).end_map();
  }
  json.end_list();
  json.member("dstRule", explanation.has_schedule ? to_string(job.schedule.dst) : "");
  json.key("dstEffect");
  if (explanation.gap) {
    json.begin_map()
        .member("kind", "moved")
        .member("wallClock", wall_clock_text(explanation.gap->local))
        .member("first", rfc3339(explanation.gap->change))
        .member("second", "")
        .end_map();
  } else if (explanation.repeated) {
    json.begin_map()
        .member("kind", "repeated")
        .member("wallClock", wall_clock_text(job.zone.to_civil(explanation.decision.nominal)))
        .member("first", rfc3339(explanation.repeated->first))
        .member("second", rfc3339(explanation.repeated->second))
        .end_map();
  } else {
    json.null();
  }
}

void write_attempts(JsonWriter& json, const Explanation& explanation) {
  json.key("draws").begin_list();
  for (const Explanation::Attempt& attempt : explanation.attempts) {
    json.begin_map().key("u").real(attempt.draw.u);
    json.member("candidate", rfc3339(attempt.draw.candidate))
        .member("candidateLocal", local_text(explanation.job.zone, attempt.draw.candidate));
    json.key("allowed").boolean(attempt.draw.allowed).member("refusedBy", attempt.refused_by).end_map();
  }
  json.end_list();
  json.key("allowedShare").real(explanation.allowed.share);
  json.key("chanceUnschedulable").real(explanation.allowed.chance_unschedulable);
}

void write_prospect(JsonWriter& json, const std::optional<Prospect>& prospect) {
  json.key("atNow");
  if (!prospect) {
    json.null();
    return;
  }
  json.begin_map().member("now", rfc3339(prospect->now));
  write_evaluation(json.key("idle"), prospect->idle);
  write_evaluation(json.key("busy"), prospect->busy);
  json.member("supersededBy", prospect->superseded_by ? period_id(*prospect->superseded_by) : "").end_map();
}

}  // namespace

std::string json_of(const Explanation& explanation) {
  const Job& job = explanation.job;
  const Decision& decision = explanation.decision;
  JsonWriter json;
  json.begin_map();
  write_decision(json, job, decision);
  json.member("chosenLocal", decision.chosen ? local_text(job.zone, *decision.chosen) : "");
  write_nominal(json, explanation);
  write_attempts(json, explanation);
  write_prospect(json, explanation.prospect);
  json.member("request", decide_request_json(job, decision.nominal));
  return json.end_map().take();
}

}  // namespace kron
