#include "kron/jobs/words.h"

#include <gtest/gtest.h>

#include "kron/testing/property.h"

namespace kron::jobs {
namespace {

using Words = std::vector<std::string>;

TEST(Words, AreSplitLikeAShellSplitsThem) {
  struct Case {
    std::string command;
    Words words;
  };
  const Case cases[] = {
      {"/usr/bin/backup --full", {"/usr/bin/backup", "--full"}},
      {"  a \t b\n c ", {"a", "b", "c"}},
      {R"(a "b c" 'd e')", {"a", "b c", "d e"}},
      {R"(a"b"'c'd)", {"abcd"}},
      {R"(a "" '')", {"a", "", ""}},
      {R"(a "x\"y\\z\n")", {"a", R"(x"y\z\n)"}},
      {R"(a '\' b)", {"a", "\\", "b"}},
      {R"(a\ b \"c)", {"a b", "\"c"}},
      {R"(echo $HOME | wc)", {"echo", "$HOME", "|", "wc"}},
  };
  for (const Case& c : cases) {
    const auto words = words_of(c.command);
    ASSERT_TRUE(words) << c.command << ": " << words.error().message;
    EXPECT_EQ(*words, c.words) << c.command;
  }
}

TEST(Words, AreRefusedWithTheColumnOfTheCulprit) {
  struct Case {
    std::string command;
    std::size_t column;
  };
  for (const Case& c :
       {Case{"a 'b", 3}, Case{"a \"b", 3}, Case{"abc\\", 4}, Case{"", 1}, Case{"  ", 1}, Case{"''", 1}}) {
    const auto words = words_of(c.command);
    ASSERT_FALSE(words) << c.command;
    EXPECT_EQ(words.error().column, c.column) << c.command;
  }
}

TEST(Words, ShellCharactersAreFoundOnlyWhereAShellWouldReadThem) {
  EXPECT_EQ(first_shell_character("a | b"), 2U);
  EXPECT_EQ(first_shell_character("a '|' \"*\" \\$x"), std::string::npos);
  EXPECT_EQ(first_shell_character("a \"$HOME\""), 3U);
  EXPECT_EQ(first_shell_character("/bin/x --n=1 a@b %"), std::string::npos);
}

TEST(Words, QuotedWordsSplitIntoTheSameWords) {
  kron::testing::for_all(300, [] {
    auto words = *rc::gen::nonEmpty<Words>();
    for (std::string& word : words) std::erase(word, '\0');
    if (words.front().empty()) words.front() = "x";
    const auto split = words_of(quoted_words(words));
    RC_ASSERT(split.has_value());
    RC_ASSERT(*split == words);
  });
}

}  // namespace
}  // namespace kron::jobs
