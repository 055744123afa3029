#include "kron/history/recent.h"

#include <future>
#include <gtest/gtest.h>
#include <random>

#include "kron/history/fake/history_rig.h"
#include "kron/history/history.h"

namespace kron::history {
namespace {

Entry timed_out_run(const std::string& id) {
  Entry entry = run_ended(id, 143);
  entry.detail = "timed out after 2s";
  return entry;
}

Entry of_outcome(Outcome outcome, Instant period = kStart) {
  return {.job = "backup", .outcome = outcome, .period = period, .ended_at = period};
}

TEST(Letter, ThereIsOneForEachWayInWhichAPeriodCanGo) {
  Entry killed = timed_out_run("r");
  killed.exit_code.reset();
  EXPECT_EQ(letter_of(run_ended("r", 0)), '+');
  EXPECT_EQ(letter_of(run_ended("r", 3)), 'x');
  EXPECT_EQ(letter_of(timed_out_run("r")), 't');
  EXPECT_EQ(letter_of(killed), 't');
  EXPECT_EQ(letter_of(run_ended("r", std::nullopt)), '?');
  EXPECT_EQ(letter_of(of_outcome(Outcome::skipped)), 's');
  EXPECT_EQ(letter_of(missed(kStart)), 'm');
  EXPECT_EQ(letter_of(of_outcome(Outcome::unschedulable)), 'n');
  EXPECT_EQ(letter_of(passed_over(kStart, kStart + Seconds(60))), 'o');
  EXPECT_EQ(letter_of(run_started("r")), 'r');
}

TEST(Letter, AManualRunThatWasGivenUpIsSkippedAndHasNoLength) {
  Entry given_up = of_outcome(Outcome::skipped);
  given_up.run_id = "r";
  given_up.started_at = kStart;
  EXPECT_EQ(letter_of(given_up), 's');
  EXPECT_EQ(length_of(given_up), std::nullopt);
}

TEST(Length, IsExactWhenTheRunSaidSo) {
  Entry entry = run_ended("r");
  EXPECT_EQ(length_of(entry), Seconds(5));
  entry.duration = std::chrono::microseconds(4'250'400);
  EXPECT_EQ(length_of(entry), std::chrono::milliseconds(4250));
  EXPECT_EQ(length_of(run_started("r")), std::nullopt);
}

TEST(UsualLength, IsTheMedianOfFiveOrMore) {
  using std::chrono::seconds;
  EXPECT_EQ(usual_length({}), std::nullopt);
  EXPECT_EQ(usual_length({seconds(1), seconds(2), seconds(3), seconds(4)}), std::nullopt);
  EXPECT_EQ(usual_length({seconds(900), seconds(2), seconds(1), seconds(4), seconds(3)}), seconds(3));
}

TEST(MayBeBad, LooksAtTheLastRunAndAtTheLastPeriod) {
  for (const char* bad : {"x", "+t", "+?", "+m", "+s", "+n", "xr", "xo", "xs+m", "xmm", "mr", "xsss"}) {
    EXPECT_TRUE(may_be_bad(bad)) << bad;
  }
  for (const char* good : {"", "+", "r", "o", "x+", "m+", "xmsn+", "+r", "+or", "x+ro"}) {
    EXPECT_FALSE(may_be_bad(good)) << good;
  }
}

class RecentTest : public HistoryRig {
 protected:
  RecentTest() { open_archive(); }

  std::string letters(const std::string& job = "backup") { return archive_->recent().of(job).letters; }
  std::optional<Length> usual() { return archive_->recent().of("backup").usual; }

