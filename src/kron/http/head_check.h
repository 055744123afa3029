#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "kron/http/limits.h"

namespace kron::http {

// Why a request is not served, and the connection closed after saying so.
struct Refusal {
  int status = 400;
  std::string detail;
};

// Looks at the bytes of a request up to the empty line behind its headers, line by line as they come, and refuses what
// a lenient parser would repair or overlook and two parsers could read differently: bare CR or LF, control characters,
// folded lines, spaces around a header's name, a missing or repeated Host, anything but one plain length for the body.
// A request that can no longer become right is refused before its end is there.
class HeadCheck {
 public:
  explicit HeadCheck(const Limits& limits) : limits_(limits) {}

  // `bytes` is the request from its first byte: what the last call saw, and what came since.
  std::optional<Refusal> look(std::string_view bytes);

  // Bytes of the head, with the empty line; 0 until that is there.
  std::size_t size() const { return size_; }
  bool is_http_1_1() const { return is_http_1_1_; }  // else HTTP/1.0

 private:
  std::optional<Refusal> look_at_line(std::string_view line);
  std::optional<Refusal> look_at_request_line(std::string_view line);
  std::optional<Refusal> look_at_field(std::string_view line);
  std::optional<Refusal> look_at_meaning(std::string_view name, std::string_view value);
  std::optional<Refusal> look_at_whole() const;
  std::size_t longest_request_line() const;
  Refusal target_too_long() const;

  const Limits& limits_;
  std::size_t size_ = 0;
  std::size_t line_start_ = 0;
  std::size_t looked_ = 0;
  std::size_t fields_ = 0;
  bool is_http_1_1_ = false;
  bool has_request_line_ = false;
  bool has_host_ = false;
  bool has_length_ = false;
  bool has_coding_ = false;
};

}  // namespace kron::http
