#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "kron/json/document.h"

namespace kron {

// Writes compact JSON in the order of the calls; the caller keeps begin and end paired. Texts come out as valid UTF-8
// whatever goes in (bad bytes as U+FFFD), numbers as the shortest that reads back the same.
class JsonWriter {
 public:
  JsonWriter& begin_map();
  JsonWriter& end_map();
  JsonWriter& begin_list();
  JsonWriter& end_list();
  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view value);
  JsonWriter& integer(std::int64_t value);
  JsonWriter& real(double value);  // null when not finite
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  JsonWriter& node(const Node& value);          // a whole tree
  JsonWriter& document(std::string_view json);  // a value that is JSON already

  JsonWriter& member(std::string_view name, std::string_view value) { return key(name).text(value); }

  std::string take() { return std::move(out_); }

 private:
  void separate();
  void quote(std::string_view value);

  std::string out_;
};

}  // namespace kron
