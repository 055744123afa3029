#include "kron/jobs/schema.h"

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
  EXPECT_EQ(keys_of(at(defs, {"job", "properties"})), set_of(definition_keys()));
  EXPECT_EQ(keys_of(at(defs, {"job", "properties", "limits", "properties"})), set_of(limit_keys()));
  EXPECT_EQ(keys_of(at(defs, {"job", "properties", "notify", "properties"})), set_of(notify_keys()));
  EXPECT_EQ(keys_of(at(defs, {"job", "properties", "window", "properties"})), (Keys{"mode", "duration"}));
  EXPECT_EQ(keys_of(at(defs, {"job", "properties", "seed", "properties"})), (Keys{"strategy", "salt"}));
  EXPECT_EQ(keys_of(at(defs, {"job", "properties", "policy", "properties"})),
            (Keys{"concurrency", "deadline", "suspend", "pauseAfter", "catchUpSpread"}));
  EXPECT_EQ(keys_of(at(defs, {"job", "properties", "distribution", "properties"})), (Keys{"name", "params"}));
  EXPECT_EQ(keys_of(at(defs, {"constraints", "properties"})),
            (Keys{"hours", "dow", "dom", "months", "between", "date", "dates", "calendar"}));
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
