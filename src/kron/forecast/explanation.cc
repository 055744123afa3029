#include "kron/forecast/explanation.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/forecast/refusal.h"
#include "kron/forecast/upcoming.h"

namespace kron {
namespace {

void explain_nominal(Explanation& explanation) {
  const Job& job = explanation.job;
  const Instant nominal = explanation.decision.nominal;
  for (const jobs::DstEffect& effect : jobs::dst_effects(job, nominal - Seconds(1), nominal)) {
    if (effect.kind == jobs::DstEffect::Kind::moved) explanation.gap = effect;
  }
  const TimeZone::Resolution local = job.zone.resolve(job.zone.to_local(nominal));
  if (job.schedule.kind == Schedule::Kind::fields && local.kind == TimeZone::Resolution::Kind::repeated) {
    explanation.repeated = local;
  }
  explanation.fields =
      schedule_fields(job.schedule, explanation.gap ? explanation.gap->local : job.zone.to_civil(nominal));
}

Prospect prospect_of(const Job& job, Instant nominal, Instant now) {
  JobState state;
  state.last_handled = job.schedule.at_or_before(nominal - Seconds(1), job.zone);
  // Only this period: what policy says of it must not be drowned by later ones.
  Job alone = job;
  alone.schedule.not_before = nominal;
  alone.schedule.not_after = nominal;
  const Turn turn = Turn::at(now);
  Prospect prospect{now, evaluate(alone, state, false, turn), evaluate(alone, state, true, turn), std::nullopt};
  const Evaluation all = evaluate(job, state, false, turn);
  const auto supersedes = [&](const Decision& period) {
    if (all.passed_over && period.nominal != nominal) prospect.superseded_by = period.nominal;
  };
  if (const auto* record = std::get_if<Record>(&all.action)) supersedes(record->period);
  if (const auto* start = std::get_if<Start>(&all.action)) supersedes(start->period);
  return prospect;
}

}  // namespace

Seconds spread_in_force(const Explanation& explanation) {
  const Seconds of_krond = explanation.krond ? explanation.krond->catch_up_spread : Seconds(0);
  return explanation.job.policy.catch_up_spread.value_or(of_krond);
}

// The words of the canonical expression with the names of their fields. What only cron_args can say follows as a
// sentence, which begins with one of these words.
std::vector<Explanation::Field> schedule_fields(const Schedule& schedule, const CivilTime& time) {
  constexpr auto kSentence = std::to_array<std::string_view>({"only", "in", "from", "until"});
  if (schedule.kind != Schedule::Kind::fields) return {};
  const int weekday = weekday_of(days_from_civil(time.year, time.month, time.day));
  const std::array<Explanation::Field, 7> all{{{"second", time.second, ""},
                                               {"minute", time.minute, ""},
                                               {"hour", time.hour, ""},
                                               {"day-of-month", time.day, ""},
                                               {"month", time.month, ""},
                                               {"day-of-week", weekday, ""},
                                               {"year", time.year, ""}}};
  std::vector<std::string> words;
  std::istringstream text(to_string(schedule));
  for (std::string word; text >> word && std::ranges::find(kSentence, word) == kSentence.end();) {
    words.push_back(std::move(word));
  }
  const std::size_t first = words.size() == 5 ? 1 : 0;
  std::vector<Explanation::Field> fields;
  for (std::size_t i = 0; i < words.size() && words.size() >= 5 && first + i < all.size(); ++i) {
    fields.push_back(all[first + i]);
    fields.back().accepts = words[i];
  }
  return fields;
}

Result<Instant> period_at(const Job& job, Instant at) {
  Result<Upcoming> upcoming = Upcoming::of(job, at);
  if (!upcoming) return fail(upcoming.error());
  const Seconds length = std::chrono::ceil<Seconds>(job.window.duration);
  std::optional<Instant> holding;
  for (std::optional<Instant> nominal =
           job.schedule.next_after(std::max(at - length, kFirstInstant) - Seconds(2), job.zone);
       nominal; nominal = job.schedule.next_after(*nominal, job.zone)) {
    const Window window = window_of(job.window, *nominal);
    if (window.start > at) break;
    if (window.end < at) continue;
    if (decide(job, *nominal).chosen == at) return *nominal;
    holding = nominal;
  }
  if (holding) return *holding;
  if (const auto before = job.schedule.at_or_before(at, job.zone)) return *before;
  if (const auto after = job.schedule.next_after(at, job.zone)) return *after;
  return fail(Code::not_found, "the schedule of " + quoted(job.identity, 200) + " has no time at all", "schedule");
}

Result<Instant> known_period(const Job& job, Instant nominal) {
  if (job.schedule.is_nominal(nominal, job.zone)) return nominal;
  const auto before = job.schedule.at_or_before(nominal, job.zone);
  const auto after = job.schedule.next_after(nominal, job.zone);
  std::string message = rfc3339(nominal) + " is no period of " + quoted(job.identity, 200);
  if (before) message += "; the one before is " + rfc3339(*before);
  if (after) message += std::string(before ? "," : ";") + " the one after is " + rfc3339(*after);
  return fail(Code::not_found, message, "period");
}

Explanation explain_decision(const Job& job, Instant nominal) {
  Explanation explanation;
  explanation.job = job;
  explanation.has_schedule = false;
  const Refusals refusals(job.constraints);
  explanation.decision = decide_showing(job, nominal, [&](const Draw& draw) {
    explanation.attempts.push_back(
        {draw, draw.allowed ? std::string() : refusals.of(job.zone.to_civil(draw.candidate))});
  });
  explanation.allowed = allowed_share(job, nominal);
  return explanation;
}

Explanation explain(const jobs::JobDefinition& definition, Instant nominal, std::optional<Instant> now) {
  Explanation explanation = explain(definition.job, nominal, now);
  const jobs::RunOptions& options = *definition.options;
  explanation.pool = options.pool;
  explanation.aside = {.retries = options.process.retry.value_or(0),
                       .backoff = options.process.backoff.value_or(kUsualBackoff),
                       .notify = options.notify,
                       .pings = !options.ping.empty()};
  return explanation;
}

Explanation explain(const Job& job, Instant nominal, std::optional<Instant> now) {
  Explanation explanation = explain_decision(job, nominal);
  explanation.has_schedule = true;
  explain_nominal(explanation);
  if (now) explanation.prospect = prospect_of(job, nominal, *now);
  return explanation;
}

}  // namespace kron
