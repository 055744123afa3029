#include "kron/api/job_end.h"

#include <gtest/gtest.h>

// What the metrics of a job are told of its history.
namespace kron::api::job_end_test {
namespace {

constexpr Instant kAt = instant_of(1'772'409'600);

history::Entry run(std::optional<int> code, std::string detail = "") {
  return {.job = "a",
          .outcome = Outcome::executed,
          .detail = std::move(detail),
          .run_id = "r",
          .started_at = kAt,
          .ended_at = kAt + Seconds(5),
          .exit_code = code};
}

TEST(JobEnd, OfARunIsItsResultAndDuration) {
  const std::pair<history::Entry, const char*> cases[] = {{run(0), "succeeded"},
                                                          {run(1), "failed"},
                                                          {run(143, "timed out after 2s"), "timed_out"},
                                                          {run(std::nullopt), "unknown"}};
  for (const auto& [entry, outcome] : cases) {
    const auto end = job_end_of(entry);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->outcome, outcome);
    EXPECT_EQ(end->at, kAt + Seconds(5));
    EXPECT_EQ(end->duration, Seconds(5));
  }
  history::Entry back = run(0);
  back.started_at = kAt + Seconds(60);
  EXPECT_FALSE(job_end_of(back)->duration) << "the clock was set back";
}

TEST(JobEnd, OfAPeriodIsItsOutcome) {
  const auto end = job_end_of({.job = "a", .outcome = Outcome::missed, .period = kAt, .ended_at = kAt});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->outcome, "missed");
  EXPECT_FALSE(end->duration);
}

TEST(JobEnd, OfARunThatGoesOnAndOfAReportThereIsNone) {
  history::Entry running = run(std::nullopt);
  running.ended_at.reset();
  EXPECT_FALSE(job_end_of(running));
  EXPECT_FALSE(job_end_of({.job = "a", .ended_at = kAt, .passed_over = PassedOver{3, kAt, kAt}}));
}

}  // namespace
}  // namespace kron::api::job_end_test
