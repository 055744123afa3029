#include "kron/cluster/rights_watch.h"

#include <gtest/gtest.h>

#include "kron/cluster/scripts.h"

namespace kron::cluster {
namespace {

using News = RightsWatch::News;

const RedisCommand kStepCommand{"EVALSHA", script_named("step").sha, "7", "{c}:kron:state", "{c}:rundata"};
const RedisCommand kListCommand{"HSCAN", "{c}:jobs", "0"};

RedisReply refusal() {
  return {.how = RedisReply::How::error, .why = "NOPERM this user has no permissions to run the 'evalsha' command"};
}

TEST(RightsWatch, ARefusalNamesItsCommandAndItsKey) {
  RightsWatch rights;
  RedisReply refused = refusal();
  EXPECT_EQ(rights.note(kStepCommand, refused), News::missing);
  EXPECT_TRUE(refused.why.starts_with("NOPERM ")) << "who goes by the code still can";
  EXPECT_TRUE(refused.why.ends_with("[EVALSHA (script step) on {c}:kron:state]")) << refused.why;
  EXPECT_EQ(told_of({"PING"}), "PING");
  EXPECT_EQ(told_of({"CONFIG", "GET", "appendfsync"}), "CONFIG GET");
  EXPECT_EQ(told_of({"XREAD", "COUNT", "1", "STREAMS", "key", "0"}), "XREAD on key");
  EXPECT_EQ(told_of({"EVALSHA", "0000", "1", "key"}), "EVALSHA (script unknown) on key");
}

TEST(RightsWatch, IsNewsOnceUntilSomethingThatWasRefusedWorksAgain) {
  RightsWatch rights;
  RedisReply fine;
  RedisReply refused = refusal();
  EXPECT_EQ(rights.note(kStepCommand, fine), News::none);
  EXPECT_EQ(rights.note(kStepCommand, refused), News::missing);
  EXPECT_EQ(rights.note(kStepCommand, refused = refusal()), News::none);
  EXPECT_EQ(rights.note(kListCommand, refused = refusal()), News::none);
  EXPECT_EQ(rights.note({"PING"}, fine), News::none) << "that was never forbidden";
  EXPECT_TRUE(rights.is_missing());
  EXPECT_EQ(rights.note(kListCommand, fine), News::back);
  EXPECT_FALSE(rights.is_missing());
  EXPECT_EQ(rights.note(kStepCommand, fine), News::none);
  EXPECT_EQ(rights.note(kStepCommand, refused = refusal()), News::missing) << "the next time";
}

TEST(RightsWatch, OtherErrorsAreNoMatterOfRights) {
  RightsWatch rights;
  RedisReply other{.how = RedisReply::How::error, .why = "OOM command not allowed"};
  EXPECT_EQ(rights.note(kStepCommand, other), News::none);
  EXPECT_EQ(other.why, "OOM command not allowed");
  EXPECT_TRUE(is_missing_right("ERR Error running script: The user executing the script can't run this command"));
}

}  // namespace
}  // namespace kron::cluster
