#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/text.h"
#include "kron/http/multipart.h"
#include "kron/http/request_reader.h"
#include "kron/http/response_reader.h"
#include "kron/json/document.h"

namespace {

using kron::http::Request;
using kron::http::RequestReader;
using kron::http::Response;
using Stage = RequestReader::Stage;

constexpr std::size_t kBodyLimit = 4096;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const Request& request) {
  require(request.target.starts_with('/'));
  require(request.body.size() <= kBodyLimit);
  for (const std::string& segment : request.segments) {
    require(kron::is_valid_utf8(segment) && segment.find('\0') == std::string::npos && segment != "..");
  }
  for (const auto& [name, value] : request.headers) {
    require(!name.empty() && name.find_first_of(" \t\r\n:") == std::string::npos);
    require(value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
  }
}

// What a connection would make of the bytes when they come in pieces of that size: each request, then the refusal.
std::vector<std::string> read_in_pieces(std::string_view bytes, std::size_t piece) {
  static const kron::http::Limits limits;
  static const RequestReader::BodyLimit body_limit = [](const Request&) { return kBodyLimit; };
  RequestReader reader(limits, body_limit);
  std::vector<std::string> seen;
  while (!bytes.empty()) {
    const auto room = reader.room();
    require(!room.empty());
    const std::size_t size = std::min({room.size(), bytes.size(), piece});
    std::copy_n(bytes.data(), size, room.data());
    bytes.remove_prefix(size);
    Stage stage = reader.received(size);
    while (stage == Stage::complete) {
      const Request request = reader.take();
      check(request);
      seen.push_back(request.method + " " + request.target + "\n" + request.body);
      if (const auto type = request.header("content-type")) (void)kron::http::parse_multipart(*type, request.body);
      stage = reader.next();
    }
    if (stage == Stage::refused) {
      require(kron::parse_json(reader.refusal().body).has_value());
      seen.push_back(std::to_string(reader.refusal().status));
      break;
    }
  }
  return seen;
}

}  // namespace

// However the bytes are cut, they are the same requests, and the same refusal ends them. The multipart reader and the
// client's reader of answers see the bytes too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = read_in_pieces(bytes, bytes.size());
  require(read_in_pieces(bytes, 1) == whole);
  require(read_in_pieces(bytes, 13) == whole);

  (void)kron::http::parse_multipart("multipart/form-data; boundary=B", bytes);
  kron::http::ResponseReader answer(true, kBodyLimit);
  if (answer.received(bytes)) (void)answer.closed();
  return 0;
}
