#include "kron/base/duration.h"

#include <array>
#include <cstdint>
#include <limits>

#include "kron/base/text.h"

namespace kron {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

// Longest spelling first among those that share a first letter, so that `ms` is not read as `m`.
constexpr std::array kUnits{
    Unit{"w", 604'800'000'000'000},
    Unit{"d", 86'400'000'000'000},
    Unit{"h", 3'600'000'000'000},
    Unit{"ms", 1'000'000},
    Unit{"m", 60'000'000'000},
    Unit{"s", 1'000'000'000},
    Unit{"us", 1'000},
    Unit{"\xC2\xB5s", 1'000},
    Unit{"ns", 1},
};

constexpr std::string_view kExpected = "a duration such as 90s, 1h30m, 1.5h, 500ms or 2d";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

const Unit* unit_at(std::string_view text) {
  for (const Unit& unit : kUnits) {
    if (text.starts_with(unit.name)) return &unit;
  }
  return nullptr;
}

// 128-bit so that `0.000000001w` and other small fractions are exact.
__extension__ using Wide = unsigned __int128;

}  // namespace

Result<Nanoseconds> parse_duration(std::string_view text) {
  const auto bad = [](const std::string& problem, std::size_t at) {
    return fail(Code::invalid, problem + "; expected " + std::string(kExpected), "", at + 1);
  };
  if (text == "0") return Nanoseconds(0);
  if (text.empty()) return bad("empty duration", 0);
  if (text.front() == '-') return bad("a duration cannot be negative", 0);
  constexpr Wide kMost = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
  Wide total = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t start = at;
    Wide digits = 0;
    Wide scale = 1;
    bool any = false;
    bool in_fraction = false;
    for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !in_fraction)); ++at) {
      if (text[at] == '.') {
        in_fraction = true;
        continue;
      }
      any = true;
      if (digits > kMost || scale > kMost) return bad("number too large or too long", start);
      digits = digits * 10 + static_cast<Wide>(text[at] - '0');
      if (in_fraction) scale *= 10;
    }
    if (!any) return bad("a number was expected at " + quoted(text.substr(start), 10), start);
    const Unit* unit = unit_at(text.substr(at));
    if (unit == nullptr) {
      return bad(at == text.size() ? "the unit is missing" : "unknown unit " + quoted(text.substr(at), 10), at);
    }
    at += unit->name.size();
    if (digits > kMost) return bad("number too large", start);
    const Wide scaled = digits * static_cast<Wide>(unit->nanoseconds);
    if (scaled % scale != 0) return bad("finer than a nanosecond", start);
    total += scaled / scale;
    if (total > kMost) return bad("longer than 292 years", start);
  }
  return Nanoseconds(static_cast<std::int64_t>(total));
}

Result<Seconds> parse_whole_seconds(std::string_view text) {
  const Result<Nanoseconds> duration = parse_duration(text);
  if (!duration) return fail(duration.error());
  const Seconds seconds = std::chrono::duration_cast<Seconds>(*duration);
  if (seconds != *duration) {
    return fail(Code::invalid, quoted(text) + " is not a whole number of seconds; write it without a fraction", "", 1);
  }
  return seconds;
}

std::string duration_text(Nanoseconds duration) {
  if (duration.count() == 0) return "0s";
  std::string text;
  auto rest = static_cast<std::uint64_t>(duration.count());
  for (const Unit& unit : {kUnits[0], kUnits[1], kUnits[2], kUnits[4], kUnits[5], kUnits[3], kUnits[6], kUnits[8]}) {
    const auto size = static_cast<std::uint64_t>(unit.nanoseconds);
    if (rest < size) continue;
    text += std::to_string(rest / size);
    text += unit.name;
    rest %= size;
  }
  return text;
}

}  // namespace kron
