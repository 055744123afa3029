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

}  // namespace

std::string without_blanks(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    const bool is_text = json[at] == '"';
    const std::size_t end = is_text ? end_of_text(json, at) : at + 1;
    const bool is_blank = json[at] == ' ' || json[at] == '\t' || json[at] == '\n' || json[at] == '\r';
    if (!is_blank) result.append(json.substr(at, end - at));
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
    if (depth == 0 && (closes || c == ',')) break;  // the end of a number or a word
    ++at;
    if (closes && --depth == 0) break;
  }
  return json.substr(offset, at - offset);
}

}  // namespace kron
