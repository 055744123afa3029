#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/json/document.h"

// Where the parts of a JSON text stand: for those who change or copy a part of it and must keep the rest as it is.
// Pure.
namespace kron::cluster {

// A text of others', such as a definition: a whole number beyond 64 bits is no error but a real, because it is kept as
// it is spelled.
Result<Node> parse_foreign_json(std::string_view text);

struct MemberSpan {
  std::string key;  // decoded
  std::size_t key_begin = 0;
  std::size_t value_begin = 0;
  std::size_t value_end = 0;
};

struct ObjectSpan {
  std::size_t begin = 0;  // its {
  std::size_t end = 0;    // after its }
  std::vector<MemberSpan> members;

  [[nodiscard]] const MemberSpan* find(std::string_view key) const;
};

// The map that begins at `at`, blanks before it passed over; nothing when something else does. `json` is a document
// that parse_foreign_json accepts, and `at` the begin of one of its values.
std::optional<ObjectSpan> object_at(std::string_view json, std::size_t at = 0);

}  // namespace kron::cluster
