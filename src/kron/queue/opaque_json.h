#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kron/json/document.h"

namespace kron {

// For JSON that passes through unread: numbers and escapes keep the spelling of whoever wrote them.

// Without the blanks between tokens. `json` must be valid.
std::string without_blanks(std::string_view json);

// The whole value that begins at `offset` of valid JSON.
std::string_view value_at(std::string_view json, std::size_t offset);

// How many lists and maps lie within each other at the deepest place of valid JSON.
std::size_t depth_of(std::string_view json);

// Finds the values of a document in the text that it was parsed from, so that none is parsed a second time. Fastest
// when it is asked in the order of the text. For one thread.
class JsonSource {
 public:
  explicit JsonSource(std::string_view text);  // valid JSON, outlives it and what it returns

  // `node` is of the document that parse_json made of the text.
  std::string_view text_of(const Node& node);

 private:
  std::string_view text_;
  std::size_t first_line_;  // where it begins: behind a byte order mark
  std::size_t line_ = 1;    // the last one asked for …
  std::size_t line_start_;  // … and where it begins
};

}  // namespace kron
