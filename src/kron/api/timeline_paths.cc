#include <chrono>
#include <memory>
#include <utility>

#include "kron/api/paths.h"
#include "kron/api/recent_of_jobs.h"
#include "kron/base/rfc3339.h"
#include "kron/report/timeline_json.h"

namespace kron::api {
namespace {

struct TimelineForecast : Forecast {
  explicit TimelineForecast(report::NamedTimeline made) : named(std::move(made)) {}

  [[nodiscard]] std::size_t bytes() const override {
    std::size_t sum = sizeof(*this) + 16 * named.timeline.before.size();
    for (const TimelineLane& lane : named.timeline.lanes) {
      sum += sizeof(lane) + lane.periods.size() * sizeof(TimelineLane::Period) +
             (lane.density.size() + lane.windows.size()) * sizeof(TimelineLane::Span);
    }
    for (const auto& names : named.jobs) {
      for (const std::string& name : names) sum += sizeof(name) + name.size();
    }
    return sum;
  }

  report::NamedTimeline named;
};

struct TimelineRequest {
  TimelineQuestion question;
  std::string match;

  [[nodiscard]] std::string key() const {
    return "timeline " + rfc3339(question.from) + " " + std::to_string(question.length.count()) + " " +
           std::to_string(question.columns) + " " + std::to_string(question.lanes) + " " +
           std::to_string(static_cast<int>(question.order)) + " " + std::to_string(question.prefix.size()) + " " +
           question.prefix + " " + match;
  }
};

TimelineQuestion::Order order_of(std::string_view word) {
  if (word == "name") return TimelineQuestion::Order::name;
  return word == "attention" ? TimelineQuestion::Order::attention : TimelineQuestion::Order::due;
}

Result<TimelineRequest> timeline_request(const Parts& parts, const http::Request& request) {
  const auto from = time_parameter(request, "from");
  if (!from) return fail(from.error());
  const auto length = duration_parameter(request, "for");
  if (!length) return fail(length.error());
  const auto columns = number_parameter(request, "columns", 1200, 1, TimelineQuestion::kMostColumns);
  if (!columns) return fail(columns.error());
  const auto lanes = number_parameter(request, "lanes", 40, 0, TimelineQuestion::kMostLanes);
  if (!lanes) return fail(lanes.error());
  const auto order = word_parameter(request, "order", {"due", "name", "attention"});
  if (!order) return fail(order.error());
  const auto minute = std::chrono::floor<std::chrono::minutes>(now(parts.clock));
  TimelineRequest asked;
  TimelineQuestion& question = asked.question;
  question.length = length->value_or(question.length);
  question.from = from->value_or(minute - question.length / 4);
  question.now = minute;
  question.columns = static_cast<std::size_t>(*columns);
  question.lanes = static_cast<std::size_t>(*lanes);
  question.order = order_of(order->value_or("due"));
  question.prefix = text_parameter(request, "prefix");
  asked.match = text_parameter(request, "match");
  return asked;
}

// How much each job needs somebody.
std::vector<unsigned> needs_of(Parts& parts, const Forecasts::Definitions& definitions) {
  const auto recent = recent_of_jobs(parts, definitions);
  std::vector<unsigned> needs(definitions.size(), 0);
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    const auto found = recent.find(definitions[i].job.identity);
    if (found != recent.end()) needs[i] = history::need_of(found->second.letters);
  }
  return needs;
}

Forecasts::Made made_timeline(Parts& parts, TimelineQuestion question, const Forecasts::Definitions& definitions,
                              const LookLimit& limit) {
  question.limit = limit;
  if (question.order == TimelineQuestion::Order::attention) {
    question.need = [needs = needs_of(parts, definitions)](std::size_t job) { return needs[job]; };
  }
  Result<Timeline> made = timeline(definitions, question);
  if (!made) return fail(made.error());
  report::NamedTimeline named{*std::move(made), {}};
  for (const TimelineLane& lane : named.timeline.lanes) {
    std::vector<std::string>& names = named.jobs.emplace_back();
    for (const std::size_t job : lane.jobs) names.push_back(definitions[job].job.identity);
  }
  return std::make_shared<TimelineForecast>(std::move(named));
}

// What lies ahead is the same for a minute; what was, and what goes on, is asked for each time.
void answer_timeline(Parts& parts, const CallPtr& call, const TimelineRequest& asked,
                     const std::shared_ptr<const Forecast>& forecast) {
  const auto& named = static_cast<const TimelineForecast&>(*forecast).named;
  const Instant present = now(parts.clock);
  history::PastQuestion question = report::past_question(named, present);
  question.starts.prefix = asked.question.prefix;
  question.starts.match = asked.match;
  parts.history.past(std::move(question), [call, forecast, present](const Result<history::Past>& past) {
    call->send_json(report::timeline_json(static_cast<const TimelineForecast&>(*forecast).named, past, present));
  });
}

void show_timeline(Parts& parts, const CallPtr& call) {
  const auto asked = timeline_request(parts, call->request);
  if (!asked) return call->refuse(asked.error());
  Forecasts::Question question{
      .key = asked->key(),
      .same_for = Seconds(1),  // it tells the time, by which its readers set their clocks
      .compute = [&parts, asked = asked->question](
                     const Forecasts::Definitions& definitions,
                     const LookLimit& limit) { return made_timeline(parts, asked, definitions, limit); },
      .answer =
          [&parts, asked = *asked](const CallPtr& asker, const std::shared_ptr<const Forecast>& forecast) {
            answer_timeline(parts, asker, asked, forecast);
          }};
  if (!asked->question.prefix.empty() || !asked->match.empty()) {
    question.has_name = [prefix = asked->question.prefix, match = asked->match](std::string_view name) {
      return name.starts_with(prefix) && name.find(match) != std::string_view::npos;
    };
  }
  parts.forecasts->ask(call, std::move(question));
}

}  // namespace

std::vector<Route> timeline_routes(Parts& parts) {
  return {
      {"GET",
       "/api/v1/timeline",
       Right::read,
       with(parts, show_timeline),
       {"from", "for", "columns", "lanes", "order", "prefix", "match"}},
  };
}

}  // namespace kron::api
