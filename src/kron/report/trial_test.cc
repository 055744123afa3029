#include "kron/report/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"
#include "kron/json/document.h"

namespace kron::report::trial_test {
namespace {

using kron::testing::utc;
using ::testing::HasSubstr;

const Instant kMarch = utc("2026-03-01T00:00:00Z");

std::vector<jobs::JobDefinition> running_here(std::initializer_list<std::pair<const char*, const char*>> jobs) {
  std::vector<jobs::JobDefinition> definitions;
  for (const auto& [name, schedule] : jobs) {
    definitions.emplace_back();
    definitions.back().job = kron::testing::make_job({.schedule = schedule, .identity = name});
  }
  return definitions;
}

Result<std::string> tried(std::string_view text, const std::vector<jobs::JobDefinition>& here = {},
                          LookLimit limit = {}) {
  return trial_json({.text = text, .now = kMarch, .limit = std::move(limit)}, here);
}
Node document(std::string_view text, const std::vector<jobs::JobDefinition>& here = {}) {
  return parse_json(tried(text, here).value()).value();
}
std::int64_t load_of(const Node& answer, std::string_view name) {
  return *answer.find("load")->find(name)->as<std::int64_t>();
}

TEST(Trial, TellsTheNextTwentyPeriodsOfEachJob) {
  const Node answer =
      document("0 3 * * * @win(after,1h) name=hello command=\"echo hello\"\n@reboot name=boot command=true\n");
  EXPECT_TRUE(answer.find("problems")->as<Node::List>() != nullptr);
  const Node::List& jobs = *answer.find("jobs")->as<Node::List>();
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(*jobs[0].find("identity")->as<std::string>(), "hello");
  EXPECT_EQ(*jobs[0].find("words")->as<std::string>(), "every day at 03:00");
  const Node::List& next = *jobs[0].find("next")->as<Node::List>();
  ASSERT_EQ(next.size(), 20U);
  EXPECT_EQ(*next[0].find("periodId")->as<std::string>(), "2026-03-01T03:00:00Z");
  EXPECT_NE(next[0].find("chosenTime"), nullptr);
  EXPECT_TRUE(jobs[1].find("next")->as<Node::List>()->empty());
  EXPECT_THAT(*jobs[1].find("nextProblem")->as<std::string>(), HasSubstr("@reboot"));
}

TEST(Trial, AProblemHasItsPlaceAndItsCure) {
  const Node answer = document("0 3 * * * name=good command=true\n61 * * * * name=bad command=true\n");
  const Node::List& problems = *answer.find("problems")->as<Node::List>();
  ASSERT_FALSE(problems.empty());
  const auto bad = std::ranges::find_if(
      problems, [](const Node& problem) { return *problem.find("severity")->as<std::string>() == "error"; });
  ASSERT_NE(bad, problems.end());
  EXPECT_EQ(*bad->find("line")->as<std::int64_t>(), 2);
  EXPECT_EQ(*bad->find("column")->as<std::int64_t>(), 1);
  EXPECT_EQ(answer.find("jobs")->as<Node::List>()->size(), 1U);
}

TEST(Trial, WarningsOfLintAreAmongTheProblems) {
  EXPECT_THAT(tried("* * * * * name=often command=true\n").value(), HasSubstr(R"("severity":"warning")"));
}

TEST(Trial, SaysWhatItAddsToTheBusiestMinute) {
  const auto here = running_here({{"a", "0 3 * * *"}, {"b", "0 3 * * *"}, {"c", "0 4 * * *"}});
  const Node more = document("0 3 * * * name=x command=true\n0 3 * * * name=y command=true\n", here);
  EXPECT_EQ(load_of(more, "peakHere"), 2);
  EXPECT_EQ(load_of(more, "peak"), 4);
  EXPECT_EQ(load_of(more, "adds"), 2);
  EXPECT_EQ(load_of(more, "starts"), 60) << "of a month";
  EXPECT_EQ(*more.find("text")->as<std::string>(), "adds 2 to the busiest minute (2026-03-01T03:00:00Z, 4 starts)");
  const Node elsewhere = document("0 5 * * * name=x command=true\n", here);
  EXPECT_EQ(load_of(elsewhere, "adds"), 0);
  EXPECT_THAT(*elsewhere.find("text")->as<std::string>(), HasSubstr("adds nothing"));
}

TEST(Trial, AJobOfTheSameNameIsReplaced) {
  const auto here = running_here({{"a", "0 3 * * *"}});
  const Node same = document("0 3 * * * name=a command=true\n", here);
  EXPECT_EQ(load_of(same, "peakHere"), 0);
  EXPECT_EQ(load_of(same, "peak"), 1);
  EXPECT_TRUE(*same.find("jobs")->as<Node::List>()->front().find("replaces")->as<bool>());
}

TEST(Trial, OfBusyHostsLessThanAMonthIsCounted) {
  const auto here = running_here({{"a", "* * * * *"}});
  EXPECT_THAT(tried("0 3 * * * name=x command=true\n", here, {.periods = 50'000}).value(),
              HasSubstr(R"("until":"2026-03-31T00:00:00Z")"));
  EXPECT_THAT(tried("0 3 * * * name=x command=true\n", here, {.periods = 20'000}).value(),
              HasSubstr(R"("until":"2026-03-08T00:00:00Z")"));
  EXPECT_THAT(tried("0 3 * * * name=x command=true\n", here, {.periods = 2'000}).value(),
              HasSubstr(R"("until":"2026-03-02T00:00:00Z")"));
  EXPECT_EQ(tried("0 3 * * * name=x command=true\n", here, {.periods = 1'000}).error().code, Code::invalid);
}

TEST(Trial, StopsWhenNobodyWaits) {
  const auto stopped = tried("* * * * * * name=x command=true\n", {}, {.is_wanted = [] { return false; }});
  EXPECT_EQ(stopped.error().code, Code::unreachable);
}

TEST(Trial, HasItsLimits) {
  std::string lines;
  for (int i = 0; i < 200; ++i) lines += "0 3 * * * name=job-" + std::to_string(i) + " command=true\n";
  EXPECT_TRUE(tried(lines));
  EXPECT_THAT(tried(lines + "0 3 * * * name=last command=true\n").error().message, HasSubstr("more than 200 jobs"));
  std::string comment = "# " + std::string(TrialRequest::kMostBytes - 3, 'x') + "\n";
  EXPECT_TRUE(tried(comment));
  EXPECT_THAT(tried(comment + "\n").error().message, HasSubstr("more than 64 KiB"));
}

TEST(Trial, NoFileIsRead) {
  for (const char* text : {"/etc/passwd", "include /etc/passwd", "file: /etc/passwd\n"}) {
    for (const auto spelling : {jobs::Spelling::kron, jobs::Spelling::yaml}) {
      const auto answer = trial_json({.text = text, .spelling = spelling, .now = kMarch}, {});
      EXPECT_EQ(answer.value().find("root:"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace kron::report::trial_test
