#include "kron/daemon/work_of.h"

#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"
#include "kron/scheduler/run_cause.h"

namespace kron::daemon {
namespace {

TEST(WorkOf, VariablesArePassedOnWhereTheJobHasNone) {
  const RunSpec spec{.run_id = "r1", .command = {"true"}, .environment = {{"LANG", "C"}}};
  const RunWork work = with_variables(spec, {{"LANG", "de_DE"}, {"TOKEN", "t"}});
  const jobs::Environment expected{{"LANG", "C"}, {"TOKEN", "t"}};
  EXPECT_EQ(std::get<RunSpec>(work).environment, expected);
}

TEST(WorkOf, ATaskHasNoVariables) {
  const RunWork work = with_variables(TaskToSubmit{"id", "MAIL", "null"}, {{"TOKEN", "t"}});
  EXPECT_EQ(std::get<TaskToSubmit>(work).id, "id");
}

jobs::JobDefinition job_of(jobs::Action action, std::optional<std::string> input = {}) {
  jobs::JobDefinition definition;
  definition.job = testing::make_job({.identity = "a/b"});
  definition.action = std::move(action);
  jobs::RunOptions options = *definition.options;
  options.input = std::move(input);
  definition.options = std::make_shared<const jobs::RunOptions>(std::move(options));
  return definition;
}

RunCause cause_at(const char* time) {
  Decision period;
  period.nominal = testing::utc(time);
  period.chosen = period.nominal + Seconds(5);
  return {"r1", Trigger::schedule, period};
}

TEST(WorkOf, ACommandIsItsWordsUnderTheRunsId) {
  const RunWork work = work_of(job_of(jobs::Command{"echo 'a b' c"}), cause_at("2026-03-01T12:00:00Z"));
  const RunSpec& spec = std::get<RunSpec>(work);
  EXPECT_EQ(spec.run_id, "r1");
  EXPECT_EQ(spec.command, (std::vector<std::string>{"echo", "a b", "c"}));
}

TEST(WorkOf, ACommandThatCannotBeSplitIsARunThatFails) {
  const RunWork work = work_of(job_of(jobs::Command{"echo 'open"}), cause_at("2026-03-01T12:00:00Z"));
  EXPECT_TRUE(std::get<RunSpec>(work).command.empty());
  EXPECT_EQ(std::get<RunSpec>(work).run_id, "r1");
}

TEST(WorkOf, OnePeriodIsOneTaskAndARunByHandOneOfItsOwn) {
  const jobs::JobDefinition definition = job_of(jobs::SubmitTask{"mail"});
  const auto id_of = [&](const RunCause& cause) { return std::get<TaskToSubmit>(work_of(definition, cause)).id; };
  EXPECT_EQ(id_of(cause_at("2026-03-01T12:00:00Z")), id_of(cause_at("2026-03-01T12:00:00Z")));
  EXPECT_NE(id_of(cause_at("2026-03-01T12:00:00Z")), id_of(cause_at("2026-03-02T12:00:00Z")));
  EXPECT_NE(id_of({"r1", Trigger::manual, std::nullopt}), id_of({"r2", Trigger::manual, std::nullopt}));
}

TEST(WorkOf, APayloadIsJsonAndTextThatIsNoneIsAJsonText) {
  const auto payload_of = [](std::optional<std::string> input) {
    return std::get<TaskToSubmit>(
               work_of(job_of(jobs::SubmitTask{"mail"}, std::move(input)), cause_at("2026-03-01T12:00:00Z")))
        .data;
  };
  EXPECT_EQ(payload_of(std::nullopt), "null");
  EXPECT_EQ(payload_of(R"({"to":1})"), R"({"to":1})");
  EXPECT_EQ(payload_of("not \"json\""), R"("not \"json\"")");
  EXPECT_EQ(payload_of("{"), R"("{")");
}

TEST(WorkOf, OneTaskAmongManyJobsIsNoticed) {
  EXPECT_FALSE(has_tasks({}));
  EXPECT_FALSE(has_tasks({job_of(jobs::Command{"x"})}));
  EXPECT_TRUE(has_tasks({job_of(jobs::Command{"x"}), job_of(jobs::SubmitTask{"mail"})}));
}

}  // namespace
}  // namespace kron::daemon
