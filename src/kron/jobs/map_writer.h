#pragma once

#include <string>
#include <string_view>

#include "kron/base/duration.h"
#include "kron/json/document.h"

namespace kron::jobs {

// Builds a map in the order of writing.
class MapWriter {
 public:
  void put(std::string_view key, Node value) { map_.push_back({std::string(key), {}, std::move(value)}); }
  void text(std::string_view key, std::string value) { put(key, Node(std::move(value))); }
  void text_unless_empty(std::string_view key, const std::string& value) {
    if (!value.empty()) text(key, value);
  }
  void seconds(std::string_view key, Seconds value) { text(key, duration_text(value)); }
  void number(std::string_view key, std::int64_t value) { put(key, Node(value)); }
  void flag(std::string_view key, bool value) { put(key, Node(value)); }
  void map_unless_empty(std::string_view key, MapWriter map) {
    if (!map.map_.empty()) put(key, std::move(map).node());
  }
  Node node() && { return Node(std::move(map_)); }

 private:
  Node::Map map_;
};

}  // namespace kron::jobs
