#include <algorithm>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/core/failure_pause.h"
#include "kron/daemon/history_sink.h"
#include "kron/daemon/metrics_sink.h"
#include "kron/daemon/series_sink.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/silent_log.h"
#include "kron/testing/temporary_directory.h"

// What is counted and kept of each event.
namespace kron::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Instant kNoon = *parse_rfc3339("2026-03-01T12:00:00Z");

ActiveExecution run_of_noon() {
  ActiveExecution run;
  run.period = run.chosen = kNoon;
  run.started_at = kNoon;
  run.run_id = "r1";
  return run;
}

PeriodEnded missed_noon() {
  Decision period;
  period.nominal = kNoon;
  period.chosen = kNoon;
  return {"a", period, Outcome::missed, Reason::deadline, "", kNoon + Seconds(9), "{}"};
}

TEST(MetricsSink, CountsPeriodsRunsAndBatches) {
  testing::FakeClock clock(kNoon + Seconds(2));
  metrics::Metrics metrics("0", kNoon);
  const Observer sink = metrics_sink(metrics, clock);
  sink(missed_noon());
  sink(RunStarted{"a", run_of_noon()});
  sink(RunEnded{"a", run_of_noon(), {"r1", 3, ""}, kNoon + Seconds(5)});
  sink(RecordsWritten{7, std::chrono::milliseconds(4)});
  sink(RunAdopted{"a", run_of_noon()});
  const std::string text = metrics.text({});
  EXPECT_THAT(text, HasSubstr(R"(kron_periods_total{outcome="missed",reason="deadline"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(kron_periods_total{outcome="executed",reason=""} 1)"));
  EXPECT_THAT(text, HasSubstr("kron_ledger_write_seconds_sum 0.004"));
  EXPECT_THAT(text, HasSubstr("_sum 5")) << "how long the run took";
}

TEST(MetricsSink, ARunHasFailedWhenItsRecordSaysSo) {
  testing::FakeClock clock(kNoon);
  metrics::Metrics metrics("0", kNoon);
  const Observer sink = metrics_sink(metrics, clock);
  RunExit fine{"r1", 2, ""};
  fine.failed = false;
  sink(RunEnded{"a", run_of_noon(), fine, kNoon});
  RunExit noisy{"r1", 0, ""};
  noisy.failed = true;
  sink(RunEnded{"a", run_of_noon(), noisy, kNoon});
  sink(RunEnded{"a", run_of_noon(), {"r1", 3, ""}, kNoon});
  const std::string text = metrics.text({});
  EXPECT_THAT(text, HasSubstr(R"(kron_runs_total{result="succeeded"} 1)")) << text;
  EXPECT_THAT(text, HasSubstr(R"(kron_runs_total{result="failed"} 2)"));
}

TEST(MetricsSink, RetriesAndPausesByFailuresAreCounted) {
  testing::FakeClock clock(kNoon);
  metrics::Metrics metrics("0", kNoon);
  const Observer sink = metrics_sink(metrics, clock);
  RunExit often{"r1", 3, ""};
  often.attempts = 4;
  often.used = RunUsage{.memory = 1 << 20, .read = 8};
  sink(RunEnded{"a", run_of_noon(), often, kNoon});
  sink(RunEnded{"a", run_of_noon(), {"r1", 3, ""}, kNoon});
  sink(JobPaused{"a", {.since = kNoon, .until = {}, .by = std::string(kPausedByFailures)}});
  sink(JobPaused{"a", {.since = kNoon, .until = {}, .by = "ada"}});
  const std::string text = metrics.text({});
  EXPECT_THAT(text, HasSubstr("kron_run_retries_total 3\n"));
  EXPECT_THAT(text, HasSubstr("kron_pauses_by_failures_total 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_run_memory_bytes_count 1\n"));
  EXPECT_THAT(text, HasSubstr("kron_runs_io_bytes_total{direction=\"read\"} 8\n"));
}

TEST(MetricsSink, ARunByHandIsNoPeriod) {
  testing::FakeClock clock(kNoon);
  metrics::Metrics metrics("0", kNoon);
  ActiveExecution run = run_of_noon();
  run.trigger = Trigger::manual;
  metrics_sink(metrics, clock)(RunStarted{"a", run});
  EXPECT_THAT(metrics.text({}), Not(HasSubstr(R"(outcome="executed",reason=""} 1)")));
}

