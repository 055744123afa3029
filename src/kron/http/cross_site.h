#pragma once

#include <optional>
#include <string_view>

#include "kron/http/message.h"

// What pages of other sites have a browser send. What is no browser sends none of these headers.
namespace kron::http {

// The answer to a request whose Origin is another host or port than its Host, or none at all ("null"): 403. 400 when
// the header is there twice. `scheme`, as "http", must be that of Origin too; empty: any, because only who terminates
// TLS knows which one was used.
std::optional<Response> refusal_of_other_origin(const Request& head, std::string_view scheme = {});

// The answer to a request of which Sec-Fetch-Site does not say that it is the page's own, or the user's: 403, or 400.
std::optional<Response> refusal_of_other_site(const Request& head);

}  // namespace kron::http
