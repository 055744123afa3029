#include "kron/json/fields.h"

#include <array>
#include <gtest/gtest.h>

namespace kron {
namespace {

TEST(Fields, ReadsMembersByType) {
  const Node node = parse_json(R"({"t":"x","i":7,"b":true,"m":{"k":1},"l":[1,"a",2.5],"n":null})").value();
  std::vector<Error> errors;
  Fields fields(node, "", errors);
  EXPECT_EQ(fields.text("t"), "x");
  EXPECT_EQ(fields.integer("i"), 7);
  EXPECT_EQ(fields.scalar("i"), "7");
  EXPECT_EQ(fields.boolean("b"), true);
  EXPECT_EQ(fields.map("m")->integer("k"), 1);
  EXPECT_EQ(fields.scalars("l"), (std::vector<std::string>{"1", "a", "2.5"}));
  EXPECT_EQ(fields.scalars("t"), std::vector<std::string>{"x"});
  EXPECT_FALSE(fields.text("n"));
  EXPECT_FALSE(fields.has("n"));
  EXPECT_FALSE(fields.text("absent"));
  EXPECT_TRUE(errors.empty());
}

TEST(Fields, CollectsEveryProblemWithItsPath) {
  const Node node = parse_json(R"({"policy":{"deadline":5,"concurency":"x"},"t":[],"l":[{}],"m":"x"})").value();
  std::vector<Error> errors;
  Fields fields(node, "", errors);
  Fields policy = fields.map("policy").value();
  policy.reject_unknown(std::array<std::string_view, 2>{"deadline", "concurrency"});
  EXPECT_FALSE(policy.text("deadline"));
  EXPECT_FALSE(fields.text("t"));
  EXPECT_TRUE(fields.scalars("l").empty());
  EXPECT_FALSE(fields.map("m"));
  int value = 0;
  policy.take(value, "deadline", Result<int>(fail(Code::invalid, "late", "other", 3)));
  std::vector<std::string> seen;
  for (const Error& error : errors) seen.push_back(error.field + ": " + error.message);
  EXPECT_EQ(seen, (std::vector<std::string>{"policy.concurency: unknown key 'concurency'; did you mean concurrency?",
                                            "policy.deadline: expected a text, found a whole number",
                                            "t: expected a text, found a list",
                                            "l: expected a text, a number or a list of them, found a map",
                                            "m: expected a map, found a text", "policy.deadline: late"}));
  EXPECT_EQ(errors.back().column, 3U);
}

}  // namespace
}  // namespace kron
