#include <algorithm>
#include <array>
#include <cstdio>

#include "kron/base/text.h"
#include "kron/jobs/model.h"
#include "kron/jobs/yaml.h"

namespace kron::jobs {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// 3h, 1h30m, 512M: no YAML reader takes these for a number.
bool is_quantity(std::string_view text) {
  constexpr std::string_view kUnits = "wdhmsunkMGT";
  return is_digit(text.front()) && kUnits.find(text.back()) != std::string_view::npos &&
         std::ranges::all_of(text, [&](char c) { return is_digit(c) || kUnits.find(c) != std::string_view::npos; });
}

// Texts that every YAML reader, also one of version 1.1, takes for themselves without quotes.
bool is_plain_scalar(std::string_view text) {
  constexpr auto kReserved =
      std::to_array<std::string_view>({"true", "false", "yes", "no", "on", "off", "null", "y", "n"});
  if (text.empty()) return false;
  if (is_quantity(text)) return true;
  if (!is_letter(text.front()) && text.front() != '/') return false;
  if (text.back() == ' ') return false;
  if (std::ranges::any_of(kReserved, [&](std::string_view word) { return equals_ignoring_case(word, text); })) {
    return false;
  }
  return std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view(" _./,+=@%()-").find(c) != std::string_view::npos;
  });
}

std::string double_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if ((c >= 0 && c < 0x20) || c == 0x7F) {
      std::array<char, 5> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\x%02x", static_cast<unsigned char>(c));
      result += escaped.data();
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string scalar(const Node& node) {
  if (const auto* text = node.as<std::string>()) return is_plain_scalar(*text) ? *text : double_quoted(*text);
  return word_of(node).value_or("null");
}

void write(const Node& node, std::size_t indent, std::string& out);

// ` value` on the same line, or the nested block on the following ones.
void write_after_key(const Node& value, std::size_t indent, std::string& out) {
  const auto* map = value.as<Node::Map>();
  const auto* list = value.as<Node::List>();
  if ((map != nullptr && map->empty()) || (list != nullptr && list->empty())) {
    out += map != nullptr ? " {}\n" : " []\n";
  } else if (map != nullptr || list != nullptr) {
    out += '\n';
    write(value, indent + 2, out);
  } else {
    out += ' ' + scalar(value) + '\n';
  }
}

void write_members(const Node::Map& map, std::size_t indent, bool first_is_placed, std::string& out) {
  for (const Node::Member& member : map) {
    if (!first_is_placed) out.append(indent, ' ');
    first_is_placed = false;
    out += (is_plain_scalar(member.key) ? member.key : double_quoted(member.key)) + ':';
    write_after_key(member.value, indent, out);
  }
}

void write(const Node& node, std::size_t indent, std::string& out) {
  if (const auto* map = node.as<Node::Map>()) return write_members(*map, indent, false, out);
  for (const Node& item : *node.as<Node::List>()) {
    out.append(indent, ' ');
    out += '-';
    const auto* map = item.as<Node::Map>();
    if (map != nullptr && !map->empty()) {
      out += ' ';
      write_members(*map, indent + 2, true, out);
    } else {
      write_after_key(item, indent, out);
    }
  }
}

}  // namespace

std::string yaml_text(const Node& node) {
  std::string out;
  write(node, 0, out);
  return out;
}

}  // namespace kron::jobs
