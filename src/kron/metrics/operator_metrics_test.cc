#include "kron/metrics/operator_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kron::metrics {
namespace {

using ::testing::HasSubstr;

TEST(OperatorMetrics, TellWhatWasDone) {
  OperatorMetrics metrics("1.2.3", Instant(Seconds(1'000)));
  metrics.period_ended("executed", "");
  metrics.period_ended("skipped", "concurrency_forbid");
  metrics.job_started(std::chrono::milliseconds(400));
  metrics.reconciled();
  metrics.request_ended("create", "jobs", "201", std::chrono::milliseconds(4));
  metrics.request_ended("watch", "jobs", "200", std::chrono::minutes(7));
  metrics.event_dropped();
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("kron_build_info{version=\"1.2.3\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_periods_total{outcome=\"executed\",reason=\"\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_periods_total{outcome=\"missed\",reason=\"deadline\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("kron_periods_total{outcome=\"skipped\",reason=\"concurrency_forbid\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_start_lateness_seconds_count 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_reconciles_total 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_events_dropped_total 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_api_requests_total{code=\"201\",resource=\"jobs\",verb=\"create\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_api_request_seconds_count 1\n")) << "a watch takes as long as it takes";
}

TEST(OperatorMetrics, TellWhatIsSo) {
  OperatorMetrics metrics("1.2.3", Instant(Seconds(1'000)));
  OperatorLevels levels{.leader = true, .kron_jobs = 3, .jobs = 9, .queue = 2, .kron_job_watches = 4};
  metrics.show(levels);
  levels.leader = false;
  metrics.show(levels);
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("kron_leader 0\n"));
  EXPECT_THAT(text, HasSubstr("kron_ungated 0\n"));
  EXPECT_THAT(text, HasSubstr("kron_objects_cached{resource=\"jobs\"} 9\n"));
  EXPECT_THAT(text, HasSubstr("kron_queue_depth 2\n"));
  EXPECT_THAT(text, HasSubstr("kron_watch_restarts_total{resource=\"kronjobs\"} 4\n"));
}

}  // namespace
}  // namespace kron::metrics
