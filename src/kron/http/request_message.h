#pragma once

#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/http/message.h"

namespace kron::http {

// A request as it goes over the wire, to `host`. A body goes as application/json unless `headers` names another
// Content-Type. Code invalid: a target that is not percent-encoded, a control character in a header.
Result<std::string> request_message(std::string_view method, std::string_view target, std::string_view body,
                                    const Fields& headers, std::string_view host = "localhost");

}  // namespace kron::http
