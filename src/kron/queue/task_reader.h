#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/json/document.h"

namespace kron {

// Reads the members of a task, or of a part of one, by name, and remembers the first that is wrong. A member that is
// null counts as absent. Refers to the map and the status.
class TaskReader {
 public:
  TaskReader(const Node& map, Status& status) : map_(map), status_(status) {}

  std::string text(std::string_view key) {
    const std::string* found = get<std::string>(key);
    return found != nullptr ? *found : std::string();
  }
  std::string required_text(std::string_view key) {
    if (map_.find(key) == nullptr) wrong(key, "is missing");
    return text(key);
  }
  void number(std::string_view key, auto& target, std::int64_t least, std::int64_t most) {
    const auto* found = get<std::int64_t>(key);
    if (found == nullptr) return;
    if (*found < least || *found > most) return wrong(key, "is out of range");
    target = static_cast<std::remove_reference_t<decltype(target)>>(*found);
  }
  bool flag(std::string_view key, bool otherwise = false) {
    const bool* found = get<bool>(key);
    return found != nullptr ? *found : otherwise;
  }
  std::optional<Instant> time(std::string_view key) {
    const std::string* found = get<std::string>(key);
    return found != nullptr ? taken(key, parse_rfc3339(*found)) : std::nullopt;
  }
  std::optional<Seconds> duration(std::string_view key) {
    const std::string* found = get<std::string>(key);
    return found != nullptr ? taken(key, parse_whole_seconds(*found)) : std::nullopt;
  }
  const Node::List& list(std::string_view key) {
    static const Node::List kNone;
    const auto* found = get<Node::List>(key);
    return found != nullptr ? *found : kNone;
  }
  const Node* map(std::string_view key) { return get<Node::Map>(key) != nullptr ? map_.find(key) : nullptr; }

  void wrong(std::string_view key, std::string_view problem) {
    if (status_) status_ = fail(Code::invalid, "`" + std::string(key) + "` " + std::string(problem), std::string(key));
  }

 private:
  template <class T>
  const T* get(std::string_view key) {
    const Node* found = map_.find(key);
    if (found == nullptr || found->is_null()) return nullptr;
    const T* value = found->as<T>();
    if (value == nullptr) wrong(key, "is " + std::string(kind_of(*found)));
    return value;
  }

  template <class T>
  std::optional<T> taken(std::string_view key, const Result<T>& value) {
    if (value) return *value;
    wrong(key, value.error().message);
    return std::nullopt;
  }

  const Node& map_;
  Status& status_;
};

}  // namespace kron
