#pragma once

#include <string>
#include <string_view>

#include "kron/base/instant.h"

namespace kron {

// Content lines of iCalendar (RFC 5545): each ends with CRLF, and none has more than 75 octets before it. What is
// longer is folded, never inside a character.
class IcsWriter {
 public:
  static constexpr std::size_t kMostOctets = 75;

  // `name` with its parameters, and a value that needs no escapes.
  IcsWriter& line(std::string_view name, std::string_view value);
  // A TEXT: escaped. Control characters, which no TEXT may have, are left out, but for the line feed.
  IcsWriter& text(std::string_view name, std::string_view value);

  std::string take() { return std::move(lines_); }

 private:
  std::string lines_;
};

std::string ics_time(Instant t);  // 20260301T023220Z
std::string ics_date(Instant t);  // 20260301, of UTC

}  // namespace kron
