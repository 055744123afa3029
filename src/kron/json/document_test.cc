#include "kron/json/document.h"

#include <gtest/gtest.h>

namespace kron::document_test {
namespace {

Node parsed(std::string_view text) {
  const Result<Node> node = parse_json(text);
  EXPECT_TRUE(node) << text << ": " << node.error().message;
  return node ? *node : Node();
}

TEST(Document, KeepsEveryKindOfValue) {
  const Node node = parsed(R"({"z":null,"a":true,"i":-9223372036854775808,"r":2.5,"t":"é\n","l":[1,[]],"m":{}})");
  EXPECT_TRUE(node.find("z")->is_null());
  EXPECT_EQ(*node.find("a")->as<bool>(), true);
  EXPECT_EQ(*node.find("i")->as<std::int64_t>(), INT64_MIN);
  EXPECT_EQ(*node.find("r")->as<double>(), 2.5);
  EXPECT_EQ(*node.find("t")->as<std::string>(), "é\n");
  EXPECT_EQ(node.find("l")->as<Node::List>()->size(), 2U);
  EXPECT_TRUE(node.find("m")->as<Node::Map>()->empty());
  EXPECT_EQ(node.find("nothing"), nullptr);
  EXPECT_EQ(node.find("l")->find("x"), nullptr);
}

TEST(Document, KeepsTheOrderOfKeys) {
  const Node node = parsed(R"({"b":1,"a":2,"c":{"x":1}})");
  std::string order;
  for (const Node::Member& member : *node.as<Node::Map>()) order += member.key;
  EXPECT_EQ(order, "bac");
}

TEST(Document, KnowsWhereEachValueStands) {
  const Node node = parsed("{\n  \"a\": 12 ,\n  \"b\" : [ true,\"x\\\"y\" , -1.5e3,{\"c\":null} ]\n}");
  EXPECT_EQ(node.position(), (Position{1, 1}));
  const auto& members = *node.as<Node::Map>();
  EXPECT_EQ(members[0].position, (Position{2, 3}));
  EXPECT_EQ(members[0].value.position(), (Position{2, 8}));
  EXPECT_EQ(members[1].position, (Position{3, 3}));
  const auto& list = *members[1].value.as<Node::List>();
  EXPECT_EQ(members[1].value.position(), (Position{3, 9}));
  EXPECT_EQ(list[0].position(), (Position{3, 11}));
  EXPECT_EQ(list[1].position(), (Position{3, 16}));
  EXPECT_EQ(list[2].position(), (Position{3, 25}));
  EXPECT_EQ(list[3].position(), (Position{3, 32}));
  EXPECT_EQ(list[3].find("c")->position(), (Position{3, 37}));
}

struct Wrong {
  std::string text;
  std::size_t column;
  const char* part_of_message;
};

TEST(Document, RefusesWhatIsNotJson) {
  const Wrong cases[] = {
      {"", 1, "unexpected end of input"},
      {"   ", 4, "unexpected end of input"},
      {"{", 2, "unexpected end of input"},
      {"{\"a\":1,}", 8, "syntax error"},
      {"[1 2]", 4, "syntax error"},
      {"{\"a\":tru}", 9, "invalid literal"},
      {"{} x", 4, "syntax error"},
      {"{\"a\":\"\x80\"}", 7, "UTF-8"},
      {"{\"a\":\"\\ud800\"}", 13, "surrogate"},
      {"{\"a\":\n\n  nope}", 4, "(line 3)"},
      {"{\"a\":1,\"b\":2,\"a\":3}", 14, "the key 'a' is given twice"},
      {"{\"a\":18446744073709551615}", 6, "beyond 64 bits"},
      {"{\"a\":9223372036854775808}", 6, "beyond 64 bits"},
      {"{\"a\":-9223372036854775809}", 6, "beyond 64 bits"},
      {"{\"a\":" + std::string(400, '9') + "}", 6, "too large"},
      {"{\"a\":1e999}", 6, "too large"},
      {"[NaN]", 2, "invalid literal"},
      {"{'a':1}", 2, "syntax error"},
      {"// x", 1, "invalid literal"},
      {std::string("{}\0{", 4), 3, "NUL"},
      {std::string(65, '[') + std::string(65, ']'), 65, "deeper than 64 levels"},
      {std::string((1 << 20) + 1, ' '), 0, "longer than 1048576 bytes"},
  };
  for (const Wrong& wrong : cases) {
    const Result<Node> node = parse_json(wrong.text);
    ASSERT_FALSE(node) << wrong.text.substr(0, 50);
    EXPECT_EQ(node.error().code, Code::invalid);
    EXPECT_EQ(node.error().column, wrong.column) << wrong.text.substr(0, 50) << ": " << node.error().message;
    EXPECT_NE(node.error().message.find(wrong.part_of_message), std::string::npos) << node.error().message;
    EXPECT_LT(node.error().message.size(), 300U);
  }
}

TEST(Document, ReadsUpToItsLimits) {
  EXPECT_TRUE(parse_json(std::string(64, '[') + std::string(64, ']')));
  EXPECT_TRUE(parse_json("{\"a\":9223372036854775807}"));
  EXPECT_TRUE(parse_json("\xEF\xBB\xBF{\"a\":1}"));
  EXPECT_FALSE(parse_json("[1]", {.size = 2}));
  EXPECT_FALSE(parse_json("[[1]]", {.depth = 1}));
}

TEST(Document, ManyKeysAreReadInTimeThatGrowsWithTheirNumber) {
  std::string text = "{";
  for (int i = 0; i < 60'000; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  EXPECT_EQ(parsed(text + "}").as<Node::Map>()->size(), 60'000U);
  EXPECT_FALSE(parse_json(text + ",\"59999\":1}"));
}

}  // namespace
}  // namespace kron::document_test
