#pragma once

#include <optional>
#include <string_view>

#include "kron/http/message.h"

// What a request shows to be let in.
namespace kron::http {

// The answer to one that two readers could understand differently: 400 when Authorization is there twice, or it, a
// cookie or X-Kron-CSRF holds bytes beyond ASCII. Control characters were refused before.
std::optional<Response> refusal_of_credentials(const Request& head);

// The token in `Authorization: Bearer …`; nothing without one. A view into the request.
std::optional<std::string_view> bearer_of(const Request& head);

// The value of a cookie; nothing without one, or when it is there twice.
std::optional<std::string_view> cookie_of(const Request& head, std::string_view name);

// The one answer to all who are not let in, whatever the reason.
Response unauthorized();

}  // namespace kron::http
