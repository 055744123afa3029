#include "kron/jobs/shown_units.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "kron/base/text.h"

namespace kron::jobs {
namespace {

bool is_property_name(std::string_view name) {
  return !name.empty() && name.front() >= 'A' && name.front() <= 'Z' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// One quoted value of a list; `text` begins after its quote and is left after the closing one.
std::optional<std::string> take_quoted(std::string_view& text, char quote) {
  std::string value;
  while (!text.empty() && text.front() != quote) {
    if (text.front() == '\\') {
      text.remove_prefix(1);
      if (text.empty()) return std::nullopt;
      const char c = text.front();
      value += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    } else {
      value += text.front();
    }
    text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  text.remove_prefix(1);
  return value;
}

struct SpanUnit {
  std::string_view name;
  std::int64_t nanoseconds;
};
constexpr std::int64_t kSpanSecond = 1'000'000'000;
constexpr auto kSpanUnits = std::to_array<SpanUnit>({{"us", 1'000},
                                                     {"ms", 1'000'000},
                                                     {"s", kSpanSecond},
                                                     {"min", 60 * kSpanSecond},
                                                     {"h", 3'600 * kSpanSecond},
                                                     {"d", 86'400 * kSpanSecond},
                                                     {"w", 604'800 * kSpanSecond},
                                                     {"month", 2'629'800 * kSpanSecond},
                                                     {"y", 31'557'600 * kSpanSecond}});
constexpr std::int64_t kMostSpan = std::int64_t{100} * 31'557'600 * kSpanSecond;

// `1.5h` or `40min`.
std::optional<std::int64_t> span_word(std::string_view word) {
  const std::size_t end = word.find_first_not_of("0123456789.");
  if (end == 0 || end == std::string_view::npos || end > 15) return std::nullopt;
  const auto unit = std::ranges::find(kSpanUnits, word.substr(end), &SpanUnit::name);
  if (unit == kSpanUnits.end()) return std::nullopt;
  std::int64_t whole = 0;
  std::int64_t part = 0;
  std::int64_t scale = 1;
  bool has_point = false;
  for (const char c : word.substr(0, end)) {
    if (c == '.') {
      if (has_point) return std::nullopt;
      has_point = true;
    } else if (!has_point) {
      whole = whole * 10 + (c - '0');
    } else if (scale < 1'000'000) {
      part = part * 10 + (c - '0');
      scale *= 10;
    }
  }
  if (whole > kMostSpan / unit->nanoseconds) return std::nullopt;
  return whole * unit->nanoseconds + unit->nanoseconds / scale * part;
}

}  // namespace

void ShownUnit::go_on(std::string_view line) {
  if (!properties_.empty()) properties_.back().value.append("\n").append(line);
}

const ShownProperty* ShownUnit::find(std::string_view name) const {
  const auto found = std::ranges::find(properties_, name, &ShownProperty::name);
  return found == properties_.end() ? nullptr : &*found;
}

std::string_view ShownUnit::text(std::string_view name) const {
  const ShownProperty* property = find(name);
  return property == nullptr ? std::string_view() : std::string_view(property->value);
}

std::vector<const ShownProperty*> ShownUnit::all(std::string_view name) const {
  std::vector<const ShownProperty*> found;
  for (const ShownProperty& property : properties_) {
    if (property.name == name && !property.value.empty()) found.push_back(&property);
  }
  return found;
}

std::vector<ShownUnit> shown_units(std::string_view text) {
  std::vector<ShownUnit> units;
  ShownUnit unit;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t equals = line.find('=');
    if (line.empty()) {
      if (!unit.is_empty()) units.push_back(std::exchange(unit, {}));
    } else if (equals != std::string_view::npos && is_property_name(line.substr(0, equals))) {
      unit.add({std::string(line.substr(0, equals)), std::string(trimmed(line.substr(equals + 1))), {number, 1}});
    } else {
      unit.go_on(line);
    }
  }
  if (!unit.is_empty()) units.push_back(std::move(unit));
  return units;
}

std::optional<std::string> shown_command(std::string_view value) {
  constexpr std::string_view kBegin = "argv[]=";
  const std::size_t begin = value.find(kBegin);
  const std::size_t end = value.rfind(" ; ignore_errors=");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin + kBegin.size())
    return std::nullopt;
  return std::string(value.substr(begin + kBegin.size(), end - begin - kBegin.size()));
}

std::optional<std::pair<std::string, std::string>> shown_trigger(std::string_view value) {
  if (!value.starts_with("{ ")) return std::nullopt;
  value.remove_prefix(2);
  const std::size_t equals = value.find('=');
  const std::size_t end = value.rfind(" ; next_elapse=");
  if (equals == std::string_view::npos || end == std::string_view::npos || end < equals) return std::nullopt;
  return std::pair{std::string(value.substr(0, equals)), std::string(value.substr(equals + 1, end - equals - 1))};
}

std::optional<std::vector<std::pair<std::string, std::string>>> shown_environment(std::string_view value) {
  std::vector<std::pair<std::string, std::string>> result;
  while (!(value = trimmed(value)).empty()) {
    std::optional<std::string> word;
    if (value.starts_with('"')) {
      value.remove_prefix(1);
      word = take_quoted(value, '"');
    } else if (value.starts_with("$'")) {
      value.remove_prefix(2);
      word = take_quoted(value, '\'');
    } else {
      const std::size_t end = std::min(value.find(' '), value.size());
      word = std::string(value.substr(0, end));
      value.remove_prefix(end);
    }
    if (!word || word->find('=') == std::string::npos || word->front() == '=') return std::nullopt;
    const std::size_t equals = word->find('=');
    result.emplace_back(word->substr(0, equals), word->substr(equals + 1));
  }
  return result;
}

std::optional<Nanoseconds> shown_span(std::string_view text) {
  text = trimmed(text);
  if (text == "0") return Nanoseconds(0);
  if (text.empty()) return std::nullopt;
  std::int64_t sum = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const auto part = span_word(text.substr(0, end));
    if (!part || *part > kMostSpan - sum) return std::nullopt;
    sum += *part;
    text = trimmed(text.substr(end));
  }
  return Nanoseconds(sum);
}

}  // namespace kron::jobs
