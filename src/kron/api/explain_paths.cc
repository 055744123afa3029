#include <utility>

#include "kron/api/paths.h"
#include "kron/base/rfc3339.h"
#include "kron/forecast/explanation.h"
#include "kron/forecast/upcoming.h"

namespace kron::api {
namespace {

// Which period is meant: by its nominal time, by a time that belongs to it, or the next one.
struct ExplainRequest {
  std::optional<Instant> period = {};
  std::optional<Instant> at = {};
  Instant now = {};
};

Result<ExplainRequest> explain_request(const Parts& parts, const http::Request& request) {
  const auto period = time_parameter(request, "period");
  if (!period) return fail(period.error());
  const auto at = time_parameter(request, "at");
  if (!at) return fail(at.error());
  if (*period && *at) return fail(Code::invalid, "give `period` or `at`, not both", "at");
  return ExplainRequest{*period, *at, now(parts.clock)};
}

Result<Instant> nominal_of(const Job& job, const ExplainRequest& request) {
  if (request.period) return known_period(job, *request.period);
  if (request.at) return period_at(job, *request.at);
  Result<Upcoming> upcoming = Upcoming::of(job, request.now);
  if (!upcoming) return fail(upcoming.error());
  if (const std::optional<Decision> next = upcoming->next()) return next->nominal;
  return fail(Code::not_found, "the schedule has no time after " + rfc3339(request.now) + "; ask for one with `at`");
}

void explain_period(Parts& parts, const CallPtr& call) {
  const auto request = explain_request(parts, call->request);
  if (!request) return call->refuse(request.error());
  parts.on_loop([&parts, call, request = *request] {
    const auto view = parts.scheduler.view(call->names.front());
    if (!view) return call->refuse(no_such_job(call->names.front()));
    const DaemonStatus status = parts.status();
    const Explanation::Krond krond{status.catch_up_spread, status.max_running};
    const bool taken = parts.aside([call, request, krond, definition = view->definition] {
      const Result<Instant> nominal = nominal_of(definition.job, request);
      if (!nominal) return call->refuse(nominal.error());
      Explanation explanation = explain(definition, *nominal, request.now);
      // A task takes no slot of the host.
      explanation.krond = krond;
      if (jobs::submits_task(definition)) explanation.krond->max_running = 0;
      call->send_json(json_with_shape(explanation));
    });
    if (!taken) call->refuse(too_busy());
  });
}

}  // namespace

std::vector<Route> explain_routes(Parts& parts) {
  return {
      {"GET", "/api/v1/jobs/{name}/explain", Right::read, with(parts, explain_period), {"period", "at"}},
  };
}

}  // namespace kron::api
