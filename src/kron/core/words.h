#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/base/text.h"

namespace kron {

// The spelling of one enumerator. A table of them is all an enumeration needs to be printed and read.
template <class Enum>
struct Word {
  Enum value;
  std::string_view text;
};
// clang 16, which builds the fuzzers, does not deduce the arguments of an aggregate by itself.
template <class Enum>
Word(Enum, std::string_view) -> Word<Enum>;

// The first spelling listed for `value`.
template <class Enum, std::size_t N>
constexpr std::string_view word_of(Enum value, const std::array<Word<Enum>, N>& words) {
  for (const Word<Enum>& word : words) {
    if (word.value == value) return word.text;
  }
  return {};
}

// All spellings, in the order of the table.
template <class Enum, std::size_t N>
constexpr std::array<std::string_view, N> texts_of(const std::array<Word<Enum>, N>& words) {
  std::array<std::string_view, N> texts;
  for (std::size_t i = 0; i < N; ++i) texts[i] = words[i].text;
  return texts;
}

// Code invalid with `field`, what was found, the words there are and the nearest of them.
tl::unexpected<Error> unknown_word(std::string_view found, std::span<const std::string_view> known,
                                   std::string_view what, std::string field);

template <class Enum, std::size_t N>
Result<Enum> parse_word(std::string_view text, const std::array<Word<Enum>, N>& words, std::string_view what,
                        std::string field) {
  for (const Word<Enum>& word : words) {
    if (word.text == text) return word.value;
  }
  return unknown_word(text, texts_of(words), what, std::move(field));
}

}  // namespace kron
