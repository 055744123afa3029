#include "kron/history/catch_up.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "kron/history/fake/history_rig.h"

namespace kron::history {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

HistoryEntry past(const Entry& entry) {
  return {.period = entry.period,
          .outcome = entry.outcome,
          .reason = entry.reason,
          .chosen = entry.chosen,
          .completed_at = *entry.ended_at,
          .exit_code = entry.exit_code,
          .run_id = entry.run_id,
          .trigger = entry.trigger,
          .passed_over = entry.passed_over};
}

ActiveExecution active(const std::string& run_id) {
  ActiveExecution run;
  run.started_at = kStart;
  run.period = kStart;
  run.pid = 12;
  run.boot_id = "b";
  run.run_id = run_id;
  return run;
}

class CatchUpTest : public HistoryRig {
 protected:
  CatchUpTest() { open_archive(); }

  void begin() { catch_up_ = CatchUp::begin(directory_.path(), archive_->journal()).value(); }
  void finish() {
    while (!catch_up_->is_done()) {
      const Status done = catch_up_->step(*archive_);
      ASSERT_TRUE(done) << done.error().message;
    }
  }
  std::size_t catch_up() {
    begin();
    finish();
    return catch_up_->news();
  }

  void write_job(const std::string& job, const std::vector<Entry>& ended,
                 const std::vector<std::string>& running = {}) {
    StateRecord record;
    record.identity = job;
    for (const Entry& entry : ended) record.history.push_back(past(entry));
    for (const std::string& run_id : running) record.active.push_back(active(run_id));
    write_state(record);
  }
  // When a file was last changed, as seen from now.
  static void age(const std::string& file, Seconds age) {
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec -= age.count();
    const timespec times[] = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }

  std::unique_ptr<CatchUp> catch_up_;
};

TEST_F(CatchUpTest, AFirstStartTakesWhatTheRecordsHoldInTheOrderOfTime) {
  write_job("a", {run_ended("a1", 0, "a", kStart - Seconds(10)), run_ended("a2", 1, "a", kStart + Seconds(20))});
  write_job("b", {run_ended("b1", 0, "b", kStart + Seconds(10)), missed(kStart + Seconds(30), "b"),
                  passed_over(kStart, kStart + Seconds(40), "b")});
  write_job("c", {}, {"c1"});
  EXPECT_EQ(catch_up(), 6U);
  const std::vector<Entry> entries = all();
  EXPECT_EQ(run_ids(entries), (Names{"", "", "a2", "b1", "c1", "a1"}));
  EXPECT_EQ(entries[0].passed_over->count, 3U);
  EXPECT_EQ(entries[1].reason, Reason::deadline);
  EXPECT_EQ(result_of(entries[4]), RunResult::running);
  EXPECT_EQ(catch_up(), 0U);
}

TEST_F(CatchUpTest, WhatACrashKeptFromTheJournalIsAdded) {
  record({run_ended("r1", 0, "a"), run_started("r2", "a"), missed(kStart, "a")});
  write_job("a", {run_ended("r1", 0, "a"), missed(kStart, "a"), run_ended("r2", 9, "a"), run_ended("r3", 0, "a")},
            {"r4"});
  EXPECT_EQ(catch_up(), 3U);
  EXPECT_EQ(run_ids(all()), (Names{"r4", "r3", "", "r2", "r1"}));
  EXPECT_EQ(all()[3].exit_code, 9);
  EXPECT_EQ(all()[3].pid, 4711);
}

TEST_F(CatchUpTest, ARunThatTheJournalHasEndedStaysEnded) {
  record({run_ended("r1", 3, "a")});
  write_job("a", {}, {"r1"});
  EXPECT_EQ(catch_up(), 0U);
  EXPECT_EQ(all().at(0).exit_code, 3);
}

TEST_F(CatchUpTest, RecordsThatDidNotChangeAreNotRead) {
  record({run_ended("r1", 0, "a")});
  write_job("b", {run_ended("b1", 0, "b")});
  age(directory_.file(state_file_name(sha256({"b"}))), Seconds(1000));
  EXPECT_EQ(catch_up(), 0U);
}

TEST_F(CatchUpTest, ACrashOnTheWayBeginsItAnew) {
  record({run_ended("r1", 0, "a")});
  age(path("2026-03-02.jsonl"), Seconds(5000));
  write_job("b", {run_ended("b1", 0, "b")});
  age(directory_.file(state_file_name(sha256({"b"}))), Seconds(1000));
  begin();
  record({run_ended("r2", 0, "a")});
  open_archive();
  EXPECT_EQ(catch_up(), 1U);
  EXPECT_FALSE(fs::exists(path("catching-up")));
  EXPECT_EQ(run_ids(all()), (Names{"b1", "r2", "r1"}));
}

TEST_F(CatchUpTest, WhatIsTooOldDoesNotComeBack) {
  retention_.age = std::chrono::days(3);
  clock_.advance(std::chrono::days(10));
  open_archive();
  const Instant today = kStart + std::chrono::days(10);
  write_job("a", {run_ended("old", 0, "a", kStart), run_ended("new", 0, "a", today - Seconds(60))});
  EXPECT_EQ(catch_up(), 1U);
  EXPECT_EQ(run_ids(all()), Names{"new"});
}

TEST_F(CatchUpTest, WhatWasForgottenForOthersDoesNotComeBack) {
  retention_.most = 2;
  open_archive();
  const auto at = [](int second) { return kStart + Seconds(10 * second); };
  record({run_ended("a1", 0, "a", at(1)), run_ended("b1", 0, "b", at(2)), run_ended("b2", 0, "b", at(3))});
  write_job("a", {run_ended("a1", 0, "a", at(1))});
  EXPECT_EQ(catch_up(), 0U);
  EXPECT_EQ(run_ids(all()), (Names{"b2", "b1"}));
}

TEST_F(CatchUpTest, ARecordThatCannotBeReadIsPassedOver) {
  write_job("a", {run_ended("a1", 0, "a")});
  std::ofstream(directory_.file(state_file_name(sha256({"b"})))) << "nonsense";
  EXPECT_EQ(catch_up(), 1U);
}

}  // namespace
}  // namespace kron::history
