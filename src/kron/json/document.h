#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kron/base/result.h"

namespace kron {

// Where a value stands in its document, both from 1; 0 when it comes from no document.
struct Position {
  std::size_t line = 0;
  std::size_t column = 0;

  bool operator==(const Position&) const = default;
};

// A document as a tree, whatever it was written in. Maps keep the order of their keys and have each key once.
class Node {
 public:
  struct Member;
  using List = std::vector<Node>;
  using Map = std::vector<Member>;
  using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map>;

  Node();
  explicit Node(Value value, Position position = {});
  Node(const Node&);
  Node(Node&&) noexcept;
  Node& operator=(const Node&);
  Node& operator=(Node&&) noexcept;
  ~Node();

  [[nodiscard]] const Value& value() const { return value_; }
  [[nodiscard]] Position position() const { return position_; }

  // The value as what is asked for, or null when it is something else.
  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&value_);
  }
  [[nodiscard]] bool is_null() const { return as<std::monostate>() != nullptr; }
  // The member of a map; null when this is no map or has no such key.
  [[nodiscard]] const Node* find(std::string_view key) const;

 private:
  Value value_;
  Position position_;
};

struct Node::Member {
  std::string key;
  Position position;
  Node value;
};

// Here, and not in the class, because a Map cannot be made or copied before Member is known.
inline Node::Node() = default;
inline Node::Node(Value value, Position position) : value_(std::move(value)), position_(position) {}
inline Node::Node(const Node&) = default;
inline Node::Node(Node&&) noexcept = default;
inline Node& Node::operator=(const Node&) = default;
inline Node& Node::operator=(Node&&) noexcept = default;
inline Node::~Node() = default;

// "a text", "a whole number" …: for messages.
std::string_view kind_of(const Node& node);

struct JsonLimits {
  std::size_t size = std::size_t{1} << 20;
  std::size_t depth = 64;
};

// One JSON document. Refused with code invalid: broken syntax, invalid UTF-8, a repeated key, a number that fits
// neither 64 bits nor a double, anything beyond the limits. The error's column is that of the line where the problem
// is; the message names the line when it is not the first.
Result<Node> parse_json(std::string_view text, const JsonLimits& limits = {});

}  // namespace kron
