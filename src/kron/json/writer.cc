#include "kron/json/writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "kron/base/text.h"

namespace kron {
namespace {

// Whether a char is signed differs between machines, so bytes are compared as unsigned.
bool is_plain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

// Most texts are nothing but these: no need to look at them as UTF-8.
bool is_plain_ascii(char c) { return is_plain(c) && static_cast<unsigned char>(c) < 0x80; }

void put_escaped(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      out += "\\u00";
      out += kDigits[static_cast<unsigned char>(c) >> 4];
      out += kDigits[static_cast<unsigned char>(c) & 15];
  }
}

// Every byte that is part of no character becomes U+FFFD.
std::string repaired(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    std::size_t length = 1;
    while (length <= 4 && length <= text.size() && !is_valid_utf8(text.substr(0, length))) ++length;
    const bool valid = length <= 4 && length <= text.size();
    result += valid ? text.substr(0, length) : "\xEF\xBF\xBD";
    text.remove_prefix(valid ? length : 1);
  }
  return result;
}

template <class Number>
void put_number(std::string& out, Number value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  out.append(text.data(), end);
}

}  // namespace

// A value ends in a quote, a digit, a letter or a closing bracket, so what stands last tells whether a comma is due.
void JsonWriter::separate() {
  if (out_.empty()) return;
  const char last = out_.back();
  if (last != '{' && last != '[' && last != ':') out_ += ',';
}

void JsonWriter::quote(std::string_view value) {
  out_ += '"';
  while (!value.empty()) {
    const auto plain = static_cast<std::size_t>(std::ranges::find_if_not(value, is_plain) - value.begin());
    out_ += value.substr(0, plain);
    value.remove_prefix(plain);
    if (value.empty()) break;
    put_escaped(out_, value.front());
    value.remove_prefix(1);
  }
  out_ += '"';
}

JsonWriter& JsonWriter::begin_map() {
  separate();
  out_ += '{';
  return *this;
}

JsonWriter& JsonWriter::end_map() {
  out_ += '}';
  return *this;
}

JsonWriter& JsonWriter::begin_list() {
  separate();
  out_ += '[';
  return *this;
}

JsonWriter& JsonWriter::end_list() {
  out_ += ']';
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  text(name);
  out_ += ':';
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  if (std::ranges::all_of(value, is_plain_ascii)) {
    const std::size_t begin = out_.size();
    out_.append(value.size() + 2, '"');
    value.copy(out_.data() + begin + 1, value.size());
  } else if (is_valid_utf8(value)) {
    quote(value);
  } else {
    quote(repaired(value));
  }
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t value) {
  separate();
  put_number(out_, value);
  return *this;
}

JsonWriter& JsonWriter::real(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  put_number(out_, value);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  out_ += "null";
  return *this;
}

JsonWriter& JsonWriter::document(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::node(const Node& value) {
  if (const auto* boolean_value = value.as<bool>()) return boolean(*boolean_value);
  if (const auto* integer_value = value.as<std::int64_t>()) return integer(*integer_value);
  if (const auto* real_value = value.as<double>()) return real(*real_value);
  if (const auto* text_value = value.as<std::string>()) return text(*text_value);
  if (const auto* list = value.as<Node::List>()) {
    begin_list();
    for (const Node& item : *list) node(item);
    return end_list();
  }
  if (const auto* map = value.as<Node::Map>()) {
    begin_map();
    for (const Node::Member& member : *map) key(member.key).node(member.value);
    return end_map();
  }
  return null();
}

}  // namespace kron
