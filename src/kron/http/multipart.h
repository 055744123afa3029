#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"

namespace kron::http {

// One part of a multipart/form-data body.
struct Part {
  std::string name;
  std::string content_type = {};  // empty when the part does not say
  std::string filename = {};      // empty when it has none
  std::string bytes = {};

  bool operator==(const Part&) const = default;
};

// Strict: the boundary that `content_type` names, CRLF line ends, at most 16 parts, each with a name, no name twice,
// and nothing before the first or after the last. Refused with code invalid; the error's field is the part's name when
// it has one.
Result<std::vector<Part>> parse_multipart(std::string_view content_type, std::string_view body);

struct MultipartBody {
  std::string content_type;  // for the header: with the boundary
  std::string bytes;
};

// What parse_multipart reads back. Names, types and filenames hold no quotes, backslashes or control characters.
MultipartBody multipart_body(std::span<const Part> parts);

}  // namespace kron::http
