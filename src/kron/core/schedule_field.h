#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/core/civil.h"

namespace kron {

// One field of a cron expression: its text turned into sets of values.

// What a macro such as @daily stands for, in five fields; empty when `name` is none. In any case of letters.
std::string_view expansion_of_macro(std::string_view name);
// All of them, to suggest one.
std::span<const std::string_view> macro_names();

struct FieldRule {
  enum class Special : std::uint8_t { none, dates, weekdays };

  std::string_view name;  // as errors name it, and as H hashes it
  int first;
  int last;
  int hashed_last;                          // H stays at or below; 0: the field has no H
  std::span<const std::string_view> names;  // names[i] means first + i
  Special special = Special::none;          // L LW nW with dates, n#k nL with weekdays; `?` with both
};

// Values of any field as bits; bit 0 is the rule's `first` for years, value 0 for the others.
struct FieldValues {
  std::array<std::uint64_t, 4> bits{};
  std::uint32_t days_from_end = 0;
  std::uint32_t near_weekday = 0;
  bool last_weekday = false;
  std::uint8_t last_weekdays = 0;
  std::uint64_t nth_weekdays = 0;
  bool star = false;  // began with `*`, or was `?`
};

// Where a field stands in the whole expression, so that columns count from the expression's start.
struct FieldText {
  std::string_view expression;
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] std::string_view text() const { return expression.substr(begin, end - begin); }
};

Result<FieldValues> parse_field(const FieldText& field, const FieldRule& rule, std::string_view identity);

// The position of `word` in `names`, in any case; -1 when it is none of them.
int index_of_name(std::string_view word, std::span<const std::string_view> names);

}  // namespace kron
