#include "kron/web/guard.h"

#include <algorithm>
#include <array>
#include <string>

#include "kron/base/text.h"
#include "kron/http/cross_site.h"

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
  constexpr std::string_view kToken = "authorization";
  if (std::ranges::count(head.headers, kToken, &http::Fields::value_type::first) > 1) {
    return http::problem(400, "the header authorization is there twice");
  }
  const std::string_view token = head.header(kToken).value_or("");
  if (std::ranges::any_of(token, [](char c) { return static_cast<unsigned char>(c) > '~'; })) {
    return http::problem(400, "the header authorization has bytes that no token has");
  }
  if (auto no = http::refusal_of_other_origin(head, "http")) return no;
  return asked == Asked::page ? std::nullopt : http::refusal_of_other_site(head);
}

std::optional<std::string_view> bearer_of(const http::Request& head) {
  constexpr std::string_view kScheme = "bearer ";
  const auto value = head.header("authorization");
  if (!value || !equals_ignoring_case(value->substr(0, kScheme.size()), kScheme)) return std::nullopt;
  return value->substr(kScheme.size());
}

}  // namespace kron::web
