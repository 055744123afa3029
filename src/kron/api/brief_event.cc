#include "kron/api/brief_event.h"

#include <algorithm>
#include <array>

namespace kron::api {
namespace {

constexpr std::array<std::string_view, 2> kLeftOut{"decision", "seedHash"};
constexpr std::string_view kData = "\ndata: ";

// Behind the text that begins here with its quote; npos: it does not end.
std::size_t text_end(std::string_view json, std::size_t at) {
  for (++at; at < json.size(); ++at) {
    if (json[at] == '\\') {
      ++at;
    } else if (json[at] == '"') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

// Behind the value that begins here: at the comma or the brace of the map that holds it; npos: it does not end.
std::size_t value_end(std::string_view json, std::size_t at) {
  int depth = 0;
  while (at < json.size()) {
    const char c = json[at];
    if (c == '"') {
      at = text_end(json, at);
      if (at == std::string_view::npos) break;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}')) return at;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
  }
  return std::string_view::npos;
}

// Compact JSON, as the log writes it. A look at each character is all that this takes: it is done for each reader.
std::string brief_json(std::string_view json) {
  if (!json.starts_with('{')) return std::string(json);
  std::string brief = "{";
  for (std::size_t at = 1; at < json.size() && json[at] == '"';) {
    const std::size_t colon = text_end(json, at);
    if (colon >= json.size() || json[colon] != ':') return std::string(json);
    const std::size_t end = value_end(json, colon + 1);
    if (end == std::string_view::npos) return std::string(json);
    const std::string_view key = json.substr(at + 1, colon - at - 2);
    if (std::ranges::find(kLeftOut, key) == kLeftOut.end()) {
      if (brief.size() > 1) brief += ',';
      brief += json.substr(at, end - at);
    }
    if (json[end] == '}') return brief.append(json.substr(end));
    at = end + 1;
  }
  return std::string(json);
}

}  // namespace

std::string brief_event_text(std::string_view text) {
  const std::size_t data = text.find(kData);
  if (data == std::string_view::npos) return std::string(text);
  const std::size_t start = data + kData.size();
  const std::size_t end = std::min(text.find('\n', start), text.size());
  std::string brief(text.substr(0, start));
  return brief.append(brief_json(text.substr(start, end - start))).append(text.substr(end));
}

}  // namespace kron::api
