#include "kron/http/credentials.h"

#include <algorithm>
#include <array>

#include "kron/base/text.h"

namespace kron::http {

std::optional<Response> refusal_of_credentials(const Request& head) {
  constexpr std::array<std::string_view, 3> kSecrets{"authorization", "cookie", "x-kron-csrf"};
  int tokens = 0;
  for (const auto& [name, value] : head.headers) {
    if (std::ranges::find(kSecrets, name) == kSecrets.end()) continue;
    if (name == "authorization" && ++tokens > 1) return problem(400, "the header authorization is there twice");
    if (std::ranges::any_of(value, [](char c) { return static_cast<unsigned char>(c) > '~'; })) {
      return problem(400, "the header " + name + " has bytes that no token has");
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> bearer_of(const Request& head) {
  constexpr std::string_view kScheme = "bearer ";
  const auto value = head.header("authorization");
  if (!value || !equals_ignoring_case(value->substr(0, kScheme.size()), kScheme)) return std::nullopt;
  return value->substr(kScheme.size());
}

std::optional<std::string_view> cookie_of(const Request& head, std::string_view name) {
  std::optional<std::string_view> found;
  for (const auto& [field, value] : head.headers) {
    if (field != "cookie") continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view pair = trimmed(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const std::size_t equals = pair.find('=');
      if (equals == std::string_view::npos || pair.substr(0, equals) != name) continue;
      if (found) return std::nullopt;
      found = pair.substr(equals + 1);
    }
  }
  return found;
}

Response unauthorized() {
  Response response = problem(401, "this needs a token, or a session, that is valid; see `kron token create`");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  response.headers.emplace_back("Cache-Control", "private, no-store");
  return response;
}

}  // namespace kron::http
