#include "kron/runner/exec/output_mask.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "kron/runner/protocol.h"
#include "kron/testing/property.h"

namespace kron::exec {
namespace {

void keep(void* context, const char* bytes, std::size_t size) {
  static_cast<std::string*>(context)->append(bytes, size);
}

// In pieces that end at each of `ends`.
std::string masked(const MaskedValues& values, const std::string& text, const std::vector<std::size_t>& ends) {
  std::string stored;
  OutputMask mask;
  std::size_t at = 0;
  for (const std::size_t end : ends) {
    mask.append(values, text.data() + at, end - at, keep, &stored);
    at = end;
  }
  mask.append(values, text.data() + at, text.size() - at, keep, &stored);
  mask.finish(values, keep, &stored);
  return stored;
}

class OutputMaskTest : public ::testing::Test {
 protected:
  void add(const std::string& value) {
    texts_.push_back(std::make_unique<std::string>(value));
    ASSERT_TRUE(values_.add_lines_of(*texts_.back()));
  }

  MaskedValues values_;
  std::vector<std::unique_ptr<std::string>> texts_;
};

TEST_F(OutputMaskTest, ValuesAreReplacedWhereverAWriteEnds) {
  add("hunter2");
  add("swordfish\n");
  ASSERT_TRUE(values_.finish());
  const std::string text = "a hunter2, hunter, hhunter2swordfish\nhunter2";
  const std::string wanted = "a [masked], hunter, h[masked][masked]\n[masked]";
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      ASSERT_EQ(masked(values_, text, {first, second}), wanted) << first << " " << second;
    }
  }
  std::vector<std::size_t> each;
  for (std::size_t i = 1; i < text.size(); ++i) each.push_back(i);
  EXPECT_EQ(masked(values_, text, each), wanted);
}

TEST_F(OutputMaskTest, TheLongestValueWins) {
  add("hunter2");
  add("hunter2-and-more");
  add("2-an");
  ASSERT_TRUE(values_.finish());
  EXPECT_EQ(masked(values_, "hunter2-and-more.", {}), "[masked].");
  EXPECT_EQ(masked(values_, "hunter2-and-less.", {}), "[masked]-and-less.");
  EXPECT_EQ(masked(values_, "hunter2-and-more.", {7, 12}), "[masked].");
  EXPECT_EQ(masked(values_, "hunter2-and-", {7}), "[masked]-and-");
  EXPECT_EQ(masked(values_, "x2-an", {3}), "x[masked]");
}

TEST_F(OutputMaskTest, EveryLineOfATextIsAValueUnlessItIsTooShort) {
  add("-----BEGIN KEY-----\n  abcdef \r\nxyz\n\nlast");
  ASSERT_TRUE(values_.finish());
  EXPECT_EQ(masked(values_, "abcdef xyz last -----BEGIN KEY-----\n", {}), "[masked] xyz [masked] [masked]\n");
  EXPECT_EQ(values_.longest(), 19U);
}

TEST(MaskedValues, OfTooFewBytesAreNoneAndTooManyAreRefused) {
  MaskedValues values;
  EXPECT_TRUE(values.add_lines_of(std::string(kLeastMasked - 1, 'x')));
  EXPECT_TRUE(values.empty());
  std::string many;
  for (std::size_t i = 0; i < kMostMasked; ++i) many += "value" + std::to_string(i) + "\n";
  EXPECT_TRUE(values.add_lines_of(many));
  EXPECT_FALSE(values.add_lines_of("one more"));
}

TEST_F(OutputMaskTest, ALongValueIsMaskedAcrossManyWrites) {
  const std::string value(kMostSecretFile, 'k');
  add(value);
  ASSERT_TRUE(values_.finish());
  const std::string text = "<" + value + ">" + value.substr(1) + "|";
  std::vector<std::size_t> ends;
  for (std::size_t at = 1000; at < text.size(); at += 1000) ends.push_back(at);
  EXPECT_EQ(masked(values_, text, ends), "<[masked]>" + value.substr(1) + "|");
}

// As one who has all of it before him would do it.
std::string masked_at_once(const std::vector<std::string>& values, const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t longest = 0;
    for (const std::string& value : values) {
      if (value.size() >= kLeastMasked && text.compare(at, value.size(), value) == 0) {
        longest = std::max(longest, value.size());
      }
    }
    result += longest > 0 ? runner::kMasked : text.substr(at, 1);
    at += std::max<std::size_t>(longest, 1);
  }
  return result;
}

TEST(OutputMask, HowItIsCutIntoWritesChangesNothing) {
  kron::testing::for_all(500, [] {
    const auto letters = rc::gen::element('a', 'b');
    const auto given = *rc::gen::container<std::vector<std::string>>(
        *rc::gen::inRange<std::size_t>(1, 6), rc::gen::resize(9, rc::gen::container<std::string>(letters)));
    const std::string text = *rc::gen::resize(80, rc::gen::container<std::string>(letters));
    std::vector<std::size_t> ends =
        *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, text.size() + 1));
    std::sort(ends.begin(), ends.end());
    MaskedValues values;
    for (const std::string& value : given) RC_ASSERT(values.add_lines_of(value));
    RC_ASSERT(values.finish());
    if (values.empty()) return;
    RC_ASSERT(masked(values, text, ends) == masked_at_once(given, text));
  });
}

}  // namespace
}  // namespace kron::exec
