#include "kron/api/paths.h"
#include "kron/api/series.h"

namespace kron::api {
namespace {

constexpr Seconds kMinute{60};
constexpr Seconds kSeriesLength = kMinute * Series::kMinutes;

Result<Seconds> length_in(const http::Request& request, std::string_view name, Seconds otherwise) {
  const auto length = duration_parameter(request, name);
  if (!length) return fail(length.error());
  const Seconds given = length->value_or(otherwise);
  if (given >= kMinute && given <= kSeriesLength && given % kMinute == Seconds(0)) return given;
  return fail(Error{Code::invalid, "the parameter " + std::string(name) + ": expected whole minutes, from 1m to 24h",
                    std::string(name)});
}

void series(Parts& parts, const CallPtr& call) {
  const auto names = Series::names_in(text_parameter(call->request, "names"));
  if (!names) return call->refuse(names.error());
  const auto length = length_in(call->request, "for", kSeriesLength);
  if (!length) return call->refuse(length.error());
  const auto step = length_in(call->request, "step", kMinute);
  if (!step) return call->refuse(step.error());
  if (*length % *step != Seconds(0)) {
    return call->refuse({Code::invalid, "the parameter step: `for` is no multiple of it", "step"});
  }
  const bool taken = parts.aside([&parts, call, names = *names, length = *length, step = *step] {
    call->send_json(parts.series->json(names, length, step, now(parts.clock)));
  });
  if (!taken) call->refuse(too_busy());
}

}  // namespace

std::vector<Route> series_routes(Parts& parts) {
  return {{"GET", "/api/v1/series", Right::read, with(parts, series), {"names", "for", "step"}}};
}

}  // namespace kron::api
