#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"

// Many jobs at once.
namespace kron::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string list_of(std::size_t count) {
  std::string names;
  for (std::size_t i = 0; i < count; ++i) names += (i == 0 ? "\"job-" : ",\"job-") + std::to_string(i) + "\"";
  return R"({"jobs":[)" + names + "]";
}

class BulkPauseTest : public ApiRig {
 protected:
  void load(std::size_t count) {
    std::vector<jobs::JobDefinition> many;
    for (std::size_t i = 0; i < count; ++i) many.push_back(noon_job("job-" + std::to_string(i)));
    do_on_loop([&] { ASSERT_TRUE(host_.reload(std::move(many))); });
  }
  std::size_t paused() {
    const Node page = parse_json(ask("GET", "/api/v1/jobs?state=paused&limit=1000").body).value();
    return page.find("jobs")->as<Node::List>()->size();
  }
  std::vector<Node> answers_to(const std::string& path, const std::string& body) {
    const auto answer = ask("POST", path, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return *parse_json(answer.body).value().find("jobs")->as<Node::List>();
  }
  std::size_t lines_of(std::string_view event) {
    std::size_t count = 0;
    do_on_loop([&] { count = host_.log.lines_of(event).size(); });
    return count;
  }
};

TEST_F(BulkPauseTest, EachNameHasItsAnswerInOrder) {
  const auto answer = ask("POST", "/api/v1/jobs/pause",
                          R"({"jobs":["c","nobody","a/b"],"until":"2026-03-02T00:00:00Z","note":"move"})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Node all = parse_json(answer.body).value();
  const auto& jobs = *all.find("jobs")->as<Node::List>();
  ASSERT_EQ(jobs.size(), 3U);
  for (const std::size_t place : {std::size_t{0}, std::size_t{2}}) {
    EXPECT_EQ(*jobs[place].find("identity")->as<std::string>(), place == 0 ? "c" : "a/b");
    EXPECT_EQ(*jobs[place].find("paused")->find("note")->as<std::string>(), "move");
    EXPECT_EQ(*jobs[place].find("paused")->find("until")->as<std::string>(), "2026-03-02T00:00:00Z");
  }
  EXPECT_EQ(*jobs[1].find("identity")->as<std::string>(), "nobody");
  EXPECT_EQ(*jobs[1].find("problem")->find("status")->as<std::int64_t>(), 404);
  EXPECT_THAT(ask("POST", "/api/v1/jobs/resume", R"({"jobs":["c","a/b"],"skipMissed":true})").body,
              Not(HasSubstr("problem")));
  EXPECT_EQ(paused(), 0U);
}

TEST_F(BulkPauseTest, AThousandJobsArePausedInOneRequestAndOnceMoreChangesNothing) {
  load(1000);
  const auto first = answers_to("/api/v1/jobs/pause", list_of(1000) + R"(,"note":"move"})");
  EXPECT_EQ(first.size(), 1000U);
  EXPECT_EQ(paused(), 1000U);
  EXPECT_EQ(lines_of("job_paused"), 1000U);
  const auto again = answers_to("/api/v1/jobs/pause", list_of(1000) + R"(,"note":"move"})");
  EXPECT_EQ(again.size(), 1000U);
  EXPECT_EQ(*again[7].find("paused")->find("since")->as<std::string>(),
            *first[7].find("paused")->find("since")->as<std::string>());
  EXPECT_EQ(lines_of("job_paused"), 1000U) << "nothing new was told";
  EXPECT_EQ(answers_to("/api/v1/jobs/resume", list_of(1000) + "}").size(), 1000U);
  EXPECT_EQ(paused(), 0U);
  EXPECT_EQ(lines_of("job_resumed"), 1000U);
}

TEST_F(BulkPauseTest, ItTakesManyTurnsOfTheLoop) {
  load(1000);
  const int before = loop_->items();
  answers_to("/api/v1/jobs/pause", list_of(1000) + "}");
  EXPECT_GE(loop_->items() - before, 8) << "128 at a time";
}

TEST_F(BulkPauseTest, OneNameMoreIsRefusedAndNothingIsPaused) {
  load(1001);
  for (const char* path : {"/api/v1/jobs/pause", "/api/v1/jobs/resume"}) {
    const auto answer = ask("POST", path, list_of(1001) + "}");
    EXPECT_EQ(answer.status, 400) << path;
    EXPECT_THAT(answer.body, HasSubstr("1 to 1000 names")) << path;
  }
  EXPECT_EQ(paused(), 0U);
}

TEST_F(BulkPauseTest, WhatIsNoListOfNamesIsRefused) {
  for (const char* body : {"{}", R"({"jobs":[]})", R"({"jobs":"c"})", R"({"jobs":["c",3]})", R"({"jobs":null})",
                           R"({"jobs":["c"],"until":"2020-01-01T00:00:00Z"})", R"({"jobs":["c"],"prefix":"x"})",
                           R"({"jobs":["c"],"note":"a\u0007"})"}) {
    EXPECT_EQ(ask("POST", "/api/v1/jobs/pause", body).status, 400) << body;
  }
  EXPECT_EQ(ask("POST", "/api/v1/jobs/resume", R"({"jobs":["c"],"until":"2030-01-01T00:00:00Z"})").status, 400);
  EXPECT_EQ(paused(), 0U);
}

TEST_F(BulkPauseTest, AJobThatHasThatNameIsStillFound) {
  do_on_loop([&] { ASSERT_TRUE(host_.reload({noon_job("pause")})); });
  EXPECT_THAT(ask("GET", "/api/v1/jobs/pause").body, HasSubstr(R"("identity":"pause")"));
  EXPECT_EQ(ask("POST", "/api/v1/jobs/pause/pause").status, 200);
  EXPECT_EQ(paused(), 1U);
}

TEST_F(BulkPauseTest, ADiskThatIsFullIsToldForEachName) {
  do_on_loop([&] {
    host_.file_system->fail_when([](const testing::CallRecord& call) {
      return call.call == testing::Call::write ? testing::Fault::no_space : testing::Fault::none;
    });
  });
  const auto answers = answers_to("/api/v1/jobs/pause", R"({"jobs":["c","d"]})");
  for (const Node& answer : answers) EXPECT_NE(answer.find("problem"), nullptr);
  EXPECT_EQ(paused(), 0U);
}

}  // namespace
}  // namespace kron::api
