#include "kron/json/raw_members.h"

#include <cstddef>

namespace kron {
namespace {

// Behind the text that begins at `at` with a quote; npos: it does not end.
std::size_t end_of_text(std::string_view json, std::size_t at) {
  for (++at; at < json.size(); ++at) {
    if (json[at] == '\\') {
      ++at;
    } else if (json[at] == '"') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

// Behind the value that begins at `at`, which is the comma or the bracket that follows it; npos: it does not end.
std::size_t end_of_value(std::string_view json, std::size_t at) {
  for (int depth = 0; at < json.size();) {
    const char c = json[at];
    if (c == '"') {
      at = end_of_text(json, at);
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) return at;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<RawMember> raw_members(std::string_view json) {
  std::vector<RawMember> members;
  if (!json.starts_with("{\"")) return members;
  for (std::size_t begin = 1;; ++begin) {
    if (begin >= json.size() || json[begin] != '"') return {};
    const std::size_t colon = end_of_text(json, begin);
    if (colon >= json.size() || json[colon] != ':') return {};
    const std::size_t end = end_of_value(json, colon + 1);
    if (end >= json.size() || end == colon + 1) return {};
    members.push_back({json.substr(begin + 1, colon - begin - 2), json.substr(colon + 1, end - colon - 1),
                       json.substr(begin, end - begin)});
    if (json[end] != ',') return end + 1 == json.size() && json[end] == '}' ? members : std::vector<RawMember>();
    begin = end;
  }
}

}  // namespace kron
