#include "kron/history/up_times.h"

#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"

namespace kron::history {
namespace {

using namespace std::chrono_literals;
using testing::utc;

const Instant kNoonUp = utc("2026-03-01T12:00:00Z");

TEST(UpTimes, BeatsLengthenTheStretch) {
  UpTimes up;
  up.begin(kNoonUp, 100s);
  up.beat(kNoonUp + 60s, 160s);
  up.beat(kNoonUp + 121s, 220s);
  EXPECT_EQ(up.all(), (std::vector<UpTime>{{kNoonUp, kNoonUp + 121s}}));
}

TEST(UpTimes, AnotherKrondBeginsAStretchOfItsOwn) {
  UpTimes first;
  first.begin(kNoonUp, 100s);
  first.beat(kNoonUp + 60s, 160s);
  UpTimes second(first.all());
  second.begin(kNoonUp + 600s, 700s);
  EXPECT_EQ(down_at(second.all(), kNoonUp + 300s), (DownTime{kNoonUp + 60s, kNoonUp + 600s, UpTime::End::none}));
  EXPECT_EQ(down_at(second.all(), kNoonUp + 30s), std::nullopt);
  EXPECT_EQ(down_at(second.all(), kNoonUp - 30s), std::nullopt) << "nobody knows what was before";
  EXPECT_EQ(down_at(second.all(), kNoonUp + 900s), std::nullopt) << "it lasts";
}

TEST(UpTimes, WhatIsKnownToHaveBeenUp) {
  const std::vector<UpTime> up{{kNoonUp, kNoonUp + 60s}, {kNoonUp + 600s, kNoonUp + 660s}};
  EXPECT_FALSE(was_up_at(up, kNoonUp - 1s)) << "nobody knows";
  EXPECT_TRUE(was_up_at(up, kNoonUp));
  EXPECT_TRUE(was_up_at(up, kNoonUp + 60s));
  EXPECT_FALSE(was_up_at(up, kNoonUp + 61s));
  EXPECT_TRUE(was_up_at(up, kNoonUp + 900s)) << "it lasts";
  EXPECT_FALSE(was_up_at({{kNoonUp, kNoonUp + 60s, UpTime::End::stopped}}, kNoonUp + 61s));
  EXPECT_FALSE(was_up_at({}, kNoonUp));
}

TEST(UpTimes, WhoIsToldToStopSaysSo) {
  UpTimes up;
  up.begin(kNoonUp, 100s);
  up.stop(kNoonUp + 7s);
  UpTimes next(up.all());
  next.begin(kNoonUp + 3600s, 5s);
  EXPECT_EQ(down_at(next.all(), kNoonUp + 8s), (DownTime{kNoonUp + 7s, kNoonUp + 3600s, UpTime::End::stopped}));
}

TEST(UpTimes, ASleepIsABeatThatComesLate) {
  UpTimes up;
  up.begin(kNoonUp, 100s);
  up.beat(kNoonUp + 8h, 8h + 100s);
  EXPECT_EQ(down_at(up.all(), kNoonUp + 4h), (DownTime{kNoonUp, kNoonUp + 8h, UpTime::End::slept}));
}

TEST(UpTimes, AClockThatIsSetForwardJumpsOverATime) {
  UpTimes up;
  up.begin(kNoonUp, 100s);
  up.beat(kNoonUp + 1h + 60s, 160s);
  EXPECT_EQ(down_at(up.all(), kNoonUp + 30min), (DownTime{kNoonUp, kNoonUp + 1h + 60s, UpTime::End::clock_set}));
}

TEST(UpTimes, AClockThatIsSetBackJumpsOverNothing) {
  UpTimes up;
  up.begin(kNoonUp, 100s);
  up.beat(kNoonUp - 1h, 160s);
  up.beat(kNoonUp - 1h + 60s, 220s);
  EXPECT_EQ(up.all().size(), 2U);
  EXPECT_EQ(down_at(up.all(), kNoonUp - 30min), std::nullopt);
}

TEST(UpTimes, WhoWasBusyDidNotSleep) {
  UpTimes up;
  up.begin(kNoonUp, 100s);
  up.beat(kNoonUp + 10min, 700s, 9min);
  EXPECT_EQ(up.all(), (std::vector<UpTime>{{kNoonUp, kNoonUp + 10min}}));
  up.beat(kNoonUp + 20min, 1300s, 6min);
  EXPECT_EQ(up.all().size(), 2U);
}

TEST(UpTimes, AClockThatCameToATimeTwiceWasUpThen) {
  // Years ahead for a moment, as a machine without a battery may be.
  const std::vector<UpTime> up{{kNoonUp, kNoonUp + 1h},
                               {kNoonUp + 30000h, kNoonUp + 30000h, UpTime::End::clock_set},
                               {kNoonUp + 3h, kNoonUp + 4h}};
  EXPECT_EQ(down_at(up, kNoonUp + 3h + 30min), std::nullopt);
  EXPECT_EQ(down_at(up, kNoonUp + 2h), (DownTime{kNoonUp + 1h, kNoonUp + 3h, UpTime::End::none}));
}

TEST(UpTimes, OfManyTheShortestTimeBetweenTwoIsForgotten) {
  UpTimes up;
  up.begin(kNoonUp, 0s);
  up.stop(kNoonUp + 1h);
  // A night without krond, and then one that ends again and again.
  const Instant morning = kNoonUp + 20h;
  for (std::size_t i = 0; i < 3 * UpTimes::kMost; ++i) up.begin(morning + Seconds(10 * i), 0s);
  EXPECT_EQ(up.all().size(), UpTimes::kMost);
  EXPECT_EQ(down_at(up.all(), kNoonUp + 8h), (DownTime{kNoonUp + 1h, morning, UpTime::End::stopped}));
  EXPECT_EQ(up.all().back().from, morning + Seconds(10 * (3 * UpTimes::kMost - 1)));
  EXPECT_EQ(UpTimes(std::vector<UpTime>(UpTimes::kMost + 1, {kNoonUp, kNoonUp})).all().size(), UpTimes::kMost);
}

TEST(UpTimes, WhatIsForgottenLeavesTheLastOneAlone) {
  UpTimes up;
  for (std::size_t i = 0; i < UpTimes::kMost; ++i) up.begin(kNoonUp + Seconds(10 * i), 0s);
  up.begin(kNoonUp, 0s);  // the clock was set back
  up.beat(kNoonUp + 60s, 60s);
  EXPECT_EQ(up.all().size(), UpTimes::kMost);
  EXPECT_EQ(up.all().back(), (UpTime{kNoonUp, kNoonUp + 60s}));
}

TEST(UpTimes, AreReadBackAsTheyWereWritten) {
  const std::vector<UpTime> all{{kNoonUp, kNoonUp + 1s, UpTime::End::stopped},
                                {kNoonUp + 9s, kNoonUp + 10s, UpTime::End::slept},
                                {kNoonUp + 11s, kNoonUp + 12s, UpTime::End::clock_set},
                                {kNoonUp + 13s, kNoonUp + 14s, UpTime::End::none}};
  EXPECT_EQ(parse_up_times(up_times_text(all)).value(), all);
  EXPECT_EQ(up_times_text({all[0]}),
            "{\"version\":1,\"up\":[{\"from\":\"2026-03-01T12:00:00Z\",\"to\":\"2026-03-01T12:00:01Z\","
            "\"end\":\"stopped\"}]}\n");
  for (const char* bad : {"", "[]", "{}", R"({"up":[{}]})", R"({"up":[{"from":"x","to":"y"}]})", R"({"up":{}})"}) {
    EXPECT_FALSE(parse_up_times(bad)) << bad;
  }
}

}  // namespace
}  // namespace kron::history
