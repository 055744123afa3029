#include "kron/json/raw_members.h"

#include <gtest/gtest.h>
#include <string>

#include "kron/json/document.h"
#include "kron/json/writer.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

std::string split(std::string_view json) {
  std::string text;
  for (const RawMember& member : raw_members(json)) {
    ((text += member.key) += '=') += member.value;
    text += member.is_map() ? "{} " : " ";
  }
  return text;
}

TEST(RawMembers, AreTheTextsOfAMap) {
  EXPECT_EQ(split(R"({"a":1})"), "a=1 ");
  EXPECT_EQ(split(R"({"a":{"b":[1,{"c":2}]},"d":[],"e":null,"f":true,"":-1.5e3})"),
            R"(a={"b":[1,{"c":2}]}{} d=[] e=null f=true =-1.5e3 )");
  EXPECT_EQ(split(R"({"a\"}":"x\\","b":"},{"})"), R"(a\"}="x\\" b="},{" )");
  EXPECT_EQ(raw_members(R"({"a":[1,2]})").front().text, R"("a":[1,2])");
}

TEST(RawMembers, OfWhatIsNoMapThereAreNone) {
  for (const std::string_view text :
       {"", "{}", "[]", "null", "\"a\"", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":}", "{\"a\":1,",
        "{\"a\":1,}", "{\"a\":1]", "{\"a\":1}}", "{\"a\":\"", "{\"a\\"}) {
    EXPECT_TRUE(raw_members(text).empty()) << text;
  }
}

Node any_node(int depth) {
  const int kind = *rc::gen::inRange(0, depth > 0 ? 7 : 5);
  const auto any_text = [] { return *rc::gen::arbitrary<std::string>(); };
  if (kind == 0) return Node();
  if (kind == 1) return Node(Node::Value(*rc::gen::arbitrary<bool>()));
  if (kind == 2) return Node(Node::Value(*rc::gen::arbitrary<std::int64_t>()));
  if (kind < 5) return Node(Node::Value(any_text()));
  const int count = *rc::gen::inRange(0, 4);
  Node::List list;
  Node::Map map;
  for (int i = 0; i < count; ++i) {
    if (kind == 5) list.push_back(any_node(depth - 1));
    if (kind == 6) map.push_back({any_text() + std::to_string(i), {}, any_node(depth - 1)});
  }
  return kind == 5 ? Node(Node::Value(std::move(list))) : Node(Node::Value(std::move(map)));
}

TEST(RawMembers, OfWhateverIsWrittenPutTogetherAreTheWhole) {
  testing::for_all(500, [] {
    const Node node = any_node(4);
    const std::string text = JsonWriter().node(node).take();
    const std::vector<RawMember> members = raw_members(text);
    const auto* map = node.as<Node::Map>();
    RC_ASSERT(members.size() == (map != nullptr ? map->size() : 0));
    if (members.empty()) return;
    JsonWriter whole;
    whole.begin_map();
    for (const RawMember& member : members) whole.document(member.text);
    RC_ASSERT(whole.end_map().take() == text);
    for (std::size_t i = 0; i < members.size(); ++i) {
      RC_ASSERT(members[i].value == JsonWriter().node((*map)[i].value).take());
    }
  });
}

}  // namespace
}  // namespace kron
