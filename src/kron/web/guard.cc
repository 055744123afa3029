#include "kron/web/guard.h"

#include <algorithm>
#include <array>
#include <string>

#include "kron/base/text.h"

namespace kron::web {
namespace {

bool is_port(std::string_view text) {
  return text.size() <= 5 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_this_machine(std::string_view host) {
  constexpr std::array<std::string_view, 3> kNames{"localhost", "127.0.0.1", "[::1]"};
  return std::ranges::any_of(kNames, [&](std::string_view name) {
    if (!equals_ignoring_case(host.substr(0, name.size()), name)) return false;
    const std::string_view rest = host.substr(name.size());
    return rest.empty() || (rest.size() > 1 && rest.front() == ':' && is_port(rest.substr(1)));
  });
}

}  // namespace

std::optional<http::Response> refusal_of_origin(const http::Request& head, Asked asked) {
  const std::string_view host = head.header("host").value_or("");
  if (!is_this_machine(host)) {
    return http::problem(421, "this is served as localhost, 127.0.0.1 or [::1] only; use one of these names");
  }
  const auto count = [&](std::string_view name) {
    return std::ranges::count(head.headers, name, &http::Fields::value_type::first);
  };
  for (const std::string_view name : {"authorization", "origin", "sec-fetch-site"}) {
    if (count(name) > 1) return http::problem(400, "the header " + std::string(name) + " is there twice");
  }
  const auto origin = head.header("origin");
  if (origin && !equals_ignoring_case(*origin, "http://" + std::string(host))) {
    return http::problem({Code::refused, "the request comes from another origin"});
  }
  const std::string_view site = head.header("sec-fetch-site").value_or("none");
  if (asked != Asked::page && site != "same-origin" && site != "none") {
    return http::problem({Code::refused, "the request comes from another site"});
  }
  return std::nullopt;
}

std::optional<std::string_view> bearer_of(const http::Request& head) {
  constexpr std::string_view kScheme = "bearer ";
  const auto value = head.header("authorization");
  if (!value || !equals_ignoring_case(value->substr(0, kScheme.size()), kScheme)) return std::nullopt;
  return value->substr(kScheme.size());
}

}  // namespace kron::web
