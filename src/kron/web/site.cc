#include "kron/web/site.h"

#include <algorithm>
#include <array>

#include "kron/base/text.h"

namespace kron::web {
namespace {

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Without the port that the scheme means anyway.
std::string_view without_usual_port(std::string_view host, std::string_view scheme) {
  const std::string_view usual = scheme == "https" ? ":443" : ":80";
  return host.ends_with(usual) ? host.substr(0, host.size() - usual.size()) : host;
}

bool is_host(std::string_view host) {
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : std::string_view::npos;
  const std::size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const std::string_view name = host.substr(0, colon);
  const bool is_named = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '[' || c == ']' || c == ':';
  });
  return !name.empty() && name.size() <= 255 && is_named &&
         (colon == std::string_view::npos || is_port(host.substr(colon + 1)));
}

}  // namespace

bool is_this_machine(std::string_view host) {
  constexpr std::array<std::string_view, 3> kNames{"localhost", "127.0.0.1", "[::1]"};
  return std::ranges::any_of(kNames, [&](std::string_view name) {
    if (!equals_ignoring_case(host.substr(0, name.size()), name)) return false;
    const std::string_view rest = host.substr(name.size());
    return rest.empty() || (rest.front() == ':' && is_port(rest.substr(1)));
  });
}

std::string_view Site::scheme_of(std::string_view host) const {
  for (const Name& name : names) {
    if (equals_ignoring_case(without_usual_port(host, name.scheme), name.host)) return name.scheme;
  }
  return is_this_machine(host) ? std::string_view(scheme) : std::string_view();
}

Result<Site::Name> parse_public_url(std::string_view url) {
  const std::string text = lower(url.ends_with('/') ? url.substr(0, url.size() - 1) : url);
  const std::size_t mark = text.find("://");
  const std::string scheme = text.substr(0, mark == std::string::npos ? 0 : mark);
  const std::string host = mark == std::string::npos ? std::string() : text.substr(mark + 3);
  if ((scheme != "https" && scheme != "http") || !is_host(host)) {
    return fail(Code::invalid, quoted(url, 200) + " is no address of a site; write https://kron.example.org",
                "--public-url");
  }
  return Site::Name{scheme, std::string(without_usual_port(host, scheme))};
}

}  // namespace kron::web
