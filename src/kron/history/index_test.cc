#include "kron/history/index.h"

#include <fstream>
#include <gtest/gtest.h>

#include "kron/history/fake/history_rig.h"

namespace kron::history {
namespace {

using Ids = std::vector<std::string>;

class IndexTest : public HistoryRig {
 protected:
  IndexTest() { open_archive(); }

  Ids ids(const Query& query) { return run_ids(all(query)); }
};

TEST_F(IndexTest, FindsByEveryPartOfAQuery) {
  record({run_ended("r1", 0, "db/backup", kStart), run_ended("r2", 1, "db/check", kStart + Seconds(10)),
          run_ended("r3", std::nullopt, "db", kStart + Seconds(20)), run_started("r4", "db0", kStart + Seconds(30)),
          missed(kStart + Seconds(40), "db/backup"), passed_over(kStart, kStart + Seconds(50), "db/backup")});
  EXPECT_EQ(ids({}), (Ids{"", "", "r4", "r3", "r2", "r1"}));
  EXPECT_EQ(ids({.job = "db/backup"}), (Ids{"", "", "r1"}));
  EXPECT_EQ(ids({.job = "db/back"}), Ids{});
  EXPECT_EQ(ids({.job_prefix = "db/"}), (Ids{"", "", "r2", "r1"}));
  EXPECT_EQ(ids({.job_prefix = "db"}), (Ids{"", "", "r4", "r3", "r2", "r1"}));
  EXPECT_EQ(ids({.kind = Kind::executed}), (Ids{"r4", "r3", "r2", "r1"}));
  EXPECT_EQ(all({.kind = Kind::missed}).at(0).period, kStart + Seconds(40));
  EXPECT_EQ(all({.kind = Kind::passed_over}).at(0).passed_over->count, 3U);
  EXPECT_EQ(ids({.kind = Kind::skipped}), Ids{});
  EXPECT_EQ(ids({.result = RunResult::running}), Ids{"r4"});
  EXPECT_EQ(ids({.result = RunResult::succeeded}), Ids{"r1"});
  EXPECT_EQ(ids({.result = RunResult::failed}), Ids{"r2"});
  EXPECT_EQ(ids({.result = RunResult::unknown}), Ids{"r3"});
  EXPECT_EQ(ids({.from = kStart + Seconds(10), .to = kStart + Seconds(30)}), (Ids{"r3", "r2"}));
  EXPECT_EQ(all({.job = "db/backup", .period = kStart + Seconds(40)}).at(0).outcome, Outcome::missed);
  EXPECT_EQ(ids({.job = "db/backup", .period = kStart + Seconds(41)}), Ids{});
  EXPECT_EQ(ids({.limit = 2}), (Ids{"", ""}));
  EXPECT_EQ(ids({.before = 3, .limit = 1}), Ids{"r2"});
  EXPECT_EQ(ids({.job_prefix = "db/", .result = RunResult::failed}), Ids{"r2"});
}

TEST_F(IndexTest, ByTimeWhatWasFoundMissedLaterStandsWhereItBelongs) {
  record({run_ended("r1", 0, "a", kStart + Seconds(30)), run_ended("r2", 0, "b", kStart + Seconds(10)),
          run_ended("r3", 0, "a", kStart + Seconds(20)), run_ended("r4", 0, "a", kStart + Seconds(10))});
  const auto by_time = [](std::int64_t before, std::size_t limit, std::string job = "") {
    return Query{.job = std::move(job), .before = before, .limit = limit, .order = Query::Order::time};
  };
  EXPECT_EQ(ids(by_time(0, 10)), (Ids{"r1", "r3", "r4", "r2"}));
  EXPECT_EQ(ids(by_time(0, 10, "a")), (Ids{"r1", "r3", "r4"}));
  // Page by page nothing is shown twice, and nothing is left out.
  EXPECT_EQ(ids(by_time(0, 2)), (Ids{"r1", "r3"}));
  EXPECT_EQ(ids(by_time(3, 1)), Ids{"r4"});
  EXPECT_EQ(ids(by_time(4, 2)), Ids{"r2"});
  EXPECT_EQ(ids(by_time(2, 2)), Ids{});
  // The number of no entry: those with lower ones.
  EXPECT_EQ(ids(by_time(99, 2)), (Ids{"r1", "r3"}));
}

TEST_F(IndexTest, RunsAreFoundByTheBeginningsOfTheirIds) {
  record({run_ended("0f3c11", 0, "a", kStart + Seconds(30)), run_ended("0f3d", 0, "b", kStart + Seconds(20)),
          run_ended("0f3c", 1, "b", kStart + Seconds(40)), run_started("0f3cff", "a", kStart + Seconds(10)),
          missed(kStart, "0f3c"), run_ended("0F3C", 0, "a", kStart)});
  const auto begins = [&](const char* prefix, Query query = {}) {
    query.run_prefix = prefix;
    return ids(query);
  };
  EXPECT_EQ(begins("0f3c"), (Ids{"0f3cff", "0f3c", "0f3c11"}));
  EXPECT_EQ(begins("0f3c", {.order = Query::Order::time}), (Ids{"0f3c", "0f3c11", "0f3cff"}));
  EXPECT_EQ(begins("0f3c", {.limit = 1, .order = Query::Order::time}), Ids{"0f3c"});
  EXPECT_EQ(begins("0f3c", {.job = "a"}), (Ids{"0f3cff", "0f3c11"}));
  EXPECT_EQ(begins("0f3c1"), Ids{"0f3c11"});
  EXPECT_EQ(begins("0f3c", {.result = RunResult::failed}), Ids{"0f3c"});
  EXPECT_EQ(begins("0f3e"), Ids{});
  EXPECT_EQ(begins("period"), Ids{}) << "a run's id, and no other key";
}

TEST_F(IndexTest, NamesWithWhatSqlKnowsAreNames) {
  const std::string name = "a%_'\";-- \xC3\xA9";
  record({run_ended("r1", 0, name), run_ended("r2", 0, "ab")});
  EXPECT_EQ(ids({.job = name}), Ids{"r1"});
  EXPECT_EQ(ids({.job_prefix = "a%"}), Ids{"r1"});
}

TEST_F(IndexTest, TheLastOfAJobIsItsNewestRunOrOutcome) {
  record({run_ended("r1", 0, "a"), run_started("r2", "a"), passed_over(kStart, kStart, "a"), missed(kStart, "b"),
          passed_over(kStart, kStart, "c")});
  const auto last = archive_->ask([](Index& index) { return index.last_of({"a", "b", "c", "d"}); });
  ASSERT_TRUE(last);
  EXPECT_EQ(last->size(), 2U);
  EXPECT_EQ(last->at("a").run_id, "r2");
  EXPECT_EQ(last->at("b").outcome, Outcome::missed);
}

TEST_F(IndexTest, TheEndsOfAJobAreItsNewestAndItsNewestSuccess) {
  record({run_ended("r1", 0, "a", kStart), run_ended("r2", 0, "a", kStart + Seconds(60)),
          run_ended("r3", 1, "a", kStart + Seconds(120)), run_started("r4", "a", kStart + Seconds(180)),
          passed_over(kStart, kStart + Seconds(50), "a"), missed(kStart, "b"), run_started("r5", "c")});
  const auto ends = archive_->ask([&](Index& index) { return index.ends_of({"a", "b", "c", "d"}); });
  ASSERT_TRUE(ends) << ends.error().message;
  EXPECT_EQ(ends->at("a").last->run_id, "r3") << "r4 goes on";
  EXPECT_EQ(ends->at("a").success->run_id, "r2");
  EXPECT_EQ(ends->at("b").last->outcome, Outcome::missed);
  EXPECT_FALSE(ends->at("b").success);
  EXPECT_FALSE(ends->contains("c"));
  EXPECT_FALSE(ends->contains("d"));
}

TEST_F(IndexTest, AnotherVersionAndAFileThatIsNoneAreInvalid) {
  remove_index();
  std::ofstream(path("index.sqlite")) << std::string(10'000, 'x');
  EXPECT_EQ(Index::open(path("index.sqlite")).error().code, Code::invalid);
  Index::discard(path("index.sqlite"));
  ASSERT_TRUE(Database::open(path("index.sqlite")).value().run("PRAGMA user_version = 99"));
  EXPECT_EQ(Index::open(path("index.sqlite")).error().code, Code::invalid);
}

}  // namespace
}  // namespace kron::history
