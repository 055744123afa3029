#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kron/base/rfc3339.h"
#include "kron/json/writer.h"

// How values look in the answers of the API.
namespace kron::api {

inline std::int64_t number(std::size_t count) { return static_cast<std::int64_t>(count); }

inline void write_time_or_null(JsonWriter& json, std::string_view name, const std::optional<Instant>& time) {
  json.key(name);
  if (time) {
    json.text(rfc3339(*time));
  } else {
    json.null();
  }
}

}  // namespace kron::api
