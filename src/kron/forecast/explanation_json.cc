#include <algorithm>

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

constexpr int kBuckets = 60;
constexpr std::size_t kMostAllowedSpans = 1000;

// How many seconds of [first, end) the spans hold, of which `at` is the first that may.
std::int64_t seconds_in(const std::vector<Window>& spans, std::size_t& at, std::int64_t first, std::int64_t end) {
  std::int64_t seconds = 0;
  while (at < spans.size() && epoch_seconds(spans[at].end) < first) ++at;
  for (std::size_t i = at; i < spans.size() && epoch_seconds(spans[i].start) < end; ++i) {
    seconds += std::min(end, epoch_seconds(spans[i].end) + 1) - std::max(first, epoch_seconds(spans[i].start));
  }
  return seconds;
}

void write_shape(JsonWriter& json, const Explanation& explanation) {
  const Job& job = explanation.job;
  const Window& window = explanation.decision.window;
  const std::vector<Window> spans = allowed_spans(job, explanation.decision.nominal, kMostAllowedSpans);
  const std::int64_t start = epoch_seconds(window.start);
  const std::int64_t length = epoch_seconds(window.end) + 1 - start;
  std::size_t at = 0;
  json.key("buckets").begin_list();
  for (std::int64_t i = 0; i < kBuckets; ++i) {
    // A window of fewer seconds than there are parts has parts without a second.
    const std::int64_t first = start + length * i / kBuckets;
    const std::int64_t end = start + length * (i + 1) / kBuckets;
    const double share = length == 1
                             ? (i + 1 == kBuckets ? 1.0 : 0.0)
                             : job.distribution.chance_below(static_cast<double>(i + 1) / kBuckets, job.window) -
                                   job.distribution.chance_below(static_cast<double>(i) / kBuckets, job.window);
    const double allowed =
        first == end ? 0.0 : static_cast<double>(seconds_in(spans, at, first, end)) / static_cast<double>(end - first);
    json.begin_map().key("share").real(share).key("allowed").real(allowed).end_map();
  }
  json.end_list().key("allowedSpans").begin_list();
  for (const Window& span : spans) {
    json.begin_map().member("from", rfc3339(span.start)).member("to", rfc3339(span.end)).end_map();
  }
  json.end_list();
}

void write_aside(JsonWriter& json, const Explanation& explanation) {
  if (explanation.krond && explanation.krond->max_running != 0) {
    json.key("maxRunning").integer(static_cast<std::int64_t>(explanation.krond->max_running));
  }
  if (const Seconds spread = spread_in_force(explanation); spread > Seconds(0)) {
    json.key("catchUpSpreadSeconds").integer(spread.count());
  }
  const Explanation::Aside& aside = explanation.aside;
  if (aside.retries != 0) {
    json.key("retry").begin_map().key("most").integer(aside.retries);
    json.key("backoffSeconds").integer(aside.backoff).end_map();
  }
  if (aside.notify) {
    json.key("notify").begin_map().key("on").begin_list();
    for (const AlarmKind kind : aside.notify->on) json.text(name_of(kind));
    json.end_list().key("after").integer(aside.notify->after).key("to").begin_list();
    for (const std::string& name : aside.notify->to) json.text(name);
    json.end_list().end_map();
  }
  if (aside.pings) json.key("pings").boolean(true);
}

void write_story(JsonWriter& json, const Explanation& explanation) {
  const Job& job = explanation.job;
  const Decision& decision = explanation.decision;
  write_decision(json, job, decision);
  json.member("chosenLocal", decision.chosen ? local_text(job.zone, *decision.chosen) : "");
  write_nominal(json, explanation);
  write_attempts(json, explanation);
  write_prospect(json, explanation.prospect);
  if (explanation.pool) {
    json.key("pool").begin_map().member("name", explanation.pool->name);
    json.key("slots").integer(explanation.pool->slots).end_map();
  }
  write_aside(json, explanation);
  json.member("request", decide_request_json(job, decision.nominal));
}

}  // namespace

std::string json_of(const Explanation& explanation) {
  JsonWriter json;
  json.begin_map();
  write_story(json, explanation);
  return json.end_map().take();
}

std::string json_with_shape(const Explanation& explanation) {
  JsonWriter json;
  json.begin_map();
  write_story(json, explanation);
  write_shape(json, explanation);
  return json.member("text", text_of(explanation)).end_map().take();
}

}  // namespace kron
