#include "kron/core/make_job.h"

#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"

namespace kron::make_job_test {
namespace {

TEST(MakeJob, GivesAJobThatCanBeScheduledAsItWasDrafted) {
  const Job draft = testing::make_job({.schedule = "0 * * * *", .window = "3h", .deadline = "1d"});
  EXPECT_EQ(make_job(draft).value(), draft);
}

TEST(MakeJob, RefusesWhatCannotBeScheduledAndNamesTheFieldAndTheCure) {
  const struct {
    testing::JobSpec spec;
    const char* field;
    const char* cure;
  } cases[] = {
      {{.identity = ""}, "identity", "any text in UTF-8"},
      {{.identity = "\xFF"}, "identity", "any text in UTF-8"},
      {{.schedule = "* * * * * *", .window = "4096s"}, "window", "make the window shorter"},
      {{.schedule = "@yearly", .window = "36501d"}, "window", "make it shorter"},
      {{.deadline = "36501d"}, "policy.deadline", "make it shorter"},
      {{.concurrency = Concurrency::queue}, "policy.concurrency", "give it a deadline such as 1h"},
  };
  for (const auto& c : cases) {
    const Result<Job> job = make_job(testing::make_job(c.spec));
    ASSERT_FALSE(job) << c.field;
    EXPECT_EQ(job.error().code, Code::invalid);
    EXPECT_EQ(job.error().field, c.field);
    EXPECT_NE(job.error().message.find(c.cure), std::string::npos) << job.error().message;
  }
}

TEST(MakeJob, LimitsWhatAPolicyMayWaitFor) {
  Job draft = testing::make_job({.deadline = "1s", .concurrency = Concurrency::queue});
  draft.policy.pause_after = kMostPauseAfter;
  draft.policy.catch_up_spread = kLongestDuration;
  EXPECT_EQ(make_job(draft).value(), draft);

  draft.policy.pause_after = kMostPauseAfter + 1;
  EXPECT_EQ(make_job(draft).error().field, "policy.pauseAfter");
  EXPECT_NE(make_job(draft).error().message.find("0 is never"), std::string::npos);

  draft.policy.pause_after = 0;
  draft.policy.catch_up_spread = kLongestDuration + Seconds(1);
  EXPECT_EQ(make_job(draft).error().field, "policy.catchUpSpread");
}

TEST(MakeJob, TheLongestDurationsAreAllowed) {
  EXPECT_TRUE(make_job(testing::make_job({.schedule = "@yearly", .window = "36500d", .deadline = "36500d"})));
}

// Longer than what is left of the years that schedules know, from where their periods are counted.
TEST(MakeJob, AWindowOfCenturiesIsRefusedHoweverOftenTheJobIsDue) {
  EXPECT_FALSE(make_job(testing::make_job({.schedule = "* * * * * *", .window = "76000d"})));
  EXPECT_FALSE(make_job(testing::make_job({.schedule = "* * * * * *", .window = "36500d"})));
}

TEST(MakeJob, AnAdapterMayAllowFewerOpenPeriods) {
  const Job draft = testing::make_job({.schedule = "* * * * *", .window = "256m"});
  EXPECT_TRUE(make_job(draft));
  EXPECT_TRUE(make_job(draft, {.open_periods = 257}));
  EXPECT_FALSE(make_job(draft, {.open_periods = 256}));
}

}  // namespace
}  // namespace kron::make_job_test
