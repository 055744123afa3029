#include "kron/http/cross_site.h"

#include <algorithm>
#include <string>

#include "kron/base/text.h"

namespace kron::http {
namespace {

std::optional<Response> refusal_of_two(const Request& head, std::string_view name) {
  if (std::ranges::count(head.headers, name, &Fields::value_type::first) < 2) return std::nullopt;
  return problem(400, "the header " + std::string(name) + " is there twice");
}

}  // namespace

std::optional<Response> refusal_of_other_origin(const Request& head, std::string_view scheme) {
  if (auto no = refusal_of_two(head, "origin")) return no;
  const auto origin = head.header("origin");
  if (!origin) return std::nullopt;
  constexpr std::string_view kMark = "://";
  const std::size_t mark = origin->find(kMark);
  const std::string_view host = head.header("host").value_or("");
  if (mark != std::string_view::npos && mark > 0 && !host.empty() &&
      (scheme.empty() || equals_ignoring_case(origin->substr(0, mark), scheme)) &&
      equals_ignoring_case(origin->substr(mark + kMark.size()), host)) {
    return std::nullopt;
  }
  return problem({Code::refused, "the request comes from another origin"});
}

std::optional<Response> refusal_of_other_site(const Request& head) {
  if (auto no = refusal_of_two(head, "sec-fetch-site")) return no;
  const std::string_view site = head.header("sec-fetch-site").value_or("none");
  if (site == "same-origin" || site == "none") return std::nullopt;
  return problem({Code::refused, "the request comes from another site"});
}

}  // namespace kron::http
