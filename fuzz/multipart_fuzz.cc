#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "kron/http/multipart.h"

namespace {

void require(bool good) {
  if (!good) std::abort();
}

// What multipart_body can write (see its comment), in a head that is not too long.
bool is_plain(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f || c == '"' || c == '\\';
  });
}

bool can_be_written(const kron::http::Part& part) {
  const bool is_short = part.name.size() + part.content_type.size() + part.filename.size() < 1000;
  return is_short && is_plain(part.name) && is_plain(part.content_type) && is_plain(part.filename);
}

}  // namespace

// The first line is the Content-Type, the rest the body. Whatever is accepted keeps the limits, and reads back the same
// when it is written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos) return 0;
  const auto parts = kron::http::parse_multipart(text.substr(0, line), text.substr(line + 1));
  if (!parts) {
    require(parts.error().code == kron::Code::invalid);
    return 0;
  }
  require(parts->size() <= 16);
  std::set<std::string> names;
  for (const kron::http::Part& part : *parts) require(!part.name.empty() && names.insert(part.name).second);
  if (!std::ranges::all_of(*parts, can_be_written)) return 0;
  const kron::http::MultipartBody written = kron::http::multipart_body(*parts);
  const auto again = kron::http::parse_multipart(written.content_type, written.bytes);
  require(again && *again == *parts);
  return 0;
}
