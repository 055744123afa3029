#include "kron/core/failure_pause.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <vector>

#include "kron/core/evaluate.h"
#include "kron/core/sample_jobs.h"

namespace kron {
namespace {

using testing::utc;

const Instant kNow = utc("2026-03-01T12:00:00Z");

Policy pausing_after(std::uint32_t failures) {
  Policy policy;
  policy.pause_after = failures;
  return policy;
}

// After which of these ends the job is paused, counted from 1; 0: after none.
std::size_t paused_by(std::uint32_t pause_after, const std::vector<std::optional<int>>& exits) {
  JobState state;
  for (std::size_t i = 0; i < exits.size(); ++i) {
    if (note_end(pausing_after(pause_after), state, exits[i], kNow)) return i + 1;
  }
  return 0;
}

TEST(FailurePause, ComesWithTheLastOfSoManyFailuresInARow) {
  const std::optional<int> unknown;
  EXPECT_EQ(paused_by(3, {1, 1, 1}), 3U);
  EXPECT_EQ(paused_by(3, {1, 1}), 0U);
  EXPECT_EQ(paused_by(1, {0, 0, 7}), 3U);
  EXPECT_EQ(paused_by(3, {1, 1, 0, 1, 1}), 0U) << "a success begins the count anew";
  EXPECT_EQ(paused_by(3, {1, 1, 0, 1, 1, 143}), 6U);
  EXPECT_EQ(paused_by(3, {1, unknown, 1, unknown, 2}), 5U) << "an unknown exit neither counts nor resets";
  EXPECT_EQ(paused_by(3, {unknown, unknown, unknown}), 0U);
  EXPECT_EQ(paused_by(0, {1, 1, 1, 1, 1}), 0U);
}

TEST(FailurePause, SaysWhoAndWhyAndBeginsTheCountAnew) {
  JobState state;
  EXPECT_FALSE(note_end(pausing_after(2), state, 1, kNow));
  EXPECT_EQ(state.failures_in_a_row, 1U);
  EXPECT_FALSE(state.suspended);
  EXPECT_TRUE(note_end(pausing_after(2), state, 7, kNow));
  EXPECT_EQ(state.suspended,
            (Suspension{kNow, std::nullopt, false, "kron", "2 runs in a row failed, the last with exit 7"}));
  EXPECT_EQ(state.failures_in_a_row, 0U) << "after a resume it takes as many again";
  EXPECT_TRUE(is_suspended(Job{}, state, kNow));
}

TEST(FailurePause, GoesByWhatTheRecordSaysOfTheEndAndNotByItsCode) {
  JobState state;
  EXPECT_FALSE(note_end(pausing_after(1), state, KnownEnd(2, false), kNow)) << "an exit code that is fine";
  EXPECT_TRUE(note_end(pausing_after(1), state, KnownEnd(0, true), kNow)) << "it wrote to standard error";
}

TEST(FailurePause, CountsNothingWithoutThePolicy) {
  JobState state;
  state.failures_in_a_row = 2;
  EXPECT_FALSE(note_end({}, state, 1, kNow));
  EXPECT_EQ(state, JobState{}) << "what an earlier policy counted is forgotten";
}

TEST(FailurePause, LeavesAnOperatorsPauseAloneUnlessItWouldEndByItself) {
  JobState state;
  state.suspended = Suspension{kNow - Seconds(60), std::nullopt, false, "ada", "disk"};
  const Suspension before = *state.suspended;
  EXPECT_FALSE(note_end(pausing_after(1), state, 1, kNow));
  EXPECT_EQ(state.suspended, before);

  state.suspended->until = kNow + Seconds(60);
  EXPECT_TRUE(note_end(pausing_after(1), state, 1, kNow));
  EXPECT_EQ(state.suspended->since, before.since);
  EXPECT_EQ(state.suspended->until, std::nullopt);
  EXPECT_EQ(state.suspended->by, "kron");

  state.suspended = Suspension{kNow - Seconds(60), kNow - Seconds(1), true, "ada", ""};
  EXPECT_TRUE(note_end(pausing_after(1), state, 1, kNow));
  EXPECT_EQ(state.suspended->since, kNow) << "that pause was over";
  EXPECT_FALSE(state.suspended->skip_missed);
}

// However ends follow one another: paused exactly when the last n known ends failed, since the last pause.
RC_GTEST_PROP(FailurePause, IsTheSameAsLookingAtTheWholePast, ()) {
  const auto pause_after = *rc::gen::inRange<std::uint32_t>(1, 5);
  JobState state;
  std::uint32_t row = 0;
  for (const int exit : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-1, 3))) {
    const std::optional<int> code = exit < 0 ? std::nullopt : std::optional(exit);
    if (code) row = *code == 0 ? 0 : row + 1;
    const bool pauses = code && row == pause_after;
    RC_ASSERT(note_end(pausing_after(pause_after), state, code, kNow) == pauses);
    if (!pauses) continue;
    row = 0;
    state.suspended.reset();  // resumed
  }
}

}  // namespace
}  // namespace kron
