#include "kron/http/request_message.h"

#include <algorithm>

#include "kron/base/text.h"
#include "kron/http/characters.h"

namespace kron::http {
namespace {

bool is_plain(std::string_view text) { return std::ranges::none_of(text, is_control); }

}  // namespace

Result<std::string> request_message(std::string_view method, std::string_view target, std::string_view body,
                                    const Fields& headers, std::string_view host) {
  if (!is_plain(target) || target.find(' ') != std::string_view::npos) {
    return fail(Code::invalid, "the target " + quoted(target) + " is not percent-encoded");
  }
  std::string message(method);
  message.append(" ").append(target).append(" HTTP/1.1\r\nHost: ").append(host).append("\r\n");
  bool names_type = body.empty();
  for (const auto& [name, value] : headers) {
    if (!is_plain(name) || !is_plain(value))
      return fail(Code::invalid, "a control character in the header " + quoted(name));
    message.append(name).append(": ").append(value).append("\r\n");
    names_type = names_type || equals_ignoring_case(name, "content-type");
  }
  if (!names_type) message.append("Content-Type: application/json\r\n");
  if (!body.empty() || (method != "GET" && method != "HEAD")) {
    message.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  }
  return message.append("\r\n").append(body);
}

}  // namespace kron::http
