#include "kron/daemon/ping_queue.h"

#include <gtest/gtest.h>

namespace kron::daemon::ping_queue_test {
namespace {

using namespace std::chrono_literals;

Ping ping(std::string job, std::string signal = "start", const std::string& url = "https://hc.example/a") {
  return {.job = std::move(job), .url = std::make_shared<const std::string>(url), .signal = std::move(signal)};
}

// "a start": whose turn it is, and what he tells.
std::string taken(PingQueue& queue, Nanoseconds now) {
  const auto next = queue.take(now);
  return next ? next->ping.job + " " + next->ping.signal : "";
}

TEST(PingQueue, ThoseOfAJobGoOneAfterTheOther) {
  PingQueue queue;
  for (const char* signal : {"start", "0", "log"}) ASSERT_TRUE(queue.push(ping("a", signal), 0s));
  ASSERT_TRUE(queue.push(ping("b", "start"), 0s));
  EXPECT_EQ(taken(queue, 0s), "a start");
  EXPECT_EQ(taken(queue, 0s), "b start") << "another job does not wait";
  EXPECT_EQ(taken(queue, 0s), "") << "the first is not there yet";
  queue.sent("a");
  EXPECT_EQ(taken(queue, 1s), "a 0");
  EXPECT_FALSE(queue.failed("a", 1s));
  EXPECT_EQ(taken(queue, 1s), "") << "what follows waits while it is tried again";
  EXPECT_EQ(taken(queue, 3s), "a 0");
  queue.sent("a");
  EXPECT_EQ(taken(queue, 3s), "a log");
  queue.sent("a");
  queue.sent("b");
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(queue.next(), std::nullopt);
}

TEST(PingQueue, ThreeTriesAndTheirPausesAreHalfAMinute) {
  PingQueue queue;
  ASSERT_TRUE(queue.push(ping("a"), 100s));
  const auto first = queue.take(100s);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->until, 108s);
  EXPECT_FALSE(queue.failed("a", 108s));
  EXPECT_EQ(queue.next(), 110s);
  EXPECT_FALSE(queue.take(110s - 1ns));
  EXPECT_EQ(queue.take(110s)->until, 118s);
  EXPECT_FALSE(queue.failed("a", 118s));
  EXPECT_EQ(queue.next(), 122s);
  EXPECT_EQ(queue.take(122s)->until, 130s) << "and not a second later";
  EXPECT_TRUE(queue.failed("a", 130s));
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_TRUE(queue.take_expired().empty()) << "who tried it tells of it";
}

TEST(PingQueue, ThreeQuickFailuresAreEnough) {
  PingQueue queue;
  ASSERT_TRUE(queue.push(ping("a"), 0s));
  ASSERT_TRUE(queue.push(ping("a", "0"), 0s));
  for (const Nanoseconds at : {0s, 2s}) {
    ASSERT_EQ(taken(queue, at), "a start");
    EXPECT_FALSE(queue.failed("a", at));
  }
  EXPECT_EQ(queue.next(), 6s);
  ASSERT_EQ(taken(queue, 6s), "a start");
  EXPECT_TRUE(queue.failed("a", 6s));
  EXPECT_EQ(taken(queue, 6s), "a 0") << "with three tries of its own";
  EXPECT_FALSE(queue.failed("a", 6s));
}

TEST(PingQueue, ATryEndsWithItsPing) {
  PingQueue queue;
  ASSERT_TRUE(queue.push(ping("a"), 0s));
  EXPECT_EQ(queue.take(29s)->until, 30s);
  EXPECT_TRUE(queue.failed("a", 30s)) << "there is no time for another";
}

TEST(PingQueue, NoneIsTriedAgainThatWouldBeLate) {
  PingQueue queue;
  ASSERT_TRUE(queue.push(ping("a"), 0s));
  ASSERT_TRUE(queue.take(27s));
  EXPECT_FALSE(queue.failed("a", 28s - 1ns));
  ASSERT_TRUE(queue.push(ping("b"), 0s));
  ASSERT_EQ(taken(queue, 28s), "b start");
  EXPECT_TRUE(queue.failed("b", 28s)) << "two seconds later its half minute is over";
}

TEST(PingQueue, WhatIsLateIsDroppedAndNotSent) {
  PingQueue queue;
  ASSERT_TRUE(queue.push(ping("a"), 0s));
  ASSERT_TRUE(queue.push(ping("a", "0"), 10s));
  ASSERT_TRUE(queue.push(ping("b"), 0s));
  EXPECT_EQ(taken(queue, 30s), "a 0") << "the later one is in time";
  const auto expired = queue.take_expired();
  ASSERT_EQ(expired.size(), 2U);
  EXPECT_EQ(expired[0].job + expired[1].job, "ab");
  EXPECT_TRUE(queue.take_expired().empty());
  EXPECT_EQ(queue.size(), 1U);
}

TEST(PingQueue, HoldsNoMoreThanItMay) {
  PingQueue queue;
  for (std::size_t i = 0; i < PingQueue::kMost; ++i) {
    ASSERT_TRUE(queue.push(ping(std::to_string(i / 2)), 0s)) << i;
  }
  EXPECT_FALSE(queue.push(ping("one more"), 0s));
  EXPECT_EQ(queue.size(), PingQueue::kMost);
  ASSERT_EQ(taken(queue, 0s), "0 start");
  EXPECT_FALSE(queue.push(ping("one more"), 0s)) << "what is tried takes its room";
  queue.sent("0");
  EXPECT_TRUE(queue.push(ping("one more"), 0s));
  EXPECT_FALSE(queue.push(ping("one more"), 0s));
  EXPECT_FALSE(queue.take(60s)) << "all of them are late";
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(queue.take_expired().size(), PingQueue::kMost);
  EXPECT_TRUE(queue.push(ping("a"), 60s));
}

TEST(PingQueue, AReceiverThatHangsLeavesRoomForOthers) {
  PingQueue queue;
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(queue.push(ping("slow" + std::to_string(i)), 0s));
  ASSERT_TRUE(queue.push(ping("quick", "start", "https://hc2.example/a"), 0s));
  std::size_t slow = 0;
  bool has_quick = false;
  while (const auto next = queue.take(0s)) {
    slow += next->ping.job.starts_with("slow") ? 1 : 0;
    has_quick = has_quick || next->ping.job == "quick";
  }
  EXPECT_TRUE(has_quick);
  EXPECT_EQ(slow, PingQueue::kMostOfReceiver);
  queue.sent("slow0");
  EXPECT_TRUE(queue.take(0s));
  EXPECT_FALSE(queue.take(0s));
  EXPECT_TRUE(queue.failed("slow1", 29s));
  EXPECT_TRUE(queue.take(29s)) << "a failure makes room, too";
}

TEST(PingQueue, AUrlThatChangesIsAnotherReceiversFromThenOn) {
  PingQueue queue;
  ASSERT_TRUE(queue.push(ping("a", "start"), 0s));
  ASSERT_TRUE(queue.push(ping("a", "0", "http://localhost/b"), 0s));
  ASSERT_EQ(taken(queue, 0s), "a start");
  queue.sent("a");
  const auto next = queue.take(0s);
  ASSERT_TRUE(next);
  EXPECT_EQ(*next->ping.url, "http://localhost/b");
  queue.sent("a");
  EXPECT_EQ(queue.size(), 0U);
}

}  // namespace
}  // namespace kron::daemon::ping_queue_test
