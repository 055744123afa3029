#include "kron/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace kron::metrics {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Instant kStarted = instant_of(1'772'409'600);

class MetricsTest : public ::testing::Test {
 protected:
  Metrics metrics_{"1.2.3", kStarted};
};

TEST_F(MetricsTest, PeriodsAreCountedByOutcomeAndReason) {
  metrics_.period_ended("missed", "deadline");
  metrics_.period_ended("missed", "deadline");
  metrics_.period_ended("skipped", "concurrency_forbid");
  const std::string text = metrics_.text({});
  EXPECT_THAT(text, HasSubstr("kron_periods_total{outcome=\"missed\",reason=\"deadline\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("kron_periods_total{outcome=\"skipped\",reason=\"concurrency_forbid\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE kron_periods_total counter\n"));
}

TEST_F(MetricsTest, WhatAlertsWatchBeginsAtZero) {
  const std::string text = metrics_.text({});
  EXPECT_THAT(text, HasSubstr("kron_periods_total{outcome=\"missed\",reason=\"deadline\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("kron_runs_total{result=\"timed_out\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("kron_reloads_total{result=\"failed\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("kron_pings_total{result=\"failed\"} 0\n"));
}

TEST_F(MetricsTest, PingsAreCountedByWhatBecameOfThem) {
  metrics_.pinged("sent");
  metrics_.pinged("sent");
  metrics_.pinged("no_room");
  const std::string text = metrics_.text({});
  EXPECT_THAT(text, HasSubstr("kron_pings_total{result=\"sent\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("kron_pings_total{result=\"no_room\"} 1\n"));
}

TEST_F(MetricsTest, LatenessGoesIntoItsBucket) {
  metrics_.run_started(milliseconds(3));
  metrics_.run_started(milliseconds(-5));
  metrics_.run_started(std::chrono::minutes(10));
  const std::string text = metrics_.text({});
  EXPECT_THAT(text, HasSubstr("kron_run_lateness_seconds_bucket{le=\"0.0025\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_run_lateness_seconds_bucket{le=\"0.005\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("kron_run_lateness_seconds_bucket{le=\"300\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("kron_run_lateness_seconds_count 3\n"));
}

TEST_F(MetricsTest, RunsAreCountedByResultAndMeasuredWhenSeen) {
  metrics_.run_ended(RunEnd::succeeded, Seconds(2));
  metrics_.run_ended(RunEnd::unknown, std::nullopt);
  metrics_.run_used({.user = std::chrono::milliseconds(1500),
                     .system = std::chrono::milliseconds(250),
                     .memory = 5 << 20,
                     .read = 4096,
                     .written = 512});
  metrics_.run_tried_again(2);
  metrics_.job_paused_by_failures();
  const std::string text = metrics_.text({});
  EXPECT_THAT(text, HasSubstr("kron_runs_total{result=\"succeeded\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_runs_total{result=\"unknown\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_runs_cpu_seconds_total{mode=\"user\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("kron_runs_cpu_seconds_total{mode=\"system\"} 0.25\n"));
  EXPECT_THAT(text, HasSubstr("kron_run_memory_bytes_bucket{le=\"4194304\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("kron_run_memory_bytes_bucket{le=\"16777216\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_runs_io_bytes_total{direction=\"read\"} 4096\n"));
  EXPECT_THAT(text, HasSubstr("kron_runs_io_bytes_total{direction=\"written\"} 512\n"));
  EXPECT_THAT(text, HasSubstr("kron_run_retries_total 2\n"));
  EXPECT_THAT(text, HasSubstr("kron_pauses_by_failures_total 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_run_duration_seconds_sum 2\n"));
  EXPECT_THAT(text, HasSubstr("kron_run_duration_seconds_count 1\n"));
}

TEST_F(MetricsTest, AClusterHasItsOwn) {
  EXPECT_THAT(metrics_.text({}), Not(HasSubstr("kron_cluster")));
  const std::string text = metrics_.text({.cluster = ClusterLevels{.link_up = true,
                                                                   .reconnects = 2,
                                                                   .lost_writes = 1,
                                                                   .clock_offset = -0.5,
                                                                   .answers = {{"done", 7}, {"newer", 3}},
                                                                   .host_runs = {{"h1", 4}}}});
  EXPECT_THAT(text, HasSubstr("kron_cluster_link_up 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_cluster_reconnects_total 2\n"));
  EXPECT_THAT(text, HasSubstr("kron_cluster_lost_writes_total 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_cluster_clock_offset_seconds -0.5\n"));
  EXPECT_THAT(text, HasSubstr("kron_cluster_answers_total{answer=\"newer\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("kron_cluster_host_runs{host=\"h1\"} 4\n"));
}

TEST_F(MetricsTest, TheRestIsThere) {
  metrics_.ledger_batch(7, milliseconds(4));
  metrics_.reloaded(true);
  metrics_.reloaded(false);
  metrics_.api_request("GET /api/v1/jobs/{name}", 404, milliseconds(1));
  const std::string text = metrics_.text({});
  EXPECT_THAT(text, HasSubstr("kron_ledger_batch_size_sum 7\n"));
  EXPECT_THAT(text, HasSubstr("kron_ledger_write_seconds_sum 0.004"));
  EXPECT_THAT(text, HasSubstr("kron_reloads_total{result=\"succeeded\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_http_requests_total{route=\"GET /api/v1/jobs/{name}\",status=\"404\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_build_info{version=\"1.2.3\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("process_start_time_seconds 1772409600\n"));
}

TEST_F(MetricsTest, LevelsAreThoseOfTheScrape) {
  const Levels levels{.ready = true,
                      .jobs = 12,
                      .running = 3,
                      .next_due = kStarted + Seconds(1),
                      .tasks = {{"PENDING", "MAIL", 4}},
                      .tasks_ended = {{"FAILED", "MAIL", 1}},
                      .oldest_pending_task = Seconds(90),
                      .event_streams = 2};
  const std::string text = metrics_.text(levels);
  EXPECT_THAT(text, HasSubstr("kron_ready 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_jobs 12\n"));
  EXPECT_THAT(text, HasSubstr("kron_runs_running 3\n"));
  EXPECT_THAT(text, HasSubstr("kron_next_due_timestamp_seconds 1772409601\n"));
  EXPECT_THAT(text, HasSubstr("kron_tasks{state=\"pending\",type=\"MAIL\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("kron_tasks_ended_total{result=\"failed\",type=\"MAIL\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_oldest_pending_task_seconds 90\n"));
  EXPECT_THAT(text, HasSubstr("kron_event_streams 2\n"));
  EXPECT_THAT(metrics_.text({}), HasSubstr("kron_next_due_timestamp_seconds 0\n"));
  EXPECT_THAT(metrics_.text({}), Not(HasSubstr("kron_tasks{")));
  EXPECT_THAT(metrics_.text({}), HasSubstr("kron_tasks_shared 0\n"));
  EXPECT_THAT(metrics_.text({.has_shared_tasks = true}), HasSubstr("kron_tasks_shared 1\n"));
}

TEST_F(MetricsTest, SlotsAreToldByPoolAndWithoutOneOfTheHost) {
  const std::string text = metrics_.text({.slots = {{"", 8, 5, 0}, {"db", 4, 4, 3}}});
  EXPECT_THAT(text, HasSubstr("kron_slots 8\n"));
  EXPECT_THAT(text, HasSubstr("kron_slots_used 5\n"));
  EXPECT_THAT(text, HasSubstr("kron_slots{pool=\"db\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("kron_slots_used{pool=\"db\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("kron_slots_waiting{pool=\"db\"} 3\n"));
  EXPECT_THAT(metrics_.text({}), Not(HasSubstr("kron_slots")));
}

TEST_F(MetricsTest, TypesBeyondMeasureAreOneSeries) {
  Levels levels;
  for (std::size_t i = 0; i < kMostTaskTypes + 50; ++i) levels.tasks.push_back({"pending", std::to_string(i), 1});
  EXPECT_THAT(metrics_.text(levels), HasSubstr("kron_tasks{state=\"pending\",type=\"other\"} 50\n"));
}

TEST_F(MetricsTest, WordsOfUsersCannotBreakTheFormat) {
  const Levels levels{.tasks = {{"pending", "a\"b\\c\nd", 1}}};
  EXPECT_THAT(metrics_.text(levels), HasSubstr("type=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

TEST_F(MetricsTest, ManyThreadsMayCount) {
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([this] {
        for (int i = 0; i < 500; ++i) {
          metrics_.period_ended("executed", "");
          metrics_.run_started(milliseconds(i));
          if (i % 100 == 0) {
            EXPECT_THAT(metrics_.text({}), HasSubstr("kron_jobs"));
          }
        }
      });
    }
  }
  EXPECT_THAT(metrics_.text({}), HasSubstr("kron_periods_total{outcome=\"executed\",reason=\"\"} 2000\n"));
}

}  // namespace
}  // namespace kron::metrics
