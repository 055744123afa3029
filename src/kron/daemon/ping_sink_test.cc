#include "kron/daemon/ping_sink.h"

#include <gtest/gtest.h>

namespace kron::daemon::ping_sink_test {
namespace {

constexpr char kRun[] = "0123456789abcdef0123456789abcdef";

ActiveExecution run() { return {.run_id = kRun}; }
RunStarted started(std::string job) { return {.identity = std::move(job), .run = run()}; }
RunExit exit_with(std::optional<int> code) { return {.run_id = kRun, .code = code, .reason = ""}; }
RunEnded ended(std::string job, RunExit exit = exit_with(0)) {
  return {.identity = std::move(job), .run = run(), .exit = std::move(exit), .at = {}};
}
PeriodEnded period(Outcome outcome, Reason reason, std::string clause = {}) {
  PeriodEnded event;
  event.identity = "a";
  event.outcome = outcome;
  event.reason = reason;
  event.clause = std::move(clause);
  return event;
}

jobs::JobDefinition job(std::string name, std::string url) {
  jobs::JobDefinition definition;
  definition.job.identity = std::move(name);
  jobs::RunOptions options;
  options.ping = std::move(url);
  definition.options = std::make_shared<const jobs::RunOptions>(std::move(options));
  return definition;
}

class PingSinkTest : public ::testing::Test {
 protected:
  // "a start https://…", one line for each since the last call.
  std::string sent() {
    std::string lines;
    for (const Ping& ping : std::exchange(sent_, {})) lines += ping.job + " " + ping.signal + " " + *ping.url + "\n";
    return lines;
  }

