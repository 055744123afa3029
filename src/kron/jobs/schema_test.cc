#include "kron/jobs/schema.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "kron/jobs/keys.h"
#include "kron/json/document.h"

namespace kron::jobs {
namespace {

using Keys = std::set<std::string, std::less<>>;

Keys keys_of(const Node* properties) {
  Keys keys;
  if (properties == nullptr || properties->as<Node::Map>() == nullptr) return keys;
  for (const Node::Member& member : *properties->as<Node::Map>()) keys.insert(member.key);
  return keys;
}

template <class Range>
Keys set_of(const Range& words) {
  return Keys(words.begin(), words.end());
}

// Follows keys, and into each alternative of a oneOf, to the first that has them.
const Node* at(const Node* node, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) {
    const Node* next = node->find(key);
    if (const Node* options = node->find("oneOf"); next == nullptr && options != nullptr) {
      for (const Node& option : *options->as<Node::List>()) {
        if (next == nullptr) next = option.find(key);
      }
    }
    if (next == nullptr) return nullptr;
    node = next;
  }
  return node;
}

TEST(Schema, KnowsExactlyTheKeysTheReaderKnows) {
  const auto schema = parse_json(job_file_schema());
  ASSERT_TRUE(schema) << schema.error().message;
  const Node* defs = schema->find("$defs");
  EXPECT_EQ(keys_of(schema->find("properties")), set_of(kFileKeys));
  EXPECT_EQ(keys_of(at(defs, {"job", "properties"})), set_of(kDefinitionKeys));
  EXPECT_EQ(keys_of(at(defs, {"job", "properties", "limits", "properties"})), set_of(kLimitKeys));
  EXPECT_EQ(keys_of(at(defs, {"job", "properties", "window", "properties"})), (Keys{"mode", "duration"}));
  EXPECT_EQ(keys_of(at(defs, {"job", "properties", "seed", "properties"})), (Keys{"strategy", "salt"}));
  EXPECT_EQ(keys_of(at(defs, {"job", "properties", "policy", "properties"})),
            (Keys{"concurrency", "deadline", "suspend"}));
  EXPECT_EQ(keys_of(at(defs, {"job", "properties", "distribution", "properties"})), (Keys{"name", "params"}));
  EXPECT_EQ(keys_of(at(defs, {"constraints", "properties"})),
            (Keys{"hours", "dow", "dom", "months", "between", "date", "dates", "calendar"}));
}

// As much of JSON Schema as says which keys go together: required, not, oneOf, anyOf, allOf, if/else, properties, items
// and $ref to a definition.
class Validator {
 public:
  explicit Validator(const Node& root) : root_(root) {}

  // NOLINTNEXTLINE(misc-no-recursion)
  [[nodiscard]] bool accepts(const Node& schema, const Node& value) const {
    const auto matching = [&](const Node& list) {
      return std::ranges::count_if(*list.as<Node::List>(), [&](const Node& one) { return accepts(one, value); });
    };
    if (const Node* to = schema.find("$ref"); to != nullptr) {
      const std::string& path = *to->as<std::string>();
      if (!accepts(*root_.find("$defs")->find(path.substr(path.rfind('/') + 1)), value)) return false;
    }
    if (const Node* keys = schema.find("required"); keys != nullptr && !has_all(*keys, value)) return false;
    if (const Node* not_this = schema.find("not"); not_this != nullptr && accepts(*not_this, value)) return false;
    if (const Node* one_of = schema.find("oneOf"); one_of != nullptr && value.as<Node::Map>() != nullptr) {
      if (matching(*one_of) != 1) return false;
    }
    if (const Node* any_of = schema.find("anyOf"); any_of != nullptr && matching(*any_of) == 0) return false;
    if (const Node* all_of = schema.find("allOf"); all_of != nullptr) {
      if (matching(*all_of) != static_cast<std::ptrdiff_t>(all_of->as<Node::List>()->size())) return false;
    }
    if (const Node* condition = schema.find("if"); condition != nullptr && !accepts(*condition, value)) {
      if (const Node* otherwise = schema.find("else"); otherwise != nullptr && !accepts(*otherwise, value))
        return false;
    }
    return accepts_inside(schema, value);
  }

 private:
  static bool has_all(const Node& keys, const Node& value) {
    return std::ranges::all_of(*keys.as<Node::List>(),
                               [&](const Node& key) { return value.find(*key.as<std::string>()) != nullptr; });
  }
  // NOLINTNEXTLINE(misc-no-recursion)
  [[nodiscard]] bool accepts_inside(const Node& schema, const Node& value) const {
    if (const Node* items = schema.find("items"); items != nullptr && value.as<Node::List>() != nullptr) {
      return std::ranges::all_of(*value.as<Node::List>(), [&](const Node& item) { return accepts(*items, item); });
    }
    const Node* properties = schema.find("properties");
    if (properties == nullptr) return true;
    return std::ranges::all_of(*properties->as<Node::Map>(), [&](const Node::Member& member) {
      const Node* inner = value.find(member.key);
      const bool is_scalar =
          inner != nullptr && inner->as<Node::Map>() == nullptr && inner->as<Node::List>() == nullptr;
      return inner == nullptr || is_scalar || accepts(member.value, *inner);
    });
  }

  const Node& root_;
};

TEST(Schema, WantsOneOfCommandAndTask) {
  const auto schema = parse_json(job_file_schema());
  ASSERT_TRUE(schema);
  const Validator validator(*schema);
  struct Case {
    std::string file;
    bool is_valid;
  };
  const std::string start = R"({"jobs": [{"name": "a", "schedule": "@daily")";
  const Case cases[] = {
      {start + R"(, "command": "x"}]})", true},
      {start + R"(, "task": "x"}]})", true},
      {start + R"(, "command": "x", "task": "y"}]})", false},
      {start + "}]}", false},
      {start + R"(}], "defaults": {"command": "x"}})", true},
      {start + R"(, "task": "y"}], "defaults": {"command": "x"}})", true},
      {start + R"(}], "defaults": {"user": "x"}})", false},
      {start + R"(}], "defaults": {"command": "x", "task": "y"}})", false},
      {R"({"jobs": [{"schedule": "@daily", "command": "x"}]})", false},
  };
  for (const Case& c : cases) {
    const auto file = parse_json(c.file);
    ASSERT_TRUE(file);
    EXPECT_EQ(validator.accepts(*schema, *file), c.is_valid) << c.file;
  }
}

TEST(Schema, RefusesUnknownKeysEverywhere) {
  const auto schema = parse_json(job_file_schema());
  ASSERT_TRUE(schema);
  std::vector<const Node*> open{&*schema};
  int maps = 0;
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (const auto* list = node->as<Node::List>()) {
      for (const Node& item : *list) open.push_back(&item);
    }
    const auto* map = node->as<Node::Map>();
    if (map == nullptr) continue;
    const Node* type = node->find("type");
    if (type != nullptr && type->as<std::string>() != nullptr && *type->as<std::string>() == "object") {
      ++maps;
      EXPECT_NE(node->find("additionalProperties"), nullptr) << "line " << node->position().line;
    }
    for (const Node::Member& member : *map) open.push_back(&member.value);
  }
  EXPECT_GE(maps, 9);
}

}  // namespace
}  // namespace kron::jobs