TEST(HistorySink, KeepsEachOutcomeAndCompletesARunByItsEnd) {
  testing::TemporaryDirectory directory;
  testing::FakeClock clock(kNoon);
  testing::SilentLog log;
  auto history = history::History::open(directory.path(), {}, clock, log).value();
  const Observer sink = history_sink(*history, clock);
  sink(missed_noon());
  clock.advance(std::chrono::milliseconds(1250));
  sink(RunStarted{"a", run_of_noon()});
  sink(RunEnded{"a", run_of_noon(), {"r1", 3, "so"}, kNoon + Seconds(5)});
  sink(PeriodsPassedOver{"a", {2, kNoon, kNoon}, kNoon});
  sink(ManualRunDropped{"a", "r2", Reason::start_failed, kNoon});
  sink(RunAdopted{"a", run_of_noon()});
  sink(RecordsWritten{7, Nanoseconds(4)});
  std::promise<std::vector<history::Entry>> found;
  history->find({}, [&](Result<std::vector<history::Entry>> entries) { found.set_value(entries.value()); });
  const std::vector<history::Entry> entries = found.get_future().get();
  EXPECT_EQ(entries.size(), 4U);
  const auto run = std::ranges::find(entries, "r1", &history::Entry::run_id);
  ASSERT_NE(run, entries.end());
  EXPECT_EQ(run->exit_code, 3);
  EXPECT_EQ(run->detail, "so");
  EXPECT_EQ(run->delay, std::chrono::milliseconds(1250)) << "as krond saw it";
  EXPECT_EQ(run->duration, std::nullopt);
  const auto dropped = std::ranges::find(entries, "r2", &history::Entry::run_id);
  ASSERT_NE(dropped, entries.end());
  EXPECT_EQ(dropped->reason, Reason::start_failed);
  EXPECT_EQ(std::ranges::count_if(entries, [](const auto& entry) { return entry.passed_over.has_value(); }), 1);
}

TEST(SeriesSink, TellsStartsEndsAndOutcomes) {
  testing::FakeClock clock(kNoon);
  api::Series series(kNoon);
  const Observer sink = series_sink(series, clock);
  clock.advance(std::chrono::milliseconds(2));
  sink(RunStarted{"a", run_of_noon()});
  sink(RunEnded{"a", run_of_noon(), {"r1", 143, "timed out after 2s"}, kNoon});
  sink(missed_noon());
  const std::string json = series.json(api::Series::names_in("").value(), Seconds(60), Seconds(60), kNoon);
  EXPECT_THAT(json, HasSubstr(R"("starts":[1],"succeeded":[0],"failed":[0],"timedOut":[1],"unknown":[0],"skipped":[0],)"
                              R"("missed":[1],"noTime":[0],"delayP50":[0.002],"delayP99":[0.002])"));
}

TEST(HistorySink, ARunsOwnRecordKnowsBestWhenItStartedAndHowLongItTook) {
  testing::TemporaryDirectory directory;
  testing::FakeClock clock(kNoon);
  testing::SilentLog log;
  auto history = history::History::open(directory.path(), {}, clock, log).value();
  const Observer sink = history_sink(*history, clock);
  sink(RunStarted{"a", run_of_noon()});
  RunExit exit{"r1", 0, ""};
  exit.began = WallTime(kNoon) + std::chrono::milliseconds(7);
  exit.took = std::chrono::microseconds(250'001);
  sink(RunEnded{"a", run_of_noon(), exit, kNoon});
  std::promise<std::optional<history::Entry>> found;
  history->get("r1", [&](Result<std::optional<history::Entry>> entry) { found.set_value(entry.value()); });
  const auto entry = found.get_future().get();
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->delay, std::chrono::milliseconds(7));
  EXPECT_EQ(entry->duration, std::chrono::microseconds(250'001));
}

TEST(HistorySink, KeepsWhoPausedAJobAndWhenItWasResumed) {
  testing::TemporaryDirectory directory;
  testing::FakeClock clock(kNoon);
  testing::SilentLog log;
  auto history = history::History::open(directory.path(), {}, clock, log).value();
  const Observer sink = history_sink(*history, clock);
  sink(JobPaused{"a", {kNoon, std::nullopt, false, "ada", "disk"}});
  sink(JobResumed{"a", false, {"bob", "done"}, kNoon + Seconds(60)});
  sink(RunRequested{"a", "r1", Triggered::How::started, {"ada", ""}});
  sink(RunSignalled{"a", "r1", "TERM", {"ada", ""}});
  std::promise<std::vector<history::Pause>> found;
  history->pauses_of("a", [&](std::vector<history::Pause> pauses) { found.set_value(std::move(pauses)); });
  const history::Pause pause{"a", kNoon, kNoon + Seconds(60), "ada", "disk"};
  EXPECT_EQ(found.get_future().get(), std::vector{pause});
}

}  // namespace
}  // namespace kron::daemon
