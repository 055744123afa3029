#include "kron/queue/opaque_json.h"

#include <algorithm>

namespace kron {
namespace {

// The position after the text that begins with the quote at `at`.
std::size_t end_of_text(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return std::min(at + 1, json.size());
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

std::string without_blanks(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    const bool is_text = json[at] == '"';
    const std::size_t end = is_text ? end_of_text(json, at) : at + 1;
    if (!is_blank(json[at])) result.append(json.substr(at, end - at));
    at = end;
  }
  return result;
}

std::string_view value_at(std::string_view json, std::size_t offset) {
  std::size_t depth = 0;
  std::size_t at = offset;
  while (at < json.size()) {
    const char c = json[at];
    if (c == '"') {
      at = end_of_text(json, at);
      if (depth == 0) break;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    const bool closes = c == '}' || c == ']';
    if (depth == 0 && (closes || c == ',' || is_blank(c))) break;  // the end of a number or a word
    ++at;
    if (closes && --depth == 0) break;
  }
  return json.substr(offset, at - offset);
}

std::size_t depth_of(std::string_view json) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if (c == '}' || c == ']') --depth;
    at = c == '"' ? end_of_text(json, at) : at + 1;
  }
  return deepest;
}

JsonSource::JsonSource(std::string_view text)
    : text_(text), first_line_(text.starts_with("\xEF\xBB\xBF") ? 3 : 0), line_start_(first_line_) {}

std::string_view JsonSource::text_of(const Node& node) {
  const Position position = node.position();
  if (position.line < line_) {
    line_ = 1;
    line_start_ = first_line_;
  }
  for (; line_ < position.line; ++line_) line_start_ = text_.find('\n', line_start_) + 1;
  return value_at(text_, line_start_ + position.column - 1);
}

}  // namespace kron
