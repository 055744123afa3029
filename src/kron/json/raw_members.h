#pragma once

#include <string_view>
#include <vector>

namespace kron {

// A member of a map, as it stands in the text.
struct RawMember {
  std::string_view key;    // between its quotes; what is escaped stays so
  std::string_view value;  // JSON
  std::string_view text;   // both, with what is between them

  [[nodiscard]] bool is_map() const { return value.starts_with('{'); }
};

// The members of a map in JSON that JsonWriter has written, without reading what is in them: for who takes most of a
// document as it is. They refer to the text. None: it is no map, or nothing that JsonWriter writes.
std::vector<RawMember> raw_members(std::string_view json);

}  // namespace kron
