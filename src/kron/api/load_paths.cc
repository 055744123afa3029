#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "kron/api/paths.h"
#include "kron/base/rfc3339.h"
#include "kron/forecast/load_profile.h"

namespace kron::api {
namespace {

void send_load(const CallPtr& call, const std::shared_ptr<const Forecast>& forecast,
               const std::optional<std::vector<std::uint64_t>>& actual) {
  const std::string& json = static_cast<const TextForecast&>(*forecast).text;
  call->send_json(with_actual(json, actual ? &*actual : nullptr));
}

Result<LoadQuestion> load_question(const Parts& parts, const http::Request& request) {
  const auto from = time_parameter(request, "from");
  if (!from) return fail(from.error());
  const auto length = duration_parameter(request, "for");
  if (!length) return fail(length.error());
  const auto step = duration_parameter(request, "step");
  if (!step) return fail(step.error());
  LoadQuestion question;
  question.from = from->value_or(std::chrono::floor<std::chrono::minutes>(now(parts.clock)));
  question.length = length->value_or(question.length);
  question.step = step->value_or(question.step);
  return question;
}

// What lies ahead is the same for a minute; what happened is asked for each time, as far as it has.
void answer_load(Parts& parts, const CallPtr& call, const LoadQuestion& question,
                 const std::shared_ptr<const Forecast>& forecast) {
  const Instant end = std::min(now(parts.clock) + Seconds(1), question.from + question.length);
  const std::int64_t begun = end <= question.from ? 0 : (end - question.from - Seconds(1)) / question.step + 1;
  if (begun == 0) return send_load(call, forecast, std::vector<std::uint64_t>());
  history::PastQuestion asked{.starts = {.from = question.from,
                                         .length = question.step * begun,
                                         .parts = static_cast<std::size_t>(begun),
                                         .until = end}};
  parts.history.past(std::move(asked), [call, forecast](Result<history::Past> past) {
    if (!past) return send_load(call, forecast, std::nullopt);
    send_load(call, forecast, std::move(past->starts));
  });
}

void load(Parts& parts, const CallPtr& call) {
  const auto question = load_question(parts, call->request);
  if (!question) return call->refuse(question.error());
  parts.forecasts->ask(
      call, {.key = "load " + rfc3339(question->from) + " " + std::to_string(question->length.count()) + " " +
                    std::to_string(question->step.count()),
             .compute = [question = *question](const Forecasts::Definitions& definitions,
                                               const LookLimit& limit) mutable -> Forecasts::Made {
               question.limit = limit;
               const auto profile = load_profile(definitions, question);
               if (!profile) return fail(profile.error());
               return std::make_shared<TextForecast>(load_profile_json(*profile, definitions));
             },
             .answer =
                 [&parts, question = *question](const CallPtr& asker, const std::shared_ptr<const Forecast>& forecast) {
                   answer_load(parts, asker, question, forecast);
                 }});
}

}  // namespace

std::vector<Route> load_routes(Parts& parts) {
  return {
      {"GET", "/api/v1/load", Right::read, with(parts, load), {"from", "for", "step"}},
  };
}

}  // namespace kron::api
