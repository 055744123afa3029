#include <utility>

#include "kron/api/paths.h"

namespace kron::api {
namespace {

constexpr std::chrono::days kMostDaysAsked{400};  // as many as are kept

Result<std::optional<std::chrono::sys_days>> day_parameter(const http::Request& request, std::string_view name) {
  const auto text = request.parameter(name);
  if (!text) return std::optional<std::chrono::sys_days>();
  const auto day = history::parse_day(*text);
  if (day) return std::optional(*day);
  return fail(
      Error{Code::invalid, "the parameter " + std::string(name) + ": " + day.error().message, std::string(name)});
}

struct DaySpan {
  std::chrono::sys_days from, to;  // without the latter
};

// A year up to and with today, unless something else is asked for.
Result<DaySpan> span_in(const http::Request& request, Instant now) {
  const auto from = day_parameter(request, "from");
  if (!from) return fail(from.error());
  const auto to = day_parameter(request, "to");
  if (!to) return fail(to.error());
  const auto tomorrow = std::chrono::floor<std::chrono::days>(now) + std::chrono::days(1);
  DaySpan span{.from = {}, .to = to->value_or(tomorrow)};
  span.from = from->value_or(span.to - std::chrono::days(365));
  if (span.to < span.from) return fail(Error{Code::invalid, "the parameter to: it is before from", "to"});
  if (span.to - span.from <= kMostDaysAsked) return span;
  return fail(Error{Code::invalid,
                    "the parameter from: at most " + std::to_string(kMostDaysAsked.count()) + " days are told at once",
                    "from"});
}

std::string days_json(const std::string& job, const std::vector<history::DayTotals>& days) {
  JsonWriter json;
  json.begin_map().member("job", job).key("days").begin_list();
  for (const history::DayTotals& totals : days) history::write(json, totals);
  return json.end_list().end_map().take();
}

void days(Parts& parts, const CallPtr& call) {
  const auto span = span_in(call->request, now(parts.clock));
  if (!span) return call->refuse(span.error());
  parts.on_loop([&parts, call, span = *span] {
    const std::string& name = call->names.front();
    const bool is_known = parts.scheduler.view(name).has_value();
    parts.history.days_of(name, span.from, span.to,
                          [call, name, is_known](const Result<std::vector<history::DayTotals>>& days) {
                            if (!days) return call->refuse(days.error());
                            if (!is_known && days->empty()) {
                              return call->refuse(no_such_job(name));
                            }
                            call->send_json(days_json(name, *days));
                          });
  });
}

}  // namespace

std::vector<Route> day_routes(Parts& parts) {
  return {{"GET", "/api/v1/jobs/{name}/days", Right::read, with(parts, days), {"from", "to"}}};
}

}  // namespace kron::api
