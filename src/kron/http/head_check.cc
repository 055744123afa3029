#include "kron/http/head_check.h"

#include <algorithm>
#include <utility>

#include "kron/base/text.h"
#include "kron/http/characters.h"

namespace kron::http {
namespace {

constexpr std::size_t kLongestMethod = 32;
// More digits than any body may have bytes, and few enough for 64 bits.
constexpr std::size_t kLongestLength = 18;

bool is_token_character(char c) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return is_alphanumeric(c) || kMarks.find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_token_character); }

Refusal bad(std::string detail) { return Refusal{400, std::move(detail)}; }

}  // namespace

std::optional<Refusal> HeadCheck::look(std::string_view bytes) {
  while (size_ == 0 && looked_ < bytes.size()) {
    const char c = bytes[looked_];
    if (c == '\r') {
      if (looked_ + 1 == bytes.size()) break;
      if (bytes[looked_ + 1] != '\n') return bad("a carriage return without a line feed in the head of the request");
      const std::string_view line = bytes.substr(line_start_, looked_ - line_start_);
      looked_ += 2;
      line_start_ = looked_;
      if (auto refusal = look_at_line(line)) return refusal;
    } else if (is_control(c) && c != '\t') {
      return bad("a control character, or a line that does not end with CRLF, in the head of the request");
    } else {
      ++looked_;
    }
  }
  const std::size_t head = size_ != 0 ? size_ : bytes.size();
  // A carriage return may be there already.
  if (!has_request_line_ && head > longest_request_line() + 1) return target_too_long();
  // As long as its end is missing, the head is at least one byte longer than what is there.
  if (size_ != 0 ? head > limits_.header_bytes : head >= limits_.header_bytes) {
    return Refusal{431, "the headers are longer than " + std::to_string(limits_.header_bytes) + " bytes"};
  }
  return std::nullopt;
}

std::optional<Refusal> HeadCheck::look_at_line(std::string_view line) {
  if (!has_request_line_) return look_at_request_line(line);
  if (!line.empty()) return look_at_field(line);
  size_ = line_start_;
  return look_at_whole();
}

std::size_t HeadCheck::longest_request_line() const {
  return kLongestMethod + limits_.target_bytes + std::string_view("  HTTP/1.1").size();
}

Refusal HeadCheck::target_too_long() const {
  return {414, "the target is longer than " + std::to_string(limits_.target_bytes) + " bytes"};
}

std::optional<Refusal> HeadCheck::look_at_request_line(std::string_view line) {
  if (line.size() > longest_request_line()) return target_too_long();
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return bad("the request does not start with a method, a target and HTTP/1.1");
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method) || method.size() > kLongestMethod) return bad("no method: " + quoted(method));
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return bad("not HTTP/1.1: " + quoted(version));
  if (target.size() > limits_.target_bytes) return target_too_long();
  is_http_1_1_ = version == "HTTP/1.1";
  has_request_line_ = true;
  return std::nullopt;
}

std::optional<Refusal> HeadCheck::look_at_field(std::string_view line) {
  if (++fields_ > limits_.header_count) {
    return Refusal{431, "more than " + std::to_string(limits_.header_count) + " headers"};
  }
  if (line.front() == ' ' || line.front() == '\t') return bad("a folded header: write it on one line");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return bad("no header: " + quoted(line.substr(0, colon)) + "; a name, a colon right behind it, a value");
  }
  return look_at_meaning(line.substr(0, colon), trimmed(line.substr(colon + 1)));
}

std::optional<Refusal> HeadCheck::look_at_meaning(std::string_view name, std::string_view value) {
  if (equals_ignoring_case(name, "host")) {
    if (std::exchange(has_host_, true)) return bad("more than one Host");
  } else if (equals_ignoring_case(name, "content-length")) {
    if (std::exchange(has_length_, true)) return bad("more than one Content-Length");
    if (value.empty() || value.size() > kLongestLength || !std::ranges::all_of(value, is_digit)) {
      return bad("no Content-Length: " + quoted(value));
    }
  } else if (equals_ignoring_case(name, "transfer-encoding")) {
    if (std::exchange(has_coding_, true)) return bad("more than one Transfer-Encoding");
    if (!is_http_1_1_) return bad("Transfer-Encoding in HTTP/1.0");
    if (!equals_ignoring_case(value, "chunked")) return Refusal{501, "of the transfer codings only chunked is known"};
  } else if (equals_ignoring_case(name, "expect") && !equals_ignoring_case(value, "100-continue")) {
    return Refusal{417, "of the expectations only 100-continue is known"};
  }
  return std::nullopt;
}

std::optional<Refusal> HeadCheck::look_at_whole() const {
  if (has_length_ && has_coding_) return bad("Content-Length together with Transfer-Encoding");
  if (is_http_1_1_ && !has_host_) return bad("HTTP/1.1 without Host");
  return std::nullopt;
}

}  // namespace kron::http
