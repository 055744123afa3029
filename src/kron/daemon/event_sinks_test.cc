#include <algorithm>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/daemon/history_sink.h"
#include "kron/daemon/metrics_sink.h"
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
  const Observer sink = history_sink(*history);
  sink(missed_noon());
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
  const auto dropped = std::ranges::find(entries, "r2", &history::Entry::run_id);
  ASSERT_NE(dropped, entries.end());
  EXPECT_EQ(dropped->reason, Reason::start_failed);
  EXPECT_EQ(std::ranges::count_if(entries, [](const auto& entry) { return entry.passed_over.has_value(); }), 1);
}

}  // namespace
}  // namespace kron::daemon
