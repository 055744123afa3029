#include "kron/cluster/json_spans.h"

#include <algorithm>

namespace kron::cluster {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::size_t past_blanks(std::string_view json, std::size_t at) {
  return std::min(json.find_first_not_of(kBlanks, at), json.size());
}

// After the text whose opening quote is at `at`.
std::size_t past_text(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return std::min(at + 1, json.size());
}

// After the value that begins at `at`. Brackets need not be told apart: the document is known to be well-formed.
std::size_t past_value(std::string_view json, std::size_t at) {
  if (json[at] == '"') return past_text(json, at);
  if (json[at] != '{' && json[at] != '[') return std::min(json.find_first_of(" \t\r\n,]}", at), json.size());
  std::size_t depth = 0;
  while (at < json.size()) {
    const char c = json[at];
    if (c == '"') {
      at = past_text(json, at);
      continue;
    }
    ++at;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) break;
  }
  return at;
}

// Whole numbers that may not fit into 64 bits as reals of the same length, so that all stays in its place; nothing when
// there are none. 12345678901234567890 becomes 123456789012345678e2.
std::optional<std::string> with_reals(std::string_view text) {
  constexpr std::size_t kMostDigits = 18;
  std::optional<std::string> changed;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = past_text(text, at);
      continue;
    }
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    const bool is_whole = end == text.size() || (text[end] != '.' && text[end] != 'e' && text[end] != 'E');
    const bool is_begin = at == 0 || std::string_view(".eE+").find(text[at - 1]) == std::string_view::npos;
    if (end - at > kMostDigits && is_whole && is_begin) {
      if (!changed) changed = std::string(text);
      changed->replace(end - 2, 2, "e2");
    }
    at = std::max(end, at + 1);
  }
  return changed;
}

std::string decoded(std::string_view quoted_text) {
  const Result<Node> node = parse_json(quoted_text);
  const auto* text = node ? node->as<std::string>() : nullptr;
  return text != nullptr ? *text : std::string();
}

}  // namespace

Result<Node> parse_foreign_json(std::string_view text) {
  const Result<Node> node = parse_json(text);
  if (node) return node;
  const std::optional<std::string> other = with_reals(text);
  return other ? parse_json(*other) : node;
}

const MemberSpan* ObjectSpan::find(std::string_view key) const {
  const auto found = std::ranges::find(members, key, &MemberSpan::key);
  return found != members.end() ? &*found : nullptr;
}

std::optional<ObjectSpan> object_at(std::string_view json, std::size_t at) {
  if (at == 0 && json.starts_with(kByteOrderMark)) at = kByteOrderMark.size();
  at = past_blanks(json, at);
  if (at == json.size() || json[at] != '{') return std::nullopt;
  ObjectSpan object{.begin = at, .end = json.size(), .members = {}};
  at = past_blanks(json, at + 1);
  while (at < json.size() && json[at] == '"') {
    MemberSpan member;
    member.key_begin = at;
    at = past_text(json, at);
    member.key = decoded(json.substr(member.key_begin, at - member.key_begin));
    at = past_blanks(json, at);                              // at the colon
    at = at < json.size() ? past_blanks(json, at + 1) : at;  // at the value
    if (at == json.size()) return std::nullopt;
    member.value_begin = at;
    member.value_end = at = past_value(json, at);
    object.members.push_back(std::move(member));
    at = past_blanks(json, at);
    if (at < json.size() && json[at] == ',') at = past_blanks(json, at + 1);
  }
  if (at == json.size() || json[at] != '}') return std::nullopt;
  object.end = at + 1;
  return object;
}

}  // namespace kron::cluster
