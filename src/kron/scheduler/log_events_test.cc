#include "kron/scheduler/log_events.h"

#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"
#include "kron/json/decide_request.h"
#include "kron/scheduler/fake/host.h"

namespace kron {
namespace {

using testing::CapturingLog;
using testing::utc;

CapturingLog::Line line_of(const Event& event) {
  CapturingLog log;
  log_event(log, event);
  return log.lines().empty() ? CapturingLog::Line() : log.lines().front();
}

std::string keys_of(const CapturingLog::Line& line) {
  std::string keys;
  for (const auto& [key, value] : line.fields) keys += (keys.empty() ? "" : " ") + key;
  return keys;
}

ActiveExecution run_of_noon() {
  ActiveExecution run;
  run.run_id = "r1";
  run.pid = 42;
  run.period = run.chosen = utc("2026-03-01T12:00:00Z");
  return run;
}

// The keys and their order are those of docs/formats.md.
TEST(LogEvents, HaveTheLinesOfTheFormats) {
  const Job job = testing::make_job({.identity = "a"});
  const Decision noon = decide(job, utc("2026-03-01T12:00:00Z"));
  const std::string request = decide_request_json(job, noon.nominal);
  const auto ended =
      line_of(PeriodEnded{"a", noon, Outcome::skipped, Reason::paused, "", utc("2026-03-01T13:00:00Z"), request});
  EXPECT_EQ(ended.event, "period_ended");
  EXPECT_EQ(keys_of(ended), "identity periodId nominalTime chosenTime outcome reason clause seedHash decision");
  EXPECT_EQ(ended.field("decision"), request);
  EXPECT_EQ(ended.field("seedHash"), hex(noon.seed_hash));
  const auto started = line_of(RunStarted{"a", run_of_noon(), noon, request});
  EXPECT_EQ(started.event, "run_started");
  EXPECT_EQ(keys_of(started), "identity periodId nominalTime chosenTime outcome seedHash runId pid decision");
  EXPECT_EQ(keys_of(line_of(RunStarted{"a", run_of_noon()})), "identity trigger runId pid") << "by hand";
  const auto over = line_of(RunEnded{"a", run_of_noon(), {"r1", 3, "x"}, utc("2026-03-01T13:00:00Z")});
  EXPECT_EQ(over.event, "run_ended");
  EXPECT_EQ(keys_of(over), "identity periodId runId pid exitCode failed attempts reason");
  EXPECT_EQ(over.field("exitCode"), "3");
  RunExit tried{"r1", 0, {}};
  tried.attempts = 4;
  EXPECT_EQ(line_of(RunEnded{"a", run_of_noon(), tried, utc("2026-03-01T13:00:00Z")}).field("attempts"), "4");
  tried.failed = true;
  EXPECT_EQ(line_of(RunEnded{"a", run_of_noon(), tried, utc("2026-03-01T13:00:00Z")}).field("failed"), "true");
  tried.failed = false;
  EXPECT_EQ(line_of(RunEnded{"a", run_of_noon(), tried, utc("2026-03-01T13:00:00Z")}).field("failed"), "");
  const auto found = line_of(RunFoundBefore{"a", noon.nominal, {"r1", std::nullopt, {}}});
  EXPECT_EQ(found.event, "already_run");
  EXPECT_EQ(found.level, LogLevel::warning);
  EXPECT_EQ(found.field("exitCode"), "unknown");
  EXPECT_EQ(line_of(RunAdopted{"a", run_of_noon()}).event, "run_adopted");
  ActiveExecution held = run_of_noon();
  held.pid = -1;
  EXPECT_EQ(line_of(RunAdopted{"a", held}).field("pid"), "") << "a placeholder is not told";
  const PassedOver three{3, noon.nominal, noon.nominal};
  EXPECT_EQ(line_of(PeriodsPassedOver{"a", three, noon.nominal}).event, "passed_over");
  EXPECT_EQ(line_of(PeriodsClosed{"a", three}).event, "passed_over_closed");
  EXPECT_EQ(keys_of(line_of(PeriodsClosed{"a", three})), "identity count first last");
  EXPECT_EQ(line_of(ManualRunDropped{"a", "r1", Reason::start_failed, noon.nominal}).event, "manual_run_dropped");
  const auto paused = line_of(JobPaused{"a", {noon.nominal, noon.nominal, true, "ada", "disk"}});
  EXPECT_EQ(paused.event, "job_paused");
  EXPECT_EQ(keys_of(paused), "identity until skipMissed by note");
  EXPECT_EQ(paused.field("skipMissed") + paused.field("until"), "true2026-03-01T12:00:00Z");
  EXPECT_EQ(line_of(JobPaused{"a", {noon.nominal, {}}}).field("skipMissed"), "") << "what is empty is left out";
  const auto resumed = line_of(JobResumed{"a", false, {"ada", "done"}, noon.nominal});
  EXPECT_EQ(resumed.event, "job_resumed");
  EXPECT_EQ(keys_of(resumed), "identity skipMissed by note");
  const auto requested = line_of(RunRequested{"a", "r1", Triggered::How::waiting, {"ada", "now"}});
  EXPECT_EQ(requested.event, "run_requested");
  EXPECT_EQ(keys_of(requested), "identity runId outcome by note");
  EXPECT_EQ(requested.field("outcome"), "waiting");
  const auto signalled = line_of(RunSignalled{"a", "r1", "TERM", {"ada", "enough"}});
  EXPECT_EQ(signalled.event, "run_signalled");
  EXPECT_EQ(keys_of(signalled), "identity runId signal by note");
  EXPECT_EQ(line_of(RecordsWritten{1, Nanoseconds(5)}).event, "") << "it is for those who count";
}

TEST(LogEvents, OneMoreObserverHearsOfEverythingOnceItIsDurable) {
  testing::Host host(utc("2026-03-01T00:59:50Z"));
  host.set_jobs({testing::job({.schedule = "0 * * * *"})});
  std::vector<Event> heard;
  host.outside.observer = [&](const Event& event) { heard.push_back(event); };
  ASSERT_TRUE(host.start_daemon());
  host.file_system->fail_when([](const testing::CallRecord& call) {
    return call.call == testing::Call::write ? testing::Fault::no_space : testing::Fault::none;
  });
  host.run_until(utc("2026-03-01T01:00:02Z"));
  const auto is_start = [](const Event& event) { return std::holds_alternative<RunStarted>(event); };
  EXPECT_TRUE(std::ranges::none_of(heard, is_start)) << "nothing is durable";
  host.file_system->fail_when(nullptr);
  host.run_until(utc("2026-03-01T02:00:02Z"));
  EXPECT_EQ(std::ranges::count_if(heard, is_start), 1);
  EXPECT_EQ(host.log.lines_of("run_started").size(), 1U);
}

}  // namespace
}  // namespace kron
