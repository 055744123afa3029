#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"
#include "kron/http/message.h"

namespace kron::http {

struct Target {
  std::vector<std::string> segments;
  Fields query;
};

// A request target in origin form: `/path?query`. Refused with code invalid: any other form, a fragment, bytes that do
// not belong into a URI, a broken percent escape, what decodes to NUL or to invalid UTF-8, and a segment that is `.` or
// `..` however it is spelled. An encoded slash is a part of its segment; `+` in a query is a space. An empty segment is
// kept, so that `/jobs/` is not `/jobs`; `/` alone has no segments.
Result<Target> parse_target(std::string_view target);

// Text as one segment of a path, or as one name or value of a query: all but unreserved characters escaped.
std::string percent_encoded(std::string_view text);

}  // namespace kron::http
