#include <charconv>
#include <optional>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/core/evaluate.h"
#include "kron/json/decide_request.h"
#include "kron/json/writer.h"

namespace kron {
namespace {

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void write_distribution(JsonWriter& json, const Job& job) {
  json.key("distribution").begin_map().member("name", name_of(job.distribution.kind));
  json.key("params").begin_map();
  for (const auto& [name, text] : parameters_of(job.distribution, job.window)) {
    json.key(name);
    if (const auto number = number_in(text)) {
      json.real(*number);
    } else {
      json.text(text);
    }
  }
  json.end_map().end_map();
}

void write_clauses(JsonWriter& json, std::string_view side, const ConstraintSet& set) {
  if (set.empty()) return;
  json.key(side).begin_map();
  for (const auto& [kind, value] : clauses_of(set)) json.member(kind, value);
  json.end_map();
}

std::int32_t utc_date_of(Instant t) {
  const CivilTime civil = civil_of(epoch_seconds(t));
  return civil.year * 10000 + civil.month * 100 + civil.day;
}

void write_calendars(JsonWriter& json, const Constraints& constraints, const Window& window) {
  std::map<std::string_view, const Calendar*> calendars;
  for (const ConstraintSet* set : {&constraints.only, &constraints.avoid}) {
    for (const Calendar& calendar : set->calendars) calendars.emplace(calendar.name, &calendar);
  }
  if (calendars.empty()) return;
  const DateRange near = dates_near(window);
  json.key("calendars").begin_map();
  for (const auto& [name, calendar] : calendars) {
    json.key(name).begin_list();
    for (const DateRange& range : calendar->dates) {
      if (range.first <= near.last && range.last >= near.first) json.text(to_string(range));
    }
    json.end_list();
  }
  json.end_map();
}

}  // namespace

DateRange dates_near(const Window& window) {
  // Zones differ from UTC by less than a day.
  constexpr Seconds kTwoDays{2 * 24 * 3600};
  return {utc_date_of(window.start - kTwoDays), utc_date_of(window.end + kTwoDays)};
}

std::string decide_request_json(const Job& job, Instant nominal) {
  JsonWriter json;
  json.begin_map()
      .member("identity", job.identity)
      .member("periodStart", period_id(nominal))
      .member("timezone", job.zone.name());
  json.key("window").begin_map();
  json.member("mode", name_of(job.window.mode)).member("duration", duration_text(job.window.duration)).end_map();
  write_distribution(json, job);
  json.key("seed").begin_map();
  json.member("strategy", name_of(job.seed_strategy)).member("salt", job.salt).end_map();
  write_clauses(json, "only", job.constraints.only);
  write_clauses(json, "avoid", job.constraints.avoid);
  write_calendars(json, job.constraints, window_of(job.window, nominal));
  return json.end_map().take();
}

void write_decision(JsonWriter& json, const Job& job, const Decision& decision) {
  json.member("identity", job.identity)
      .member("periodId", period_id(decision.nominal))
      .member("periodKey", decision.period_key.view())
      .member("nominalTime", rfc3339(decision.nominal))
      .member("timezone", job.zone.name())
      .member("windowMode", name_of(job.window.mode))
      .member("windowStart", rfc3339(decision.window.start))
      .member("windowEnd", rfc3339(decision.window.end));
  write_distribution(json, job);
  json.member("seedStrategy", name_of(job.seed_strategy))
      .member("salt", job.salt)
      .member("seedHash", hex(decision.seed_hash))
      .member("constraintsApplied", summary_of(job.constraints))
      .member("chosenTime", decision.chosen ? rfc3339(*decision.chosen) : std::string());
  json.key("attempts").integer(decision.attempts);
  json.key("unschedulable").boolean(!decision.chosen);
  const NoTime why = decision.chosen ? NoTime{Reason::none, {}} : why_no_time(job, decision.nominal);
  json.member("reason", name_of(why.reason));
  if (!why.clause.empty()) json.member("clause", why.clause);
}

std::string decision_json(const Job& job, const Decision& decision) {
  JsonWriter json;
  json.begin_map();
  write_decision(json, job, decision);
  return json.end_map().take();
}

std::string error_json(const Error& error) {
  JsonWriter json;
  json.begin_map().key("error").begin_map().member("field", error.field);
  json.key("column").integer(static_cast<std::int64_t>(error.column));
  return json.member("message", error.message).end_map().end_map().take();
}

}  // namespace kron
