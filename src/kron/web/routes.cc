#include "kron/web/routes.h"

#include <algorithm>
#include <array>

#include "kron/base/text.h"
#include "kron/http/target.h"

namespace kron::web {
namespace {

constexpr std::array kRoutes{
    WebRoute{"GET", "/readyz"},
    WebRoute{"GET", "/api/v1/status"},
    WebRoute{"GET", "/api/v1/attention"},
    WebRoute{"GET", "/api/v1/timeline"},
    WebRoute{"GET", "/api/v1/series"},
    WebRoute{"GET", "/api/v1/load"},
    WebRoute{"GET", "/api/v1/events"},
    WebRoute{"POST", "/api/v1/try", Role::read, std::size_t{256} << 10U},
    WebRoute{"POST", "/api/v1/reload", Role::operate},
    WebRoute{"GET", "/api/v1/jobs"},
    WebRoute{"POST", "/api/v1/jobs/pause", Role::operate, std::size_t{1} << 20U},
    WebRoute{"POST", "/api/v1/jobs/resume", Role::operate, std::size_t{1} << 20U},
    WebRoute{"GET", "/api/v1/jobs/{name}"},
    WebRoute{"GET", "/api/v1/jobs/{name}/decisions"},
    WebRoute{"GET", "/api/v1/jobs/{name}/explain"},
    WebRoute{"GET", "/api/v1/jobs/{name}/why"},
    WebRoute{"GET", "/api/v1/jobs/{name}/days"},
    WebRoute{"POST", "/api/v1/jobs/{name}/trigger", Role::operate},
    WebRoute{"POST", "/api/v1/jobs/{name}/pause", Role::operate},
    WebRoute{"POST", "/api/v1/jobs/{name}/resume", Role::operate},
    WebRoute{"GET", "/api/v1/runs"},
    WebRoute{"GET", "/api/v1/runs/{id}"},
    WebRoute{"GET", "/api/v1/runs/{id}/output"},
    WebRoute{"POST", "/api/v1/runs/{id}/terminate", Role::operate},
    WebRoute{"POST", "/api/v1/runs/{id}/kill", Role::operate},
    WebRoute{"GET", "/api/v1/tasks"},
    WebRoute{"GET", "/api/v1/tasks/summary"},
    WebRoute{"GET", "/api/v1/tasks/{id}"},
    WebRoute{"POST", "/api/v1/tasks/{id}/cancel", Role::operate},
    WebRoute{"POST", "/api/v1/tasks/{id}/retry", Role::operate},
    WebRoute{"POST", "/api/v1/tasks/prune", Role::admin},
    WebRoute{"GET", "/api/v1/state", Role::admin},
    WebRoute{"GET", "/api/v1/state/{name}", Role::admin},
    WebRoute{"POST", "/api/v1/state/{name}/reset", Role::admin},
    WebRoute{"POST", "/api/v1/state/prune", Role::admin},
};

// As much as krond takes of each.
constexpr std::array kClientRoutes{
    WebRoute{"GET", "/metrics"},
    WebRoute{"GET", "/api/v1/openapi.json"},
    WebRoute{"GET", "/api/v1/upcoming.ics"},
    WebRoute{"POST", "/api/v1/tasks", Role::operate, std::size_t{16} << 20U},
    WebRoute{"POST", "/api/v1/leases", Role::operate},
    WebRoute{"POST", "/api/v1/leases/{execId}/start", Role::operate},
    WebRoute{"POST", "/api/v1/leases/{execId}/renew", Role::operate},
    WebRoute{"POST", "/api/v1/leases/{execId}/commit", Role::operate, std::size_t{72} << 20U},
    WebRoute{"POST", "/api/v1/leases/{execId}/fail", Role::operate},
};

constexpr std::array<std::string_view, 2> kCredentials{"authorization", "x-kron-csrf"};
constexpr std::string_view kOurCookies = "__Host-kron-";

constexpr std::array<std::string_view, 7> kAskedHeaders{"accept", "accept-encoding", "content-type", "idempotency-key",
                                                        "range",  "if-none-match",   "last-event-id"};
constexpr std::array<std::string_view, 13> kPassedHeaders{
    "accept-ranges",     "allow", "content-encoding", "content-range", "etag", "kron-output-first",
    "kron-output-bytes", "vary",  "last-event-id",    "retry-after",   "date", "x-accel-buffering",
    "www-authenticate"};

// Large answers without secrets, which have a tag: the browser may keep them, and asks whether they still hold.
constexpr std::array<std::string_view, 3> kKept{"/api/v1/jobs", "/api/v1/timeline", "/api/v1/load"};

bool is_match(std::string_view pattern, const std::vector<std::string>& segments) {
  for (const std::string& segment : segments) {
    if (pattern.empty()) return false;
    pattern.remove_prefix(1);
    const std::size_t end = std::min(pattern.find('/'), pattern.size());
    const std::string_view wanted = pattern.substr(0, end);
    if (wanted.starts_with('{') ? segment.empty() : wanted != segment) return false;
    pattern.remove_prefix(end);
  }
  return pattern.empty();
}

const WebRoute* route_in(std::span<const WebRoute> routes, std::string_view method,
                         const std::vector<std::string>& segments) {
  const WebRoute* found = nullptr;
  for (const WebRoute& route : routes) {
    if (route.method != method || !is_match(route.pattern, segments)) continue;
    // A pattern that spells the path out is meant rather than one that names it.
    if (found == nullptr || found->pattern.find('{') != std::string_view::npos) found = &route;
  }
  return found;
}

// Of the cookies of a browser those that can be ours; of others a front knows nothing, and krond shall not either.
std::string our_cookies(std::string_view all) {
  std::string ours;
  while (!all.empty()) {
    const std::size_t end = std::min(all.find(';'), all.size());
    const std::string_view pair = trimmed(all.substr(0, end));
    all.remove_prefix(std::min(end + 1, all.size()));
    if (pair.starts_with(kOurCookies)) ours.append(ours.empty() ? "" : "; ").append(pair);
  }
  return ours;
}

}  // namespace

std::span<const WebRoute> web_routes() { return kRoutes; }
std::span<const WebRoute> client_routes() { return kClientRoutes; }

const WebRoute* web_route_of(std::string_view method, const std::vector<std::string>& segments) {
  return route_in(kRoutes, method, segments);
}

const WebRoute* service_route_of(std::string_view method, const std::vector<std::string>& segments) {
  const WebRoute* found = route_in(kRoutes, method, segments);
  return found != nullptr ? found : route_in(kClientRoutes, method, segments);
}

std::string_view name_of(Role role) {
  switch (role) {
    case Role::read:
      return "read";
    case Role::operate:
      return "operate";
    case Role::admin:
      return "admin";
  }
  return "read";
}

namespace {

http::Forwarder::Outgoing spelled_anew(http::Request& request) {
  http::Forwarder::Outgoing outgoing{.method = std::move(request.method), .body = std::move(request.body)};
  for (const std::string& segment : request.segments) outgoing.target += "/" + http::percent_encoded(segment);
  const bool is_kept = std::ranges::find(kKept, outgoing.target) != kKept.end();
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    outgoing.target.append(1, std::exchange(separator, '&')).append(http::percent_encoded(name));
    outgoing.target.append("=").append(http::percent_encoded(value));
  }
  for (auto& [name, value] : request.headers) {
    if (std::ranges::find(kAskedHeaders, name) == kAskedHeaders.end()) continue;
    outgoing.headers.emplace_back(name, std::move(value));
  }
  const bool is_output = !request.segments.empty() && request.segments.back() == "output";
  outgoing.added.emplace_back("Cache-Control", is_kept ? "private, no-cache" : "private, no-store");
  // Opened as a page of its own it is saved, never shown: what a program printed is nobody's markup.
  if (is_output) outgoing.added.emplace_back("Content-Disposition", "attachment");
  return outgoing;
}

}  // namespace

// Always said: at most admin is less than root has, who also makes tokens.
http::Forwarder::Outgoing outgoing_of(http::Request request, Role most) {
  http::Forwarder::Outgoing outgoing = spelled_anew(request);
  outgoing.headers.emplace_back("Kron-At-Most", name_of(most));
  return outgoing;
}

http::Forwarder::Outgoing outgoing_with_credentials(http::Request request) {
  http::Fields shown;
  for (const auto& [name, value] : request.headers) {
    if (std::ranges::find(kCredentials, name) != kCredentials.end()) shown.emplace_back(name, value);
    if (name != "cookie") continue;
    if (std::string ours = our_cookies(value); !ours.empty()) shown.emplace_back(name, std::move(ours));
  }
  http::Forwarder::Outgoing outgoing = spelled_anew(request);
  outgoing.headers.insert(outgoing.headers.end(), shown.begin(), shown.end());
  return outgoing;
}

std::vector<std::string> passed_headers() { return {kPassedHeaders.begin(), kPassedHeaders.end()}; }

}  // namespace kron::web