  std::vector<Ping> sent_;
  PingSink sink_{[this](Ping ping) { sent_.push_back(std::move(ping)); }};
};

TEST(PingOf, AStartAndAnEndNameTheirRun) {
  const auto start = ping_of(started("a"));
  ASSERT_TRUE(start);
  EXPECT_EQ(start->job, "a");
  EXPECT_EQ(start->signal, "start");
  EXPECT_EQ(start->run_id, kRun);
  EXPECT_FALSE(start->is_end);
  const auto end = ping_of(ended("a", {.run_id = kRun, .code = 3, .reason = "why"}));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->signal, "3");
  EXPECT_EQ(end->run_id, kRun);
  EXPECT_TRUE(end->is_end);
  EXPECT_EQ(end->body, "why");
}

TEST(PingOf, AnEndIsWhatTheJobCountsAsFailed) {
  struct Row {
    std::optional<int> code;
    int signal = 0;
    std::optional<bool> failed = {};
    std::string_view told;
  };
  for (const Row& row : {Row{0, 0, {}, "0"}, Row{1, 0, {}, "1"}, Row{255, 0, {}, "255"},
                         Row{std::nullopt, 0, {}, "fail"},  // nobody knows how it ended
                         Row{137, 9, {}, "fail"},           // a signal
                         Row{137, 0, {}, "137"},            // no signal, but the same number
                         Row{2, 0, false, "0"},             // success_exit=2, or fails_on=nothing
                         Row{0, 0, true, "fail"},           // fails_on=stderr
                         Row{2, 0, true, "2"}, Row{143, 15, false, "0"}, Row{256, 0, {}, "fail"}}) {
    RunExit exit = exit_with(row.code);
    exit.signal = row.signal;
    exit.failed = row.failed;
    EXPECT_EQ(ping_of(ended("a", exit))->signal, row.told) << row.code.value_or(-1) << " " << row.signal;
  }
}

TEST(PingOf, APeriodWithoutARunIsToldWithItsReason) {
  const auto told = [](const Event& event) {
    const auto ping = ping_of(event);
    return ping ? ping->signal + "|" + ping->body + "|" + ping->run_id : "";
  };
  EXPECT_EQ(told(period(Outcome::missed, Reason::deadline)), "fail|missed: deadline|");
  EXPECT_EQ(told(period(Outcome::unschedulable, Reason::no_candidate)).substr(0, 20), "fail|unschedulable: ");
  EXPECT_EQ(told(period(Outcome::unschedulable, Reason::excluded, "only hours=9")),
            "log|unschedulable: " + std::string(name_of(Reason::excluded)) + " (only hours=9)|")
      << "a planned day off";
  EXPECT_EQ(told(period(Outcome::skipped, Reason::concurrency_forbid)),
            "log|skipped: " + std::string(name_of(Reason::concurrency_forbid)) + "|");
  EXPECT_EQ(told(ManualRunDropped{"a", kRun, Reason::could_not_stop, {}}),
            "log|skipped: " + std::string(name_of(Reason::could_not_stop)) + "|");
}

TEST(PingOf, OfOthersNothingIsTold) {
  EXPECT_FALSE(ping_of(RunAdopted{"a", run()})) << "its start was told by an earlier daemon";
  EXPECT_FALSE(ping_of(RunFoundBefore{"a", {}, exit_with(0)})) << "nobody knows when that was";
  EXPECT_FALSE(ping_of(PeriodsPassedOver{"a", {}, {}}));
  EXPECT_FALSE(ping_of(JobResumed{}));
  EXPECT_FALSE(ping_of(RecordsWritten{}));
}

TEST_F(PingSinkTest, OnlyJobsWithACheckAreTold) {
  sink_.take(started("a"));
  sink_.replace({job("a", "https://h.example/a"), job("b", "")});
  sink_.take(started("a"));
  sink_.take(started("b"));
  sink_.take(period(Outcome::missed, Reason::deadline));
  EXPECT_EQ(sent(), "a start https://h.example/a\na fail https://h.example/a\n");
}

TEST_F(PingSinkTest, AChangedUrlIsUsedFromThenOn) {
  sink_.replace({job("a", "https://h.example/1")});
  sink_.take(started("a"));
  sink_.replace({job("a", "https://h.example/2")});
  sink_.take(ended("a"));
  EXPECT_EQ(sent(), "a start https://h.example/1\na 0 https://h.example/2\n");
  sink_.replace({job("a", "")});
  sink_.take(started("a"));
  EXPECT_EQ(sent(), "");
  EXPECT_EQ(sink_.size(), 0U);
}

TEST_F(PingSinkTest, OfAJobThatIsGoneTheEndsAreToldAndThenItIsForgotten) {
  sink_.replace({job("a", "https://h.example/a"), job("b", "https://h.example/b")});
  sink_.take(started("a"));
  sink_.take(RunAdopted{"a", run()});
  (void)sent();
  sink_.replace({});
  EXPECT_EQ(sink_.size(), 1U) << "nothing of b goes on";
  sink_.take(ended("a"));
  EXPECT_EQ(sink_.size(), 1U);
  sink_.take(ended("a"));
  EXPECT_EQ(sent(), "a 0 https://h.example/a\na 0 https://h.example/a\n");
  EXPECT_EQ(sink_.size(), 0U);
}

TEST_F(PingSinkTest, WhoHearsOfSingleJobsForgetsSingleJobs) {
  sink_.put({job("a", "https://h.example/a")});
  sink_.put({job("b", "https://h.example/b")});
  sink_.take(started("a"));
  const std::vector<std::string> gone{"a", "b", "c"};
  sink_.drop(gone);
  EXPECT_EQ(sink_.size(), 1U);
  sink_.put({job("a", "https://h.example/a")});
  sink_.take(ended("a"));
  EXPECT_EQ(sink_.size(), 1U) << "it is back";
  EXPECT_EQ(sent(), "a start https://h.example/a\na 0 https://h.example/a\n");
}

TEST_F(PingSinkTest, AnEndWhoseStartWasBeforeTheCheckIsTold) {
  sink_.take(started("a"));
  sink_.replace({job("a", "https://h.example/a")});
  sink_.take(ended("a", exit_with(1)));
  EXPECT_EQ(sent(), "a 1 https://h.example/a\n");
  EXPECT_EQ(sink_.size(), 1U);
}

}  // namespace
}  // namespace kron::daemon::ping_sink_test
