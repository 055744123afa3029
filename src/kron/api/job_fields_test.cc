#include "kron/api/job_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"
#include "kron/json/document.h"

namespace kron::api {
namespace {

using ::testing::HasSubstr;

class JobFieldsTest : public ApiRig {
 protected:
  void add_run(const std::string& job, int number, int exit_code, Seconds length) {
    const Instant at = testing::utc("2026-02-20T00:00:00Z") + Seconds(60 * number);
    history_->add({.job = job,
                   .outcome = Outcome::executed,
                   .period = at,
                   .chosen = at,
                   .run_id = job + std::to_string(number),
                   .started_at = at,
                   .ended_at = at + length,
                   .exit_code = exit_code});
  }
  std::string jobs(const std::string& query) { return ask("GET", "/api/v1/jobs?" + query).body; }
};

TEST_F(JobFieldsTest, OutcomesComeWhenTheyAreAskedFor) {
  add_run("a/b", 0, 1, Seconds(1));
  for (int i = 1; i < 25; ++i) add_run("a/b", i, 0, Seconds(i));
  EXPECT_THAT(jobs("limit=1"), ::testing::Not(HasSubstr("outcomes")));
  EXPECT_THAT(jobs("limit=1&outcomes=20"), HasSubstr(R"("outcomes":")" + std::string(20, '+') + '"'));
  EXPECT_THAT(jobs("limit=1&outcomes=3"), HasSubstr(R"("outcomes":"+++")"));
  EXPECT_THAT(jobs("prefix=c&outcomes=20"), HasSubstr(R"("outcomes":"","usualSeconds":null)"));
  EXPECT_EQ(ask("GET", "/api/v1/jobs?outcomes=21").status, 400);
}

TEST_F(JobFieldsTest, TheUsualLengthIsAlwaysThere) {
  for (int i = 0; i < 4; ++i) add_run("c", i, 0, Seconds(30));
  EXPECT_THAT(jobs("prefix=c"), HasSubstr(R"("usualSeconds":null)"));
  add_run("c", 5, 0, Seconds(30));
  EXPECT_THAT(jobs("prefix=c"), HasSubstr(R"("usualSeconds":30)"));
  EXPECT_THAT(ask("GET", "/api/v1/jobs/c").body, HasSubstr(R"("outcomes":"+++++","usualSeconds":30)"));
}

TEST_F(JobFieldsTest, OnlyTheMembersThatAreWantedAreThere) {
  add_run("c", 0, 1, Seconds(1));
  EXPECT_EQ(jobs("prefix=c&fields=identity"), R"({"jobs":[{"identity":"c"}]})");
  EXPECT_EQ(jobs("prefix=c&fields=running,outcomes"), R"({"jobs":[{"identity":"c","running":0,"outcomes":"x"}]})");
  EXPECT_EQ(jobs("prefix=c&fields=schedule&outcomes=1"),
            R"({"jobs":[{"identity":"c","schedule":"0 12 * * *","outcomes":"x"}]})");
  EXPECT_THAT(jobs("prefix=c&fields=last"), HasSubstr(R"("last":{"number":1)"));
}

TEST_F(JobFieldsTest, ADefinitionComesWhenItIsNamedAndWithoutSecretsForReaders) {
  jobs::JobDefinition secret = noon_job("secret");
  jobs::RunOptions options = *secret.options;
  options.env = {{"DB_PASSWORD", "hunter2"}};
  options.input = "hunter3";
  secret.options = std::make_shared<const jobs::RunOptions>(options);
  do_on_loop([&] { EXPECT_TRUE(host_.reload({secret})); });
  EXPECT_THAT(jobs("outcomes=20"), ::testing::Not(HasSubstr("definition")));
  const std::string all = jobs("fields=definition");
  EXPECT_THAT(all, HasSubstr(R"({"identity":"secret","definition":{"name":"secret")"));
  EXPECT_THAT(all, HasSubstr("hunter2"));
  is_reader_ = true;
  const std::string shown = jobs("fields=definition");
  EXPECT_THAT(shown, HasSubstr("DB_PASSWORD"));
  EXPECT_THAT(shown, ::testing::Not(HasSubstr("hunter")));
}

// Whoever leaves one of them out of the list of known ones cannot ask for it.
TEST_F(JobFieldsTest, EveryMemberOfASummaryCanBeAskedFor) {
  const Node page = parse_json(jobs("prefix=c&outcomes=20")).value();
  const Node& job = page.find("jobs")->as<Node::List>()->front();
  for (const Node::Member& member : *job.as<Node::Map>()) {
    EXPECT_THAT(jobs("prefix=c&fields=" + member.key), HasSubstr('"' + member.key + "\":"));
  }
}

TEST_F(JobFieldsTest, AMemberThatThereIsNotIsRefusedWithThoseThatThereAre) {
  for (const char* wrong : {"nxt", "", "next,", ",next", "next,,last", "Next"}) {
    const http::Response response = ask("GET", std::string("/api/v1/jobs?fields=") + wrong);
    EXPECT_EQ(response.status, 400) << wrong;
    EXPECT_THAT(response.body, HasSubstr("usualSeconds")) << wrong;
  }
}

}  // namespace
}  // namespace kron::api
