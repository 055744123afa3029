#include "kron/operator/work_queue.h"

#include <gtest/gtest.h>
#include <vector>

#include "kron/operator/fake/samples.h"

namespace kron::kronjobs {
namespace {

using testing::kNoon;

class WorkQueueTest : public ::testing::Test {
 protected:
  std::vector<std::string> taken() {
    std::vector<std::string> all;
    while (auto identity = queue.next()) all.push_back(*identity);
    return all;
  }
  // When it is looked at again, in seconds of the monotonic clock.
  double fail(std::string_view identity, WorkQueue::Failed failed = {}) {
    queue.back_off(identity, Seconds(0), failed);
    return std::chrono::duration<double>(*queue.next_retry()).count();
  }

  using All = std::vector<std::string>;
  WorkQueue queue{{}};
};

TEST_F(WorkQueueTest, GivesEachThatWasTouchedOnce) {
  queue.touch("a", kNoon);
  queue.touch("b", kNoon);
  queue.touch("a", kNoon);
  EXPECT_EQ(taken(), (All{"a", "b"}));
  EXPECT_EQ(taken(), All{});
}

TEST_F(WorkQueueTest, WakesWhenTheTimeHasCome) {
  queue.rest("a", kNoon);
  EXPECT_EQ(queue.next_time(), kNoon);
  queue.advance(kNoon - Seconds(1), Seconds(0));
  EXPECT_EQ(taken(), All{});
  queue.advance(kNoon + Seconds(3), Seconds(0));
  EXPECT_EQ(taken(), All{"a"});
  EXPECT_EQ(queue.turn("a", kNoon + Seconds(3)), (Turn{kNoon + Seconds(3), kNoon})) << "due when the timer fired";
}

TEST_F(WorkQueueTest, CountsATurnFromItsTimerAlsoWhenSomethingElseHappensFirst) {
  queue.rest("a", kNoon);
  queue.touch("a", kNoon + Seconds(2));
  EXPECT_EQ(queue.turn("a", kNoon + Seconds(2)).on_time_since, kNoon);
}

TEST_F(WorkQueueTest, KeepsTheTurnUntilThereIsNothingToDoAndNoLongerThanTenSeconds) {
  queue.touch("a", kNoon);
  taken();
  queue.begin("a");
  queue.end("a");
  queue.back_off("a", Seconds(0), {});
  queue.wait("a", std::nullopt);
  EXPECT_EQ(queue.turn("a", kNoon + Seconds(8)).on_time_since, kNoon);
  EXPECT_EQ(queue.turn("a", kNoon + Seconds(18)).on_time_since, kNoon + Seconds(8));
  queue.rest("a", std::nullopt);
  EXPECT_EQ(queue.turn("a", kNoon + Seconds(9)).on_time_since, kNoon + Seconds(9));
}

TEST_F(WorkQueueTest, LooksAtNothingThatACallIsUnderWayFor) {
  queue.touch("a", kNoon);
  queue.touch("b", kNoon);
  queue.begin("a");
  queue.touch("a", kNoon);
  EXPECT_EQ(taken(), All{"b"});
  queue.touch("c", kNoon);
  queue.end("a");
  EXPECT_EQ(taken(), (All{"a", "c"})) << "what was begun comes first";
}

TEST_F(WorkQueueTest, WaitsLongerAfterEachFailureAndNoLongerThanFiveMinutes) {
  std::vector<double> pauses;
  for (int i = 0; i < 11; ++i) pauses.push_back(fail("a"));
  EXPECT_EQ(pauses, (std::vector<double>{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}));
  queue.succeeded("a");
  EXPECT_EQ(fail("a"), 1);
  EXPECT_EQ(fail("b", {.least = Seconds(7)}), 1) << "of a, which comes first";
  queue.advance(kNoon, Seconds(1));
  EXPECT_EQ(taken(), All{"a"});
  EXPECT_EQ(queue.next_retry(), Seconds(7)) << "as long as the server asks";
}

TEST_F(WorkQueueTest, TriesAgainAtOnceWhenSomethingHappensOrBecomesDue) {
  fail("a");
  fail("b", {.until = kNoon});
  queue.touch("a", kNoon);
  EXPECT_EQ(taken(), All{"a"});
  queue.advance(kNoon, Seconds(0));
  EXPECT_EQ(taken(), All{"b"});
  EXPECT_EQ(queue.next_retry(), std::nullopt);
}

TEST_F(WorkQueueTest, TriesAgainWhenTheServerIsBackWhatHadNoAnswer) {
  fail("a", {.is_link = true});
  fail("b");
  queue.link_is_back();
  EXPECT_EQ(taken(), All{"a"});
}

TEST_F(WorkQueueTest, ForgetsWhatIsGone) {
  queue.touch("a", kNoon);
  queue.rest("b", kNoon);
  queue.forget("a");
  queue.forget("b");
  EXPECT_EQ(taken(), All{});
  EXPECT_EQ(queue.next_time(), std::nullopt);
}

}  // namespace
}  // namespace kron::kronjobs
