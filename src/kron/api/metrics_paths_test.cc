#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"

// What Prometheus is told of single jobs.
namespace kron::api::metrics_paths_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::utc;

class MetricsPathsTest : public ApiRig {
 protected:
  void add_run(const std::string& job, const std::string& run_id, const char* at, int code) {
    history_->add({.job = job,
                   .outcome = Outcome::executed,
                   .run_id = run_id,
                   .started_at = utc(at) - Seconds(4),
                   .ended_at = utc(at),
                   .exit_code = code});
  }
  std::string scrape() { return ask("GET", "/metrics").body; }
};

TEST_F(MetricsPathsTest, WhatEndedBeforeKrondStartedIsInTheHistory) {
  add_run("c", "r1", "2026-03-01T00:00:04Z", 0);
  add_run("c", "r2", "2026-03-01T00:01:04Z", 3);
  const std::string text = scrape();
  EXPECT_THAT(text, HasSubstr("\nkron_job_last_success_timestamp_seconds{name=\"c\"} 1772323204\n"));
  EXPECT_THAT(text, HasSubstr("\nkron_job_last_outcome{name=\"c\",outcome=\"failed\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nkron_job_last_duration_seconds{name=\"c\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("\nkron_jobs 3\n")) << "and all the rest, as the host tells it";
}

TEST_F(MetricsPathsTest, WhatEndsWhileItRunsIsSeenWithoutTheHistory) {
  scrape();
  job_metrics_.saw("c", {"succeeded", utc("2026-03-01T06:00:00Z"), Seconds(2)});
  EXPECT_THAT(scrape(), HasSubstr("{name=\"c\",outcome=\"succeeded\"} 1\n"));
}

TEST_F(MetricsPathsTest, OnlyTheFirstNamesHaveSeriesAndTheRestIsCounted) {
  // The rig has a/b, c and d, and series for two.
  for (const char* job : {"a/b", "c", "d"}) add_run(job, std::string("of-") + job[0], "2026-03-01T00:00:04Z", 0);
  EXPECT_THAT(scrape(), AllOf(HasSubstr("{name=\"a/b\"}"), HasSubstr("{name=\"c\"}"), Not(HasSubstr("{name=\"d\"}")),
                              HasSubstr("\nkron_jobs_without_metrics 1\n")));
}

}  // namespace
}  // namespace kron::api::metrics_paths_test
