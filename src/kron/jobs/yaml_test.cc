#include "kron/jobs/yaml.h"

#include <gtest/gtest.h>

#include "kron/testing/property.h"

namespace kron::jobs {
namespace {

std::vector<Node> parsed(std::string_view text, std::vector<Problem>* problems = nullptr) {
  Report report("f.yaml", text);
  std::vector<Node> documents = parse_yaml(text, report);
  if (problems != nullptr) {
    *problems = report.take();
  } else {
    EXPECT_TRUE(report.problems().empty()) << text_of(report.problems().front());
  }
  return documents;
}

TEST(Yaml, KeepsOrderTypesAndPlaces) {
  const auto documents = parsed("b: 1\na:\n  - true\n  - \"x y\"\n  - ~\nc: {d: 2.5, e: 'f'}\n");
  ASSERT_EQ(documents.size(), 1U);
  const auto& map = *documents[0].as<Node::Map>();
  EXPECT_EQ(map[0].key, "b");
  EXPECT_EQ(*map[0].value.as<std::int64_t>(), 1);
  const auto& list = *map[1].value.as<Node::List>();
  EXPECT_TRUE(*list[0].as<bool>());
  EXPECT_EQ(*list[1].as<std::string>(), "x y");
  EXPECT_EQ(list[1].position(), (Position{4, 6}));  // inside the quotes
  EXPECT_TRUE(list[2].is_null());
  EXPECT_EQ(map[2].position, (Position{6, 1}));
  EXPECT_EQ(*map[2].value.find("d")->as<double>(), 2.5);
  EXPECT_EQ(*map[2].value.find("e")->as<std::string>(), "f");
}

TEST(Yaml, NumbersThatWouldPrintDifferentlyStayTexts) {
  for (const char* text : {"0022", "1.10", "+1", "1e3", "0x10", "1_000", "99999999999999999999", "inf", ".nan", "-0"}) {
    const auto documents = parsed("a: " + std::string(text) + "\n");
    ASSERT_NE(documents.at(0).find("a")->as<std::string>(), nullptr) << text;
    EXPECT_EQ(*documents[0].find("a")->as<std::string>(), text);
  }
}

TEST(Yaml, JsonIsYaml) {
  const auto documents = parsed("{\"a\": [1, null, \"\\u00e4\\n\"], \"b\": {\"c\": false}}");
  EXPECT_EQ(*documents.at(0).find("a")->as<Node::List>()->at(2).as<std::string>(), "\xC3\xA4\n");
  EXPECT_FALSE(*documents[0].find("b")->find("c")->as<bool>());
}

TEST(Yaml, DocumentsComeOneByOne) {
  const auto documents = parsed("a: 1\n---\nb: 2\n...\n");
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_NE(documents[1].find("b"), nullptr);
  EXPECT_TRUE(parsed("").empty());
  EXPECT_TRUE(parsed("# nothing\n").empty());
}

TEST(Yaml, RefusesWithThePlace) {
  struct Case {
    std::string text;
    std::string message;
    std::size_t line;
  };
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  const Case cases[] = {
      {"a: 1\nb: 2\na: 3\n", "the key 'a' is given twice", 3},
      {"x: {b: 1, b: 2}\n", "the key 'b' is given twice", 1},
      {"a: &x 1\nb: *x\n", "aliases", 2},
      {"a: &a [x, x]\nb: &b [*a, *a]\n", "aliases", 2},
      {"a: [1, 2\nb: 3\n", "YAML", 3},
      {"a: \"x\n", "YAML", 1},
      {"[a, b]: c\n", "a key must be a single word", 1},
      {deep, "nested deeper than 32 levels", 33},
      {std::string("a: \0b\n", 7), "a NUL byte", 1},
      {"a: \xFF\n", "not valid UTF-8", 0},
      {"\t- a\n", "YAML", 1},
  };
  for (const Case& c : cases) {
    std::vector<Problem> problems;
    parsed(c.text, &problems);
    ASSERT_EQ(problems.size(), 1U) << c.text;
    EXPECT_NE(problems[0].message.find(c.message), std::string::npos) << problems[0].message;
    EXPECT_EQ(problems[0].at.line, c.line) << c.text << text_of(problems[0]);
  }
}

TEST(Yaml, DeepFlowNestingIsRefusedBeforeItHurts) {
  std::vector<Problem> problems;
  parsed(std::string(100'000, '[') + std::string(100'000, ']'), &problems);
  EXPECT_FALSE(problems.empty());
}

TEST(Yaml, TooLargeFilesAreRefused) {
  Report report("f", "");
  parse_yaml(std::string(100, 'a'), report, {.bytes = 99});
  EXPECT_EQ(report.error_count(), 1U);
}

rc::Gen<std::string> any_text() {
  return rc::gen::map(rc::gen::container<std::string>(rc::gen::weightedOneOf<char>(
                          {{5, rc::gen::inRange<char>(' ', 127)},
                           {1, rc::gen::element('\n', '\t', '\x01', '\\', '"', ':', '#', '\'')}})),
                      [](std::string text) { return text; });
}

TEST(Yaml, PrintedTextReadsBackTheSame) {
  kron::testing::for_all(200, [] {
    Node::Map map;
    const auto texts = *rc::gen::container<std::vector<std::string>>(any_text());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      map.push_back({"k" + std::to_string(i), {}, Node(texts[i])});
      map.push_back({"x" + std::to_string(i) + " " + texts[i], {}, Node(static_cast<std::int64_t>(i) - 3)});
    }
    map.push_back({"l", {}, Node(Node::List{Node(true), Node(Node::Map{{"a", {}, Node(1.5)}}), Node(Node::List{})})});
    const auto documents = parsed(yaml_text(Node(map)));
    RC_ASSERT(documents.size() == 1U);
    RC_ASSERT(yaml_text(documents[0]) == yaml_text(Node(map)));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      RC_ASSERT(*documents[0].find("k" + std::to_string(i))->as<std::string>() == texts[i]);
    }
  });
}

}  // namespace
}  // namespace kron::jobs
