#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/http/forwarder.h"
#include "kron/http/message.h"

namespace kron::web {

// What a page may ask for at most, whatever its user may.
enum class Role : std::uint8_t { read, operate, admin };

// A request that is forwarded to krond. What is not in this list is not, for nobody: leases and commits of workers,
// submitting tasks, metrics, and whatever krond learns later.
struct WebRoute {
  std::string_view method;
  std::string_view pattern;  // as krond's: /api/v1/jobs/{name}/trigger
  Role needs = Role::read;
  std::size_t most_body = std::size_t{64} << 10U;
};
std::span<const WebRoute> web_routes();

// Null: it is not forwarded.
const WebRoute* web_route_of(std::string_view method, const std::vector<std::string>& segments);

// What a front as a service forwards besides, for whoever shows a token: workers, kron --url, Prometheus. Never the
// paths of tokens, for nobody.
std::span<const WebRoute> client_routes();
const WebRoute* service_route_of(std::string_view method, const std::vector<std::string>& segments);

// The request as krond gets it: the path and the query spelled anew from what was understood, and of the headers a few.
// `most`: krond shall give it no more rights than these, whatever its user has.
http::Forwarder::Outgoing outgoing_of(http::Request request, Role most);
// The same with what the request shows to be let in, which krond judges.
http::Forwarder::Outgoing outgoing_with_credentials(http::Request request);
std::string_view name_of(Role role);

// Of an answer, the headers that the page gets.
std::vector<std::string> passed_headers();

}  // namespace kron::web
