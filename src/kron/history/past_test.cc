#include "kron/history/past.h"

#include <future>
#include <gtest/gtest.h>

#include "kron/history/fake/history_rig.h"
#include "kron/history/history.h"

namespace kron::history::past_test {
namespace {

constexpr Seconds kHour = std::chrono::hours(1);
using Counts = std::vector<std::uint64_t>;

class PastTest : public HistoryRig {
 protected:
  PastTest() { open_archive(); }

  Counts starts(const StartsQuery& query) {
    return archive_->ask([&](Index& index) { return index.count_starts(query); }).value();
  }
  // Four hours, and one lane of these jobs.
  static PastQuestion asked(std::vector<std::string> jobs) {
    return {.starts = {.from = kStart, .length = 4 * kHour, .parts = 4, .until = kStart + 4 * kHour},
            .lanes = {{.jobs = std::move(jobs), .wants_runs = true}}};
  }
  Past::Lane lane(const PastQuestion& question) { return past_of(*archive_, question).value().lanes.at(0); }
};

TEST_F(PastTest, StartsAreCountedByPart) {
  record({run_ended("a", 0, "x", kStart - Seconds(1)), run_ended("b", 0, "x", kStart),
          run_started("c", "y", kStart + kHour - Seconds(1)), run_ended("d", 1, "y", kStart + kHour),
          run_ended("e", 0, "y", kStart + 4 * kHour), missed(kStart + Seconds(60), "x")});
  StartsQuery query{.from = kStart, .length = 4 * kHour, .parts = 4, .until = kStart + 4 * kHour};
  EXPECT_EQ(starts(query), (Counts{2, 1, 0, 0}));
  query.until = kStart + kHour;
  EXPECT_EQ(starts(query), (Counts{2, 0, 0, 0}));
  query.parts = 8;
  EXPECT_EQ(starts(query), (Counts{1, 1, 0, 0, 0, 0, 0, 0}));
}

TEST_F(PastTest, StartsOfSomeJobsAreCountedByTheirNames) {
  record({run_ended("a", 0, "team/x"), run_ended("b", 0, "team/y"), run_ended("c", 0, "other/x")});
  StartsQuery query{.from = kStart, .length = kHour, .parts = 1, .until = kStart + kHour};
  EXPECT_EQ(starts(query), Counts{3});
  query.prefix = "team/";
  EXPECT_EQ(starts(query), Counts{2});
  query.match = "/x";
  EXPECT_EQ(starts(query), Counts{1});
  query.prefix = "%";
  EXPECT_EQ(starts(query), Counts{0}) << "no pattern";
}

TEST_F(PastTest, ALaneHasItsRunsTheOldestFirstAndWhatReachesIntoTheTime) {
  Entry reaches = run_ended("reaches", 0, "x", kStart - kHour);
  reaches.ended_at = kStart + Seconds(1);
  Entry still = run_started("still", "x", kStart - 2 * kHour);
  record({still, run_ended("over", 0, "x", kStart - Seconds(100)), reaches, run_ended("b", 1, "x", kStart + kHour),
          run_ended("later", 0, "x", kStart + 4 * kHour), run_ended("c", 0, "y", kStart)});
  EXPECT_EQ(run_ids(lane(asked({"x"})).runs), (std::vector<std::string>{"still", "reaches", "b"}));
}

TEST_F(PastTest, OfTooManyRunsTheNewestAreTold) {
  for (int i = 0; i < 10; ++i) record({run_ended(std::to_string(i), 0, "x", kStart + i * Seconds(60))});
  PastQuestion question = asked({"x"});
  question.most_of_a_lane = 3;
  EXPECT_EQ(run_ids(lane(question).runs), (std::vector<std::string>{"7", "8", "9"}));
  question.lanes.push_back(question.lanes.front());
  question.most = 4;
  const Past past = past_of(*archive_, question).value();
  EXPECT_EQ(past.lanes[0].runs.size(), 3U);
  EXPECT_EQ(past.lanes[1].runs.size(), 1U);
  question.lanes[0].wants_runs = false;
  EXPECT_TRUE(lane(question).runs.empty());
}

TEST_F(PastTest, ALaneSaysWhatIsUsualAndTheWorstOfItsJobs) {
  for (int i = 0; i < 5; ++i) record({run_ended("ok" + std::to_string(i), 0, "good")});
  record({missed(kStart, "missed"), run_ended("bad", 1, "failed")});
  EXPECT_EQ(lane(asked({"good"})).usual, Seconds(5));
  EXPECT_EQ(lane(asked({"good"})).worst, 0);
  EXPECT_EQ(lane(asked({"missed"})).worst, 'm');
  EXPECT_EQ(lane(asked({"good", "missed", "failed"})).worst, 'x');
  EXPECT_EQ(lane(asked({"good", "missed", "failed"})).usual, std::nullopt);
  EXPECT_EQ(lane(asked({"nobody"})).worst, 0);
}

TEST_F(PastTest, WhatRunsNowSaysNothingOfWhatIsWrong) {
  const std::pair<const char*, unsigned> cases[] = {{"", 0},  {"+", 0}, {"x+", 0}, {"r", 0}, {"xr", 6}, {"+xor", 6},
                                                    {"s", 1}, {"n", 2}, {"m", 3},  {"?", 4}, {"t", 5},  {"+r", 0}};
  for (const auto& [letters, need] : cases) EXPECT_EQ(need_of(letters), need) << letters;
}

TEST_F(PastTest, TheHistoryAnswersIt) {
  archive_.reset();
  auto history = History::open(directory_.file(""), retention_, clock_, log_).value();
  history->add(run_ended("a", 0, "x"));
  std::promise<Past> told;
  history->past(asked({"x"}), [&](Result<Past> past) { told.set_value(*std::move(past)); });
  const Past past = told.get_future().get();
  EXPECT_EQ(past.starts, (Counts{1, 0, 0, 0}));
  EXPECT_EQ(run_ids(past.lanes.at(0).runs), std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace kron::history::past_test