  Entry run_of_length(const std::string& id, Seconds length) {
    Entry entry = run_ended(id);
    entry.ended_at = kStart + length;
    return entry;
  }
};

TEST_F(RecentTest, HasTheLastTwentyOldestFirst) {
  EXPECT_EQ(letters(), "");
  record({run_ended("r1", 1), missed(kStart), run_ended("r2")});
  EXPECT_EQ(letters(), "xm+");
  for (int i = 0; i < 17; ++i) record({run_ended("s" + std::to_string(i))});
  EXPECT_EQ(letters(), "xm" + std::string(18, '+'));
  record({run_ended("r3", 1)});
  EXPECT_EQ(letters(), "m" + std::string(18, '+') + "x");
}

TEST_F(RecentTest, ARunThatEndsChangesItsLetterWhereItStands) {
  record({run_started("r1"), run_started("r2"), missed(kStart)});
  EXPECT_EQ(letters(), "rrm");
  record({run_ended("r1", 1)});
  EXPECT_EQ(letters(), "xrm");
  record({run_ended("r2")});
  EXPECT_EQ(letters(), "x+m");
}

TEST_F(RecentTest, ARunThatOutlivesTheRowEndsOutsideOfIt) {
  record({run_started("long")});
  for (int i = 0; i < 20; ++i) record({run_ended("r" + std::to_string(i), 1)});
  record({run_ended("long")});
  EXPECT_EQ(letters(), std::string(20, 'x'));
}

TEST_F(RecentTest, WhatIsKnownBetterLaterIsReadAgain) {
  record({run_ended("r1", std::nullopt), run_ended("r2")});
  EXPECT_EQ(letters(), "?+");
  record({run_ended("r1", 1)});
  EXPECT_EQ(letters(), "x+");
}

TEST_F(RecentTest, TheUsualLengthIsThatOfTheLastTwentyThatSucceeded) {
  for (int i = 0; i < 4; ++i) record({run_of_length("a" + std::to_string(i), Seconds(10))});
  EXPECT_EQ(usual(), std::nullopt);
  record({run_of_length("a4", Seconds(10))});
  EXPECT_EQ(usual(), Seconds(10));
  // Failures push successes out of the row, but not out of what is usual.
  for (int i = 0; i < 30; ++i) record({run_ended("x" + std::to_string(i), 1)});
  EXPECT_EQ(letters(), std::string(20, 'x'));
  EXPECT_EQ(usual(), Seconds(10));
  for (int i = 0; i < 20; ++i) record({run_of_length("b" + std::to_string(i), Seconds(70))});
  EXPECT_EQ(usual(), Seconds(70));
}

// What is kept up entry by entry is what a restart reads from the index.
TEST_F(RecentTest, ARestartKnowsTheSame) {
  std::mt19937 random(18);
  const auto one_of = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  std::vector<std::string> running;
  for (int i = 0; i < 400; ++i) {
    const std::string job = "job" + std::to_string(one_of(3));
    const std::string id = job + "-" + std::to_string(i);
    switch (one_of(4)) {
      case 0:
        record({missed(kStart + Seconds(i), job)});
        break;
      case 1:
        record({run_started(id, job)});
        running.push_back(id);
        break;
      case 2:
        record({run_ended(id, one_of(2), job)});
        break;
      default:
        if (running.empty()) break;
        const std::string& ends = running[random() % running.size()];
        record({run_ended(ends, one_of(2), ends.substr(0, 4))});
    }
  }
  std::vector<Recent> before;
  for (const char* job : {"job0", "job1", "job2"}) before.push_back(archive_->recent().of(job));
  EXPECT_EQ(before[0].letters.size(), kRecent);
  open_archive();
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(archive_->recent().of("job" + std::to_string(i)), before[i]) << i;
  }
  remove_index();
  open_archive();
  EXPECT_EQ(archive_->recent().of("job0"), before[0]);
}

TEST_F(RecentTest, JobsThatAreForgottenLeaveTheMemoryAtMidnight) {
  record({run_ended("r1", 0, "gone"), run_ended("r2", 0, "stays")});
  EXPECT_EQ(archive_->recent().jobs(), 2U);
  clock_.advance(retention_.age + std::chrono::hours(24));
  record({run_ended("r3", 1, "stays", kStart + retention_.age)});
  EXPECT_EQ(archive_->recent().jobs(), 1U);
  EXPECT_EQ(letters("stays"), "x");
}

TEST_F(RecentTest, MoreJobsThanTheHistoryKeepsAreNotKeptInMemoryForADay) {
  retention_.most = 10;
  open_archive();
  for (int i = 0; i < 100; ++i) record({run_ended("r" + std::to_string(i), 0, "job" + std::to_string(i))});
  EXPECT_LE(archive_->recent().jobs(), 2 * retention_.most + 1);
  EXPECT_EQ(letters("job99"), "+");
}

TEST_F(RecentTest, OfARingTheNewestDecidesWhetherAJobIsBad) {
  for (int i = 0; i < 25; ++i) record({run_ended("r" + std::to_string(i), 1)});
  record({run_ended("good", 0)});
  EXPECT_TRUE(archive_->recent().bad_jobs().empty());
  record({run_ended("bad", 1), run_ended("other", 1, "a")});
  EXPECT_EQ(archive_->recent().bad_jobs(), (std::vector<std::string>{"a", "backup"}));
}

TEST_F(RecentTest, TheHistoryTellsOfManyJobsAtOnce) {
  archive_.reset();
  auto history = History::open(directory_.path(), retention_, clock_, log_);
  ASSERT_TRUE(history);
  for (int i = 0; i < 30; ++i) (*history)->add(run_ended("a" + std::to_string(i), 1, "a"));
  (*history)->add(run_ended("b", 0, "b"));
  std::promise<std::map<std::string, Recent>> recent;
  (*history)->recent_of({"a", "b", "c"}, [&](const auto& answer) { recent.set_value(answer.value()); });
  auto got = recent.get_future().get();
  EXPECT_EQ(got.at("a").letters, std::string(20, 'x'));
  EXPECT_EQ(got.at("b").letters, "+");
  EXPECT_EQ(got.at("c").letters, "");
  std::promise<std::vector<std::string>> bad;
  (*history)->bad_jobs([&](const auto& answer) { bad.set_value(answer.value()); });
  EXPECT_EQ(bad.get_future().get(), std::vector<std::string>{"a"});
  std::promise<std::map<std::string, std::vector<Entry>>> newest;
  (*history)->newest_of({"a", "c"}, 3, [&](const auto& answer) { newest.set_value(answer.value()); });
  const auto entries = newest.get_future().get();
  EXPECT_EQ(run_ids(entries.at("a")), (std::vector<std::string>{"a29", "a28", "a27"}));
  EXPECT_FALSE(entries.contains("c"));
}

}  // namespace
}  // namespace kron::history
