#include <chrono>
#include <memory>
#include <utility>

#include "kron/api/job_json.h"
#include "kron/api/paths.h"
#include "kron/api/recent_of_jobs.h"
#include "kron/base/rfc3339.h"
#include "kron/forecast/upcoming_ics.h"

namespace kron::api {
namespace {

// When jobs that are paused start again, by their places among the definitions that are gathered.
using StartsAgain = std::vector<std::optional<Instant>>;

// A job that is paused for good starts nothing.
bool is_of_calendar(const Scheduler::View& view, Instant present, StartsAgain& starts_again) {
  std::optional<Instant> until;
  if (is_paused(view, present)) {
    if (view.known.periods.suspended) until = view.known.periods.suspended->until;
    if (!until) return false;
  }
  starts_again.push_back(until);
  return true;
}

Forecasts::Made made_calendar(Parts& parts, IcsQuestion question, const Forecasts::Definitions& definitions,
                              const StartsAgain& starts_again, const LookLimit& limit) {
  question.limit = limit;
  question.starts_again = [&](std::size_t job) { return starts_again[job]; };
  const auto recent = recent_of_jobs(parts, definitions);
  question.usual = [&](std::size_t job) -> std::optional<Seconds> {
    const auto found = recent.find(definitions[job].job.identity);
    if (found == recent.end() || !found->second.usual) return std::nullopt;
    return std::chrono::round<Seconds>(*found->second.usual);
  };
  auto calendar = upcoming_ics(definitions, question);
  if (!calendar) return fail(calendar.error());
  return std::make_shared<TextForecast>(*std::move(calendar));
}

void show_calendar(Parts& parts, const CallPtr& call) {
  const auto length = duration_parameter(call->request, "for");
  if (!length) return call->refuse(length.error());
  IcsQuestion asked;
  asked.from = std::chrono::floor<std::chrono::minutes>(now(parts.clock));
  asked.length = length->value_or(asked.length);
  const std::string prefix = text_parameter(call->request, "prefix");
  const auto starts_again = std::make_shared<StartsAgain>();
  Forecasts::Question question{
      .key = "upcoming.ics " + std::to_string(asked.length.count()) + " " + prefix,
      .keeps = [starts_again, present = asked.from](
                   const Scheduler::View& view) { return is_of_calendar(view, present, *starts_again); },
      .compute = [&parts, asked, starts_again](
                     const Forecasts::Definitions& definitions,
                     const LookLimit& limit) { return made_calendar(parts, asked, definitions, *starts_again, limit); },
      .answer =
          [](const CallPtr& asker, const std::shared_ptr<const Forecast>& forecast) {
            asker->send_text(static_cast<const TextForecast&>(*forecast).text, "text/calendar; charset=utf-8");
          }};
  if (!prefix.empty()) question.has_name = [prefix](std::string_view name) { return name.starts_with(prefix); };
  parts.forecasts->ask(call, std::move(question));
}

}  // namespace

std::vector<Route> upcoming_routes(Parts& parts) {
  return {
      {"GET", "/api/v1/upcoming.ics", Right::ics, with(parts, show_calendar), {"prefix", "for"}},
  };
}

}  // namespace kron::api
