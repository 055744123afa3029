#include "kron/core/window.h"

#include <array>

#include "kron/core/words.h"

namespace kron {
namespace {

constexpr std::array kModes{
    Word<WindowMode>{WindowMode::after, "after"},
    Word<WindowMode>{WindowMode::before, "before"},
    Word<WindowMode>{WindowMode::around, "around"},
    Word<WindowMode>{WindowMode::around, "center"},
};

}  // namespace

std::string_view name_of(WindowMode mode) { return word_of(mode, kModes); }

Result<WindowMode> parse_window_mode(std::string_view text) { return parse_word(text, kModes, "window mode", "mode"); }

// The nominal time is a whole second, so flooring start and end is rounding their distances from it: away from it
// before, towards it after. Working on the distances keeps 292 years of nanoseconds from overflowing.
Window window_of(const WindowSpec& spec, Instant nominal) {
  const Nanoseconds before = spec.mode == WindowMode::after    ? Nanoseconds(0)
                             : spec.mode == WindowMode::before ? spec.duration
                                                               : spec.duration / 2;
  const Nanoseconds after = spec.duration - before;
  return {nominal - std::chrono::ceil<Seconds>(before), nominal + std::chrono::floor<Seconds>(after)};
}

}  // namespace kron
