#include "kron/forecast/ics_text.h"

#include <algorithm>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"

namespace kron {
namespace {

std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7F) continue;
    if (c == '\\' || c == ';' || c == ',') text += '\\';
    text += c;
  }
  return text;
}

}  // namespace

IcsWriter& IcsWriter::line(std::string_view name, std::string_view value) {
  std::string whole(name);
  whole.append(":").append(value);
  std::string_view rest = whole;
  std::size_t octets = 0;
  while (!rest.empty()) {
    // A byte that begins no character is one by itself.
    const std::size_t size = std::max<std::size_t>(1, utf8_length(rest));
    if (octets + size > kMostOctets) {
      lines_ += "\r\n ";
      octets = 1;
    }
    lines_.append(rest.substr(0, size));
    octets += size;
    rest.remove_prefix(size);
  }
  lines_ += "\r\n";
  return *this;
}

IcsWriter& IcsWriter::text(std::string_view name, std::string_view value) { return line(name, escaped(value)); }

std::string ics_time(Instant t) {
  std::string text = rfc3339(t);
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

std::string ics_date(Instant t) { return ics_time(t).substr(0, 8); }

}  // namespace kron
