#include "kron/web/service_ways.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kron/base/token_text.h"
#include "kron/web/routes.h"

namespace kron::web {
namespace {

using Path = std::vector<std::string>;

constexpr std::string_view kOwnCookie = "__Host-kron-";

bool is_session_path(const http::Request& request) { return request.segments == Path{"api", "v1", "session"}; }

bool is_token_path(const http::Request& request) {
  const Path& path = request.segments;
  return path.size() >= 3 && path[0] == "api" && path[1] == "v1" && (path[2] == "tokens" || path[2] == "sessions");
}

bool is_event_path(const http::Request& request) {
  return request.method == "GET" && request.segments == Path{"api", "v1", "events"};
}

bool is_open_path(const http::Request& request) {
  const Path& path = request.segments;
  if (request.method != "GET") return false;
  return path == Path{"healthz"} || path == Path{"readyz"} || path == Path{"metrics"};
}

// /ics/TOKEN/upcoming.ics: for calendar programs, which send no header that their user chooses.
bool is_calendar_path(const http::Request& request) {
  const Path& path = request.segments;
  return request.method == "GET" && path.size() == 3 && path[0] == "ics" && path[2] == "upcoming.ics";
}

// From here on the token is where all tokens are, and in no path. What else the request shows counts for nothing.
void move_token_to_header(http::Request& request) {
  std::string token = std::move(request.segments[1]);
  request.segments = {"api", "v1", "upcoming.ics"};
  std::erase_if(request.headers,
                [](const auto& field) { return field.first == "authorization" || field.first == "cookie"; });
  request.headers.emplace_back("authorization", "Bearer " + std::move(token));
}

}  // namespace

const Asset* served_asset(const http::Request& request) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  return reads ? asset_at(request.target.substr(0, request.target.find('?'))) : nullptr;
}

std::string_view shown_in(const http::Request& request) {
  if (is_calendar_path(request)) return token_id_in(request.segments[1]) ? request.segments[1] : std::string_view();
  if (const auto header = request.header("authorization")) return *header;
  const std::string_view cookies = request.header("cookie").value_or("");
  return cookies.find(kOwnCookie) == std::string_view::npos ? std::string_view() : cookies;
}

bool has_json(const http::Request& request) {
  const std::string_view type = request.header("content-type").value_or("");
  return type.substr(0, type.find(';')) == "application/json";
}

ServiceWay service_way_of(const http::Request& request) {
  if (served_asset(request) != nullptr) return ServiceWay::page;
  if (is_session_path(request)) return ServiceWay::session;
  if (is_token_path(request)) return ServiceWay::tokens;
  if (is_open_path(request)) return ServiceWay::open;
  if (shown_in(request).empty()) return ServiceWay::not_let_in;
  if (is_calendar_path(request)) return ServiceWay::calendar;
  if (service_route_of(request.method, request.segments) == nullptr) return ServiceWay::not_listed;
  // A form of another site can send only a few types of body, and this is none of them.
  const bool has_cookie = !request.header("authorization");
  if (has_cookie && !request.body.empty() && !has_json(request)) return ServiceWay::not_json;
  return is_event_path(request) ? ServiceWay::events : ServiceWay::listed;
}

http::Forwarder::Outgoing outgoing_by(ServiceWay way, http::Request request) {
  if (way == ServiceWay::calendar) move_token_to_header(request);
  auto outgoing = outgoing_with_credentials(std::move(request));
  // krond takes from a path only a token that is for this alone.
  if (way == ServiceWay::calendar) outgoing.headers.emplace_back("Kron-Token-In-Path", "yes");
  return outgoing;
}

}  // namespace kron::web
