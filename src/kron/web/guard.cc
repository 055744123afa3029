#include "kron/web/guard.h"

#include "kron/http/credentials.h"
#include "kron/http/cross_site.h"

namespace kron::web {

std::optional<http::Response> refusal_of_origin(const http::Request& head, Asked asked, const Site& site) {
  const std::string_view scheme = site.scheme_of(head.header("host").value_or(""));
  if (scheme.empty()) {
    return http::problem(421, site.names.empty()
                                  ? "this is served as localhost, 127.0.0.1 or [::1] only; use one of these names"
                                  : "this is served by the name of its --public-url only; use that");
  }
  if (auto no = http::refusal_of_credentials(head)) return no;
  if (auto no = http::refusal_of_other_origin(head, scheme)) return no;
  return asked == Asked::page ? std::nullopt : http::refusal_of_other_site(head);
}

}  // namespace kron::web
