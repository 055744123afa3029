#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"
#include "kron/json/document.h"

namespace kron {

// Reads the members of one map by key and type. What is wrong is collected, not returned, so that whoever wrote the
// document hears of everything in one go. A member that is null counts as absent. Refers to the node and the errors.
class Fields {
 public:
  // `path` is what the keys hang on in messages: "policy" makes the key `deadline` the field `policy.deadline`.
  Fields(const Node& map, std::string path, std::vector<Error>& errors);

  [[nodiscard]] const Node* find(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }

  // Absent, or of another type (then an error is noted): nothing.
  std::optional<std::string_view> text(std::string_view key);
  std::optional<std::string> scalar(std::string_view key);  // a text, or a number as it is spelled
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key);
  std::optional<Fields> map(std::string_view key);
  // Each item of a list, or the one scalar that stands in its place, as text.
  std::vector<std::string> scalars(std::string_view key);

  // Notes an error for each key that is not among the known ones, with the nearest of them.
  void reject_unknown(std::span<const std::string_view> known);

  void report(std::string_view key, std::string message, std::size_t column = 0);
  // Stores the value, or notes the error under this key (its own field name, if any, is replaced).
  template <class T>
  void take(T& target, std::string_view key, Result<T> value) {
    if (value) {
      target = *std::move(value);
    } else {
      report(key, value.error().message, value.error().column);
    }
  }

  [[nodiscard]] const Node& node() const { return *node_; }
  [[nodiscard]] std::string path_of(std::string_view key) const;

 private:
  void report_type(std::string_view key, const Node& found, std::string_view expected);

  const Node* node_;
  std::string path_;
  std::vector<Error>* errors_;
};

// A text, or a number as its shortest spelling; nothing for anything else.
std::optional<std::string> scalar_text(const Node& node);

}  // namespace kron
