#include "kron/core/dst_rule.h"

#include <gtest/gtest.h>

namespace kron {
namespace {

TEST(DstRule, IsReadInAnyOrderAndKeepsWhatIsLeftOut) {
  const DstRule interval{DstRule::Gap::skip, DstRule::Overlap::both};
  EXPECT_EQ(*parse_dst_rule("gap=skip, overlap=second"), (DstRule{DstRule::Gap::skip, DstRule::Overlap::second}));
  EXPECT_EQ(*parse_dst_rule("overlap=both"), (DstRule{DstRule::Gap::run, DstRule::Overlap::both}));
  EXPECT_EQ(*parse_dst_rule("gap=run", interval), (DstRule{DstRule::Gap::run, DstRule::Overlap::both}));
}

TEST(DstRule, RefusesWhatItDoesNotKnowAndSaysWhere) {
  for (const std::string text : {"", "gap", "gap=maybe", "gap=run,", "gap=run,gap=skip", "overlap=third", "Gap=run"}) {
    const Result<DstRule> rule = parse_dst_rule(text);
    ASSERT_FALSE(rule) << text;
    EXPECT_EQ(rule.error().field, "dst");
    EXPECT_GE(rule.error().column, 1U);
  }
}

TEST(DstRule, IsReadBackAsPrinted) {
  for (const DstRule::Gap gap : {DstRule::Gap::run, DstRule::Gap::skip}) {
    for (const auto overlap : {DstRule::Overlap::first, DstRule::Overlap::second, DstRule::Overlap::both}) {
      EXPECT_EQ(*parse_dst_rule(to_string(DstRule{gap, overlap})), (DstRule{gap, overlap}));
    }
  }
}

}  // namespace
}  // namespace kron
