#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/text.h"
#include "kron/base/token_text.h"
#include "kron/http/request_message.h"
#include "kron/http/request_reader.h"
#include "kron/http/target.h"
#include "kron/web/guard.h"
#include "kron/web/routes.h"
#include "kron/web/service_ways.h"

namespace {

using kron::http::Request;
using kron::http::RequestReader;
using kron::web::ServiceWay;

constexpr std::size_t kBodyLimit = 4096;
// All that krond may ever get of what a client says, and what a front says itself.
constexpr std::array<std::string_view, 10> kHeaders{
    "accept",        "accept-encoding", "content-type",  "idempotency-key", "range",
    "if-none-match", "last-event-id",   "authorization", "x-kron-csrf",     "cookie"};
constexpr std::string_view kInPath = "Kron-Token-In-Path";

void require(bool holds) {
  if (!holds) std::abort();
}

// The first request of these bytes, if they begin with one.
std::optional<Request> first_request(std::string_view bytes) {
  static const kron::http::Limits limits;
  static const RequestReader::BodyLimit body_limit = [](const Request&) { return kBodyLimit; };
  RequestReader reader(limits, body_limit);
  while (!bytes.empty()) {
    const auto room = reader.room();
    const std::size_t size = std::min(room.size(), bytes.size());
    std::copy_n(bytes.data(), size, room.data());
    bytes.remove_prefix(size);
    const auto stage = reader.received(size);
    if (stage == RequestReader::Stage::refused) return std::nullopt;
    if (stage == RequestReader::Stage::complete) {
      Request request = reader.take();
      return request;
    }
  }
  return std::nullopt;
}

bool is_own_cookie(std::string_view cookies) {
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    if (!kron::trimmed(cookies.substr(0, end)).starts_with("__Host-kron-")) return false;
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
  }
  return true;
}

void check_headers(const kron::http::Fields& headers, ServiceWay way) {
  for (const auto& [name, value] : headers) {
    const bool is_ours = name == kInPath && way == ServiceWay::calendar && value == "yes";
    require(is_ours || std::ranges::find(kHeaders, name) != kHeaders.end());
    require(name != "cookie" || (way != ServiceWay::calendar && is_own_cookie(value)));
  }
}

// What reaches krond is one request, and the one that is meant.
void check_message(const kron::http::Forwarder::Outgoing& outgoing) {
  auto headers = outgoing.headers;
  headers.emplace_back("Connection", "close");
  const auto message = kron::http::request_message(outgoing.method, outgoing.target, outgoing.body, headers);
  if (!message) return;  // it is refused
  const auto heard = first_request(*message);
  require(heard && heard->method == outgoing.method && heard->target == outgoing.target &&
          heard->body == outgoing.body);
  for (const auto& [name, value] : heard->headers) {
    const bool is_of_the_wire = name == "host" || name == "connection" || name == "content-length";
    require(is_of_the_wire || name == "kron-token-in-path" || std::ranges::find(kHeaders, name) != kHeaders.end());
  }
}

void check_target(const kron::http::Forwarder::Outgoing& outgoing, ServiceWay way) {
  const auto target = kron::http::parse_target(outgoing.target);
  require(target.has_value());
  const auto& path = target->segments;
  const bool is_api = path.size() >= 3 && path[0] == "api" && path[1] == "v1";
  require(!is_api || (path[2] != "tokens" && path[2] != "sessions" && path[2] != "session"));
  require(way == ServiceWay::open || kron::web::service_route_of(outgoing.method, path) != nullptr);
  require(path.empty() || path[0] != "ics");
}

void check_calendar(const Request& asked, const kron::http::Forwarder::Outgoing& outgoing) {
  require(asked.segments.size() == 3 && kron::token_id_in(asked.segments[1]).has_value());
  require(outgoing.target.find(asked.segments[1]) == std::string::npos || asked.target.find('?') != std::string::npos);
  const auto is_token = [&](const auto& field) { return field.first == "authorization"; };
  require(std::ranges::count_if(outgoing.headers, is_token) == 1);
  require(std::ranges::find_if(outgoing.headers, is_token)->second == "Bearer " + asked.segments[1]);
}

}  // namespace

// Whatever a client of `kron web --service` sends, krond gets none of the paths of tokens, no header that is not in the
// list, no foreign cookie, and no token in a path.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const kron::web::Site site{.scheme = "https",
                                    .names = {*kron::web::parse_public_url("https://kron.example.org")}};
  const auto request = first_request({reinterpret_cast<const char*>(data), size});
  if (!request) return 0;
  const ServiceWay way = kron::web::service_way_of(*request);
  const bool is_page = way == ServiceWay::page;
  const auto asked = is_page ? kron::web::Asked::page : kron::web::Asked::api;
  if (const auto no = kron::web::refusal_of_origin(*request, asked, site)) {
    require(no->status == 400 || no->status == 403 || no->status == 421);
    return 0;
  }
  const bool is_forwarded =
      way == ServiceWay::open || way == ServiceWay::calendar || way == ServiceWay::events || way == ServiceWay::listed;
  if (!is_forwarded && way != ServiceWay::session) return 0;
  require(way == ServiceWay::open || way == ServiceWay::session || !kron::web::shown_in(*request).empty());
  const auto outgoing = kron::web::outgoing_by(way, *request);
  check_headers(outgoing.headers, way);
  check_message(outgoing);
  if (is_forwarded) check_target(outgoing, way);
  if (way == ServiceWay::calendar) check_calendar(*request, outgoing);
  return 0;
}
