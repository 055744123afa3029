#pragma once

#include <cstdint>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/result.h"

namespace kron {

enum class WindowMode : std::uint8_t { after, before, around };
std::string_view name_of(WindowMode mode);
Result<WindowMode> parse_window_mode(std::string_view text);  // accepts the alias `center`

struct WindowSpec {
  WindowMode mode = WindowMode::after;
  Nanoseconds duration{0};

  bool operator==(const WindowSpec&) const = default;
};

// Both ends are inclusive.
struct Window {
  Instant start;
  Instant end;

  bool operator==(const Window&) const = default;
};
Window window_of(const WindowSpec& spec, Instant nominal);

}  // namespace kron
