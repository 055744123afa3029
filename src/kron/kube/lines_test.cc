#include "kron/kube/lines.h"

#include <gtest/gtest.h>
#include <vector>

#include "kron/testing/property.h"

namespace kron::kube {
namespace {

using Lines = std::vector<std::string>;

struct Feeder {
  LineReader reader;
  Lines lines = {};

  Status feed(std::string_view bytes) {
    return reader.feed(bytes, [&](std::string_view line) { lines.emplace_back(line); });
  }
};

TEST(Lines, ComeOutWhenTheirNewlineHasCome) {
  Feeder feeder;
  ASSERT_TRUE(feeder.feed("{\"a\""));
  EXPECT_EQ(feeder.lines, Lines{});
  ASSERT_TRUE(feeder.feed(":1}\n{}\n\n{\"b"));
  EXPECT_EQ(feeder.lines, (Lines{"{\"a\":1}", "{}"}));
}

TEST(Lines, AreTheSameHoweverTheBytesAreCut) {
  testing::for_all(200, [](const std::vector<std::string>& texts) {
    std::string stream;
    Lines expected;
    for (std::string text : texts) {
      std::erase(text, '\n');
      stream += text + '\n';
      if (!text.empty()) expected.push_back(text);
    }
    Feeder feeder;
    for (std::string_view rest = stream; !rest.empty();) {
      const auto piece = *rc::gen::inRange<std::size_t>(1, 8);
      RC_ASSERT(feeder.feed(rest.substr(0, piece)).has_value());
      rest.remove_prefix(std::min(piece, rest.size()));
    }
    RC_ASSERT(feeder.lines == expected);
  });
}

TEST(Lines, OfTheLimitAreReadAndLongerOnesEndTheStream) {
  Feeder feeder{LineReader(5)};
  ASSERT_TRUE(feeder.feed("12345\n123"));
  ASSERT_TRUE(feeder.feed("45\n"));
  const Status refused = feeder.feed("ab\n123456");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_EQ(feeder.lines, (Lines{"12345", "12345", "ab"}));
  EXPECT_FALSE(feeder.feed("7\nok\n"));
  EXPECT_EQ(feeder.lines.size(), 3U);
}

TEST(Lines, BeyondTheLimitAreNotKeptInMemory) {
  Feeder feeder{LineReader(5)};
  EXPECT_TRUE(feeder.feed("1234"));
  EXPECT_FALSE(feeder.feed("56"));
}

}  // namespace
}  // namespace kron::kube
