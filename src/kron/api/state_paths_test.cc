#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"
#include "kron/api/state_records.h"
#include "kron/json/document.h"
#include "kron/ledger/file_ledger.h"
#include "kron/state/names.h"

// The records of jobs, as they are shown and mended.
namespace kron::api {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::utc;

class StatePathsTest : public ApiRig {
 protected:
  // A record that says of the job that it is known since then.
  void record(const std::string& identity) {
    testing::SilentLog log;
    const auto ledger = FileLedger::open(files_, records(), log).value();
    const std::vector<std::string> names{identity};
    KnownJob known = ledger->load(names, utc("2026-02-01T00:00:00Z")).value().front();
    known.periods.last_handled = utc("2026-02-28T12:00:00Z");
    LedgerStep step;
    step.identity = identity;
    step.now = known;
    step.last_outcome = Outcome::missed;
    ASSERT_TRUE(ledger->write({&step, 1}).front().is_done());
  }
  void damage(const std::string& identity) {
    const std::filesystem::path path = directory_ / "records" / state_file_name(sha256({identity}));
    ASSERT_TRUE(std::filesystem::exists(path));
    std::filesystem::resize_file(path, 10);
  }
  std::string records() const { return (directory_ / "records").string(); }
  Node json(std::string_view method, std::string_view path, std::string body = {}) {
    return parse_json(ask(method, path, std::move(body)).body).value();
  }
};

TEST_F(StatePathsTest, ADirectoryWithoutRecordsIsAnEmptyList) {
  EXPECT_EQ(ask("GET", "/api/v1/state").body, R"({"records":[]})");
  EXPECT_EQ(ask("GET", "/api/v1/state/c").status, 404);
}

TEST_F(StatePathsTest, ShowsWhatARecordSays) {
  record("c");
  const std::string body = ask("GET", "/api/v1/state/c").body;
  EXPECT_THAT(body, AllOf(HasSubstr(R"("identity":"c")"), HasSubstr(R"("lastPeriodId":"2026-02-28T12:00:00Z")"),
                          HasSubstr(R"("lastOutcome":"missed")"), HasSubstr(R"("firstSeen":"2026-02-01T00:00:00Z")"),
                          HasSubstr(R"("active":0)"), HasSubstr(R"("fault":null)"), HasSubstr(R"("record":{)")));
}

TEST_F(StatePathsTest, ListsThemPageByPage) {
  for (const char* name : {"a", "b", "c"}) record(name);
  std::vector<std::string> names;
  std::string after;
  int pages = 0;
  do {
    const Node page = json("GET", "/api/v1/state?limit=2" + (after.empty() ? "" : "&after=" + after));
    for (const Node& one : *page.find("records")->as<Node::List>()) {
      names.push_back(*one.find("identity")->as<std::string>());
    }
    after = page.find("next") == nullptr ? "" : *page.find("next")->as<std::string>();
    ++pages;
  } while (!after.empty());
  std::ranges::sort(names);
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
  EXPECT_EQ(pages, 2);
  EXPECT_EQ(ask("GET", "/api/v1/state?limit=1001").status, 400);
}

TEST_F(StatePathsTest, ARecordThatIsDamagedIsListedWithItsFault) {
  record("c");
  damage("c");
  const Node page = json("GET", "/api/v1/state");
  const Node& one = page.find("records")->as<Node::List>()->front();
  EXPECT_EQ(*one.find("fault")->as<std::string>(), "damaged");
  EXPECT_TRUE(one.find("identity")->is_null()) << "it does not tell";
  EXPECT_FALSE(one.find("reason")->is_null());
  const Node shown = json("GET", "/api/v1/state/c");
  EXPECT_TRUE(shown.find("record")->is_null());
}

TEST_F(StatePathsTest, AResetIsTheSchedulersAndSaysFromWhenOn) {
  EXPECT_EQ(ask("POST", "/api/v1/state/c/reset").body, R"({"identity":"c","firstSeen":"2026-03-01T00:00:01Z"})");
  EXPECT_EQ(ask("POST", "/api/v1/state/nobody/reset").status, 404);
  ASSERT_EQ(ask("POST", "/api/v1/jobs/c/trigger").status, 200);
  EXPECT_EQ(ask("POST", "/api/v1/state/c/reset").status, 409) << "a run of it is active";
}

TEST_F(StatePathsTest, PruneForgetsWhatIsNotConfiguredAndADryRunNothing) {
  for (const char* name : {"c", "old", "older"}) record(name);
  configured_ = std::vector<std::string>{"c"};
  const Node dry = json("POST", "/api/v1/state/prune", R"({"dryRun":true})");
  EXPECT_EQ(*dry.find("count")->as<std::int64_t>(), 2);
  EXPECT_TRUE(*dry.find("dryRun")->as<bool>());
  EXPECT_EQ(forgotten_, 0U);
  const Node done = json("POST", "/api/v1/state/prune");
  EXPECT_EQ(*done.find("count")->as<std::int64_t>(), 2);
  EXPECT_FALSE(*done.find("dryRun")->as<bool>());
  EXPECT_EQ(forgotten_, 2U);
}

TEST_F(StatePathsTest, AJobThatAReloadBroughtBackMeanwhileIsNotForgotten) {
  record("c");  // the scheduler has it, although the list does not
  const Node done = json("POST", "/api/v1/state/prune");
  EXPECT_EQ(*done.find("count")->as<std::int64_t>(), 0);
  EXPECT_EQ(forgotten_, 0U);
}

TEST_F(StatePathsTest, NothingIsPrunedWhenTheConfigurationIsNotKnownOrTheDiskFails) {
  record("old");
  configured_ = fail(Code::refused, "a job file has errors");
  EXPECT_EQ(ask("POST", "/api/v1/state/prune").status, 403);
  configured_ = std::vector<std::string>{};
  forget_ = fail(Code::io, "the disk is full");
  const auto failed = ask("POST", "/api/v1/state/prune");
  EXPECT_EQ(failed.status, 500);
  EXPECT_THAT(failed.body, HasSubstr("the disk is full"));
}

TEST_F(StatePathsTest, ManyThatGoAreCountedAndTheFirstThousandShown) {
  std::vector<PrunedJob> jobs(1001);
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].identity = "job-" + std::to_string(i);
  const Node answer = parse_json(pruned_json(jobs, false)).value();
  EXPECT_EQ(*answer.find("count")->as<std::int64_t>(), 1001);
  EXPECT_EQ(answer.find("records")->as<Node::List>()->size(), 1000U);
}

}  // namespace
}  // namespace kron::api
