#include "kron/http/backlog.h"

#include <gtest/gtest.h>

namespace kron::http {
namespace {

class BacklogTest : public ::testing::Test {
 protected:
  int wakes_ = 0;
  Backlog backlog_{10, [this] { ++wakes_; }};
};

TEST_F(BacklogTest, WakesTheSenderOnceForWhatItTakesTogether) {
  EXPECT_TRUE(backlog_.write("ab"));
  EXPECT_TRUE(backlog_.write("cd"));
  EXPECT_EQ(wakes_, 1);
  EXPECT_EQ(backlog_.take().bytes, "abcd");
  EXPECT_TRUE(backlog_.write("e"));
  EXPECT_EQ(wakes_, 2);
}

TEST_F(BacklogTest, WhatIsBeingSentCountsAsWaiting) {
  EXPECT_TRUE(backlog_.write("123456"));
  (void)backlog_.take();
  EXPECT_TRUE(backlog_.write("1234"));
  backlog_.sent();
  EXPECT_TRUE(backlog_.write("123456"));
  (void)backlog_.take();
  EXPECT_FALSE(backlog_.write("1"));
}

TEST_F(BacklogTest, AReaderThatIsTooSlowIsCutOff) {
  EXPECT_TRUE(backlog_.write("1234567890"));
  EXPECT_FALSE(backlog_.is_cut());
  EXPECT_FALSE(backlog_.write("1"));
  EXPECT_TRUE(backlog_.is_cut());
  EXPECT_EQ(wakes_, 2) << "the sender may be stuck in sending";
  EXPECT_FALSE(backlog_.write(""));
  EXPECT_EQ(backlog_.take().bytes, "");
}

TEST_F(BacklogTest, TheEndGoesOutBehindWhatWaits) {
  EXPECT_TRUE(backlog_.write("ab"));
  backlog_.end();
  EXPECT_FALSE(backlog_.write("c"));
  const Backlog::Batch batch = backlog_.take();
  EXPECT_EQ(batch.bytes, "ab");
  EXPECT_TRUE(batch.is_last);
  EXPECT_TRUE(backlog_.has_ended());
  EXPECT_FALSE(backlog_.is_cut());
}

TEST_F(BacklogTest, NothingIsTakenOnceNobodyReads) {
  EXPECT_TRUE(backlog_.write("ab"));
  backlog_.close();
  EXPECT_FALSE(backlog_.write("c"));
  backlog_.end();
  EXPECT_EQ(wakes_, 1);
  EXPECT_EQ(backlog_.take().bytes, "");
}

TEST_F(BacklogTest, CallsOnceWhenNothingWaitsAnyMore) {
  int drained = 0;
  EXPECT_TRUE(backlog_.write("ab"));
  backlog_.on_drained([&] { ++drained; });
  (void)backlog_.take();
  EXPECT_TRUE(backlog_.write("c"));
  backlog_.sent();
  EXPECT_EQ(drained, 0);
  (void)backlog_.take();
  backlog_.sent();
  backlog_.sent();
  EXPECT_EQ(drained, 1);
}

TEST_F(BacklogTest, AWriterThatAsksLateIsCalledBackToo) {
  backlog_.on_drained([] {});
  EXPECT_EQ(wakes_, 1);
}

TEST_F(BacklogTest, ACallThatIsNeverMadeIsLetGo) {
  const auto held = std::make_shared<int>(1);
  backlog_.on_drained([held] {});
  EXPECT_EQ(held.use_count(), 2);
  backlog_.close();
  EXPECT_EQ(held.use_count(), 1);
  backlog_.on_drained([held] {});
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace kron::http
