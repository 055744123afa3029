#include "kron/metrics/job_metrics.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The series of jobs.
namespace kron::metrics::job_metrics_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Instant kTime = instant_of(1'772'409'600);

JobEnd end(const char* outcome, Instant at = kTime, std::optional<Seconds> duration = {}) {
  return {outcome, at, duration};
}

TEST(JobMetrics, ShowTheLastSuccessOutcomeAndDuration) {
  JobMetrics metrics(10);
  EXPECT_THAT(metrics.follow({"db"}, 1), ElementsAre("db"));
  metrics.known("db", std::nullopt, std::nullopt);
  metrics.saw("db", end("succeeded", kTime, Seconds(7)));
  metrics.saw("db", end("failed", kTime + Seconds(60), Seconds(9)));
  metrics.saw("db", end("missed", kTime + Seconds(120)));
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("\nkron_job_last_success_timestamp_seconds{name=\"db\"} 1772409600\n"));
  EXPECT_THAT(text, HasSubstr("\nkron_job_last_outcome{name=\"db\",outcome=\"missed\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nkron_job_last_duration_seconds{name=\"db\"} 9\n"));
  EXPECT_THAT(text, HasSubstr("\nkron_jobs_without_metrics 0\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE kron_job_last_outcome gauge\n"));
  EXPECT_THAT(text, Not(HasSubstr("outcome=\"failed\""))) << "one outcome at a time";
}

TEST(JobMetrics, OfAJobThatHasNeverRunThereIsNothing) {
  JobMetrics metrics(10);
  metrics.follow({"new"}, 1);
  metrics.known("new", std::nullopt, std::nullopt);
  EXPECT_THAT(metrics.text(), Not(HasSubstr("new")));
  EXPECT_THAT(metrics.follow({"new"}, 1), IsEmpty()) << "the history is asked once";
}

TEST(JobMetrics, NamesAreEscaped) {
  JobMetrics metrics(10);
  metrics.follow({"a\"b\\c\nd"}, 1);
  metrics.saw("a\"b\\c\nd", end("failed"));
  EXPECT_THAT(metrics.text(), HasSubstr(R"({name="a\"b\\c\nd",outcome="failed"} 1)"));
}

TEST(JobMetrics, WhatTheHistoryTellsDoesNotHideWhatWasSeenMeanwhile) {
  JobMetrics metrics(10);
  metrics.follow({"a", "b"}, 2);
  metrics.saw("a", end("failed", kTime + Seconds(60)));
  metrics.known("a", end("succeeded", kTime, Seconds(3)), end("succeeded", kTime, Seconds(3)));
  metrics.known("b", end("timed_out", kTime, Seconds(4)), end("succeeded", kTime - Seconds(60), Seconds(3)));
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("{name=\"a\",outcome=\"failed\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_job_last_success_timestamp_seconds{name=\"a\"} 1772409600\n"));
  EXPECT_THAT(text, HasSubstr("{name=\"b\",outcome=\"timed_out\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_job_last_success_timestamp_seconds{name=\"b\"} 1772409540\n"));
  metrics.saw("b", end("succeeded", kTime - Seconds(30)));
  EXPECT_THAT(metrics.text(), HasSubstr("{name=\"b\",outcome=\"timed_out\"} 1\n")) << "what comes late is older";
}

TEST(JobMetrics, OnlyThoseThatAreFollowedAreKept) {
  JobMetrics metrics(1);
  metrics.follow({"a"}, 3);
  metrics.saw("a", end("succeeded"));
  metrics.saw("b", end("succeeded"));
  EXPECT_THAT(metrics.text(), AllOf(HasSubstr("kron_jobs_without_metrics 2\n"), Not(HasSubstr("\"b\""))));
  EXPECT_THAT(metrics.follow({"b"}, 1), ElementsAre("b"));
  EXPECT_THAT(metrics.text(), AllOf(HasSubstr("kron_jobs_without_metrics 0\n"), Not(HasSubstr("\"a\""))));
}

TEST(JobMetrics, WithNoneAllowedThereIsNoText) { EXPECT_EQ(JobMetrics(0).text(), ""); }

TEST(FirstNames, AreTheSameHoweverTheyCome) {
  std::vector<std::string> all;
  for (int i = 0; i < 100; ++i) all.push_back("job-" + std::to_string(1000 + i));
  for (const bool is_turned : {false, true}) {
    if (is_turned) std::ranges::reverse(all);
    FirstNames first(3);
    for (const std::string& name : all) first.add(name);
    EXPECT_EQ(first.count(), 100U);
    std::vector<std::string> names = first.take();
    std::ranges::sort(names);
    EXPECT_THAT(names, ElementsAre("job-1000", "job-1001", "job-1002"));
  }
  FirstNames none(0);
  none.add("a");
  EXPECT_THAT(none.take(), IsEmpty());
  EXPECT_EQ(none.count(), 1U);
}

}  // namespace
}  // namespace kron::metrics::job_metrics_test
