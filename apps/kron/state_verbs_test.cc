#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "fake_krond.h"
#include "kron/base/rfc3339.h"
#include "kron/env/fake/silent_log.h"
#include "kron/env/real_file_system.h"
#include "kron/json/document.h"
#include "kron/ledger/file_ledger.h"
#include "kron/state/names.h"

// `kron state …`, of a krond that runs and of a state directory that none has.
namespace kron::cli {
namespace {

TEST(StateOfKrond, ListsAllPagesInOneTable) {
  FakeKrond krond;
  krond.on("GET /status", "{}");
  krond.on(
      "GET /state?limit=1000",
      R"({"records":[{"identity":"a","file":"f1","bytes":300,"active":1,"lastPeriodId":"P","lastOutcome":"missed"}],)"
      R"("next":"f1"})");
  krond.on("GET /state?after=f1&limit=1000",
           R"({"records":[{"identity":null,"file":"f2","bytes":7,"active":0,"fault":"damaged"}]})");
  const Ran ran = krond.kron({"state", "list"});
  EXPECT_EQ(ran.status, 0);
  std::istringstream lines(ran.out);
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  ASSERT_EQ(all.size(), 3U) << ran.out;
  EXPECT_THAT(all[2], AllOf(StartsWith("a "), HasSubstr(" ok "), HasSubstr(" missed ")));
  EXPECT_THAT(all[1], AllOf(StartsWith("(f2) "), HasSubstr(" damaged "), HasSubstr(" - ")));
}

TEST(StateOfKrond, ShowsARecordAndItsCure) {
  FakeKrond krond;
  krond.on("GET /status", "{}");
  krond.on(
      "GET /state/a",
      R"({"identity":"a","file":"f","bytes":9,"fault":"damaged","reason":"no \u001b JSON","active":0,"history":3})");
  const Ran ran = krond.kron({"state", "show", "a"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("job           a\n"), HasSubstr("fault         damaged\n"),
                             HasSubstr("cure          kron state reset a\n"), Not(HasSubstr("\x1b"))));
}

TEST(StateOfKrond, ResetsEachAndTheWorstStatusCounts) {
  FakeKrond krond;
  krond.on("GET /status", "{}");
  krond.on("POST /state/a/reset", R"({"identity":"a","firstSeen":"2026-03-01T00:00:00Z"})");
  krond.refuse("POST /state/b/reset", {Code::conflict, "a run of 'b' is active"});
  const Ran ran = krond.kron({"state", "reset", "b", "a"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_EQ(ran.out, "reset a: nothing due before 2026-03-01T00:00:00Z runs\n");
  EXPECT_EQ(ran.err, "kron state: a run of 'b' is active\n");
}

TEST(StateOfKrond, PrunesOnlyWhenToldTo) {
  FakeKrond krond;
  krond.on("GET /status", "{}");
  krond.on("POST /state/prune",
           R"({"count":3,"dryRun":true,"records":[{"identity":"a","file":"f"},{"identity":null,"file":"g"}]})");
  krond.on("POST /state/prune", R"({"count":1,"dryRun":false,"records":[{"identity":"a\n","file":"f"}]})");
  krond.on("POST /state/prune", R"({"count":0,"dryRun":true,"records":[]})");
  EXPECT_EQ(krond.kron({"state", "prune"}).out, "would remove a\nwould remove (g)\nand 1 more\n--yes removes them\n");
  EXPECT_EQ(krond.kron({"state", "prune", "--yes"}).out, "removed 'a\\x0a'\n");
  EXPECT_EQ(krond.kron({"state", "prune"}).out, "every job that has a record is configured\n");
  EXPECT_THAT(krond.asked(),
              ElementsAre("GET /status", R"(POST /state/prune {"dryRun":true})", "GET /status", "POST /state/prune {}",
                          "GET /status", R"(POST /state/prune {"dryRun":true})"));
}

TEST(StateOfKrond, AKrondThatRefusesIsNotGoneRound) {
  FakeKrond krond;
  krond.refuse("GET /status", {Code::refused, "you may not"});
  krond.refuse("GET /state/a", {Code::refused, "you may not"});
  EXPECT_EQ(krond.kron({"state", "show", "a"}).status, 4);
}

// A directory that no krond has.
class StateOfADirectory : public ::testing::Test {
 protected:
  StateOfADirectory() { std::filesystem::create_directories(state()); }

  Ran state_verb(std::vector<std::string> words) const {
    words.insert(words.begin(), "state");
    words.insert(words.end(), {"--state-dir", state()});
    return testing::kron(words);
  }
  void record(const std::string& identity) {
    testing::SilentLog log;
    const auto ledger = FileLedger::open(files_, state(), log).value();
    const std::vector<std::string> names{identity};
    LedgerStep step;
    step.identity = identity;
    step.now = ledger->load(names, *parse_rfc3339("2026-02-01T00:00:00Z")).value().front();
    step.now.periods.last_handled = *parse_rfc3339("2026-02-28T12:00:00Z");
    ASSERT_TRUE(ledger->write({&step, 1}).front().is_done());
  }
  std::string file_of(const std::string& identity) const { return state() + "/" + state_file_name(sha256({identity})); }
  std::string state() const { return directory_.file("state"); }

  testing::TemporaryDirectory directory_;
  const Variable variable_{"KRON_SOCKET", nullptr};
  RealFileSystem files_;
};

TEST_F(StateOfADirectory, IsReadWithoutAKrond) {
  record("a");
  const Ran ran = state_verb({"list"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\na "), HasSubstr(" 2026-02-28T12:00:00Z ")));
  EXPECT_THAT(state_verb({"show", "a", "--format", "json"}).out, HasSubstr(R"("identity":"a")"));
  const Ran nobody = state_verb({"show", "nobody"});
  EXPECT_EQ(nobody.status, 1);
  EXPECT_THAT(nobody.err, HasSubstr("there is no record of 'nobody'"));
}

TEST_F(StateOfADirectory, ResetMakesARecordAnew) {
  record("a");
  std::filesystem::resize_file(file_of("a"), 5);
  EXPECT_THAT(state_verb({"list"}).out, HasSubstr("damaged"));
  const Ran ran = state_verb({"reset", "a"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("reset a: nothing due before "));
  EXPECT_THAT(state_verb({"list"}).out, Not(HasSubstr("damaged")));
  EXPECT_EQ(state_verb({"reset", "nobody"}).status, 1);
}

TEST_F(StateOfADirectory, PruneGoesByTheJobFilesThatAreNamed) {
  record("a");
  record("b");
  const std::string jobs = directory_.file("jobs.kron");
  std::ofstream(jobs) << "0 0 * * * name=a command=x\n";
  EXPECT_EQ(state_verb({"prune", "--config", jobs}).out, "would remove b\n--yes removes them\n");
  EXPECT_TRUE(std::filesystem::exists(file_of("b")));
  EXPECT_EQ(state_verb({"prune", "--config", jobs, "--yes"}).out, "removed b\n");
  EXPECT_FALSE(std::filesystem::exists(file_of("b")));
  std::ofstream(jobs) << "nonsense\n";
  const Ran ran = state_verb({"prune", "--config", jobs, "--yes"});
  EXPECT_EQ(ran.status, 4) << "a file with errors may hold any job";
  EXPECT_TRUE(std::filesystem::exists(file_of("a")));
}

TEST_F(StateOfADirectory, IsToldNotMadeWhenItIsMisspelt) {
  const Ran ran = testing::kron({"state", "list", "--state-dir", directory_.file("nowhere")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_FALSE(std::filesystem::exists(directory_.file("nowhere")));
}

TEST_F(StateOfADirectory, ThatAnotherHasIsInConflict) {
  testing::SilentLog log;
  const auto owner = FileLedger::open(files_, state(), log);
  ASSERT_TRUE(owner);
  EXPECT_EQ(state_verb({"list"}).status, 4);
}

}  // namespace
}  // namespace kron::cli
