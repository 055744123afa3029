#include "kron/api/api.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kron/api/paths.h"
#include "kron/http/cross_site.h"

namespace kron::api {
namespace {

std::vector<Route> all_routes(Parts& parts) {
  std::vector<Route> routes;
  for (auto* of :
       {host_routes,    job_routes,      pause_routes,    run_routes,     state_routes, task_routes,      lease_routes,
        load_routes,    timeline_routes, upcoming_routes, explain_routes, why_routes,   attention_routes, reload_routes,
        metrics_routes, day_routes,      series_routes,   try_routes,     token_routes, session_routes}) {
    std::vector<Route> more = of(parts);
    routes.insert(routes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  return routes;
}

std::string name_of(const Route& route) { return std::string(route.method) + " " + std::string(route.pattern); }

// A front speaks for its user, and may want fewer rights than he has: `kron web` of root shows no page what only root
// may see. A word that nobody knows leaves none.
void lower_right(http::Request& request) {
  const auto most = request.header("kron-at-most");
  if (!most) return;
  const Right right = *most == "admin"     ? Right::admin
                      : *most == "operate" ? Right::operate
                      : *most == "read"    ? Right::read
                                           : Right::none;
  request.principal.permissions = std::min(request.principal.permissions, static_cast<unsigned>(right));
}

bool may(const http::Request& request, const Route& route) { return right_of(request.principal) >= route.needs; }

bool is_token(const http::Principal& principal) { return principal.name.starts_with("token "); }

std::string why_not_allowed(const http::Principal& principal, const Route& route) {
  if (is_token(principal) && route.needs == Right::own) {
    return "permission denied: tokens are made on krond's own socket, by root and krond's own user";
  }
  if (is_token(principal)) {
    return "permission denied: the role of this token is " + std::string(name_of(right_of(principal))) +
           "; this needs " + std::string(name_of(route.needs));
  }
  const std::string has = right_of(principal) == Right::operate ? "may operate" : "has read-only access";
  return "permission denied: this user " + has + "; root and krond's own user may do this";
}

// What people on this machine try is their business; what is tried with a token is everybody's.
http::Response not_allowed(const http::Request& request, const Route& route, AccessStore* access) {
  if (access != nullptr && is_token(request.principal)) {
    access->refusals().not_allowed(request.principal.name, name_of(route),
                                   route.needs == Right::own ? "krond's own socket" : name_of(route.needs));
  }
  return http::problem({Code::refused, why_not_allowed(request.principal, route)});
}

// A proxy may lead browsers to the socket, and a page of another site must not start anything through it.
std::optional<http::Response> refusal_of_browser(const http::Request& head) {
  if (auto no = http::refusal_of_other_origin(head)) return no;
  return http::refusal_of_other_site(head);
}

// Why a request is not to be answered by its route.
std::optional<http::Response> refusal(const http::Request& request, const Route& route, AccessStore* access) {
  if (auto no = refusal_of_browser(request)) return no;
  if (!may(request, route)) return not_allowed(request, route, access);
  if (const auto wrong = wrong_parameter(request, route)) return http::problem(*wrong);
  if (route.method == "GET" && !request.body.empty()) {
    return http::problem({Code::invalid, "a GET request has no body here"});
  }
  return std::nullopt;
}

}  // namespace

Api::Api(Parts parts) : parts_(std::move(parts)), router_(all_routes(parts_)) {
  parts_.operations = completed(std::move(parts_.operations), parts_.scheduler);
  parts_.forecasts = std::make_shared<Forecasts>(parts_);
  if (!parts_.series) parts_.series = std::make_shared<Series>();
}

void Api::stop() { parts_.forecasts->stop(); }

void Api::answer(http::Request request, http::Reply reply) {
  lower_right(request);
  auto found = router_.find(request.method, request.segments);
  const auto* known = std::get_if<Router::Found>(&found);
  const Nanoseconds begun = parts_.clock.monotonic();
  const std::string route = known == nullptr ? "none" : name_of(*known->route);
  const auto note = [&parts = parts_, begun, route](int status) {
    parts.metrics.api_request(route, status, parts.clock.monotonic() - begun);
  };
  if (known == nullptr) {
    auto& response = std::get<http::Response>(found);
    note(response.status);
    return reply.send(std::move(response));
  }
  const Route& target = *known->route;
  const auto call = std::make_shared<Call>(std::move(request), known->names, std::move(reply), note, parts_.aside);
  if (auto no = refusal(call->request, target, parts_.access)) return call->send(*std::move(no));
  target.answer(call);
}

std::variant<std::size_t, http::Response> Api::body_limit(const http::Request& head) const {
  const auto found = router_.find(head.method, head.segments);
  const auto* known = std::get_if<Router::Found>(&found);
  if (known == nullptr) return kUsualBody;
  auto no = refusal_of_browser(head);
  if (!no && may(head, *known->route)) return known->route->most_body;
  if (!no) no = not_allowed(head, *known->route, parts_.access);
  parts_.metrics.api_request(name_of(*known->route), no->status, Nanoseconds(0));
  return *std::move(no);
}

}  // namespace kron::api
