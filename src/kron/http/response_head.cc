#include "kron/http/response_head.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "kron/http/characters.h"

namespace kron::http {
namespace {

void add_field(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ");
  std::ranges::replace_copy_if(value, std::back_inserter(head), is_control, ' ');
  head.append("\r\n");
}

}  // namespace

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

std::string response_head(const Response& response, BodyEnd body_end, bool closes) {
  std::string head = "HTTP/1.1 " + std::to_string(response.status);
  head.append(" ").append(reason_of(response.status)).append("\r\n");
  if (!response.content_type.empty() && has_body(response.status)) {
    add_field(head, "Content-Type", response.content_type);
  }
  for (const auto& [name, value] : response.headers) add_field(head, name, value);
  if (body_end == BodyEnd::by_chunks) {
    head.append("Transfer-Encoding: chunked\r\n");
  } else if (body_end == BodyEnd::by_length && has_body(response.status)) {
    add_field(head, "Content-Length", std::to_string(response.body.size()));
  }
  if (closes) head.append("Connection: close\r\n");
  return head.append("\r\n");
}

std::string chunk_of(std::string_view bytes, bool is_last) {
  std::string chunk;
  if (!bytes.empty()) {
    std::array<char, 16> size{};
    const auto [end, error] = std::to_chars(size.data(), size.data() + size.size(), bytes.size(), 16);
    chunk.reserve(bytes.size() + size.size() + 16);
    chunk.append(size.data(), end).append("\r\n").append(bytes).append("\r\n");
  }
  if (is_last) chunk.append("0\r\n\r\n");
  return chunk;
}

}  // namespace kron::http
