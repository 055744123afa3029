#include "kron/history/history.h"

#include <future>
#include <gtest/gtest.h>

#include "kron/history/fake/history_rig.h"

namespace kron::history {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class HistoryTest : public HistoryRig {
 protected:
  void open() {
    history_.reset();
    Result<std::unique_ptr<History>> opened = History::open(directory_.path(), retention_, clock_, log_);
    ASSERT_TRUE(opened) << opened.error().message;
    history_ = *std::move(opened);
  }

  Result<std::vector<Entry>> find(Query query = {}) {
    std::promise<Result<std::vector<Entry>>> answer;
    history_->find(std::move(query), [&](Result<std::vector<Entry>> found) { answer.set_value(std::move(found)); });
    return answer.get_future().get();
  }
  std::optional<Entry> get(const std::string& run_id) {
    std::promise<std::optional<Entry>> answer;
    history_->get(run_id, [&](Result<std::optional<Entry>> found) { answer.set_value(found.value_or(std::nullopt)); });
    return answer.get_future().get();
  }

  std::map<std::string, Entry> last_of(const std::vector<std::string>& jobs) {
    std::promise<std::map<std::string, Entry>> answer;
    history_->last_of(jobs, [&](Result<std::map<std::string, Entry>> last) { answer.set_value(last.value()); });
    return answer.get_future().get();
  }

  std::unique_ptr<History> history_;
};

TEST_F(HistoryTest, TheLastOfAJobThatIsForgottenComesFromItsRecord) {
  retention_.age = std::chrono::days(30);
  clock_.advance(std::chrono::days(59));
  StateRecord yearly;
  yearly.identity = "yearly";
  yearly.history.push_back({.period = kStart,
                            .outcome = Outcome::executed,
                            .chosen = kStart,
                            .completed_at = kStart + Seconds(5),
                            .exit_code = 3,
                            .run_id = "r1"});
  yearly.history.push_back({.completed_at = kStart, .passed_over = PassedOver{2, kStart, kStart}});
  write_state(yearly);
  StateRecord brief;
  brief.identity = "brief";  // keeps no entries of its past
  brief.periods.last_handled = kStart;
  brief.last_outcome = Outcome::missed;
  write_state(brief);
  open();
  history_->flush();
  EXPECT_TRUE(find().value().empty());
  const auto last = last_of({"yearly", "brief", "never"});
  ASSERT_EQ(last.size(), 2U);
  EXPECT_EQ(last.at("yearly").run_id, "r1");
  EXPECT_EQ(last.at("yearly").exit_code, 3);
  EXPECT_EQ(last.at("yearly").number, 0);
  EXPECT_EQ(last.at("brief").outcome, Outcome::missed);
}

TEST_F(HistoryTest, KnowsWhenKrondWasUp) {
  const auto up_times = [this] {
    std::promise<std::vector<UpTime>> answer;
    history_->up_times([&](std::vector<UpTime> up) { answer.set_value(std::move(up)); });
    return answer.get_future().get();
  };
  open();
  EXPECT_EQ(up_times(), (std::vector<UpTime>{{kStart, kStart}}));
  clock_.advance(std::chrono::seconds(30));
  history_->end_up_time();
  clock_.advance(std::chrono::minutes(5));  // its runs go on
  const UpTime first{kStart, kStart + Seconds(30), UpTime::End::stopped};
  EXPECT_EQ(up_times(), std::vector<UpTime>{first});
  history_.reset();
  clock_.advance(std::chrono::hours(1));
  open();
  const Instant again = now(clock_);
  EXPECT_EQ(up_times(), (std::vector<UpTime>{first, {again, again}}));
  history_.reset();
  clock_.advance(std::chrono::hours(1));
  open();
  EXPECT_EQ(up_times()[1].end, UpTime::End::stopped) << "the history has ended, and krond with it";
}

TEST_F(HistoryTest, WhatAnEarlierKrondLeftHalfWrittenIsRemoved) {
  fs::create_directories(path());
  std::ofstream(path(".tmp-up.json")) << "{";
  open();
  history_->flush();
  EXPECT_FALSE(fs::exists(path(".tmp-up.json")));
  EXPECT_TRUE(fs::exists(path("up.json")));
}

TEST_F(HistoryTest, CallsBackWhenWhatWasAddedIsOnDisk) {
  open();
  history_->add(run_started("r1"));
  std::promise<std::size_t> written;
  history_->when_written([&] {
    std::size_t size = 0;
    for (const auto& file : fs::directory_iterator(path())) {
      if (file.path().extension() == ".jsonl") size += file.file_size();
    }
    written.set_value(size);
  });
  EXPECT_GT(written.get_future().get(), 0U);
}

TEST_F(HistoryTest, WhatWasAddedIsFound) {
  open();
  history_->add(run_started("r1"));
  history_->add(missed(kStart));
  history_->add(run_ended("r1", 2));
  EXPECT_EQ(run_ids(find().value()), (Names{"", "r1"}));
  EXPECT_EQ(get("r1")->exit_code, 2);
  EXPECT_EQ(get("r2"), std::nullopt);
  std::promise<std::map<std::string, Entry>> last;
  history_->last_of({"backup", "none"}, [&](auto found) { last.set_value(found.value()); });
  EXPECT_EQ(last.get_future().get().at("backup").outcome, Outcome::missed);
}

TEST_F(HistoryTest, TheNextProcessKnowsWhatThisOneWasTold) {
  open();
  for (int i = 0; i < 10'000; ++i) history_->add(missed(kStart + Seconds(i)));
  open();
  EXPECT_EQ(find({.limit = 20'000}).value().size(), 10'000U);
}

TEST_F(HistoryTest, ManyThreadsMayAddAndAsk) {
  open();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([this, t] {
        for (int i = 0; i < 100; ++i) {
          history_->add(run_ended(std::to_string(t) + "-" + std::to_string(i)));
          history_->find({.limit = 1}, [](const auto& found) { EXPECT_TRUE(found); });
        }
      });
    }
  }
  EXPECT_EQ(find({.limit = 1000}).value().size(), 400U);
}

TEST_F(HistoryTest, ItCatchesUpWithTheLedgerByItself) {
  StateRecord record;
  record.identity = "a";
  record.history.push_back({.period = kStart, .outcome = Outcome::missed, .completed_at = kStart});
  write_state(record);
  open();
  history_->add({.job = "a", .outcome = Outcome::missed, .period = kStart});
  history_->flush();
  EXPECT_EQ(find().value().size(), 1U);
  history_.reset();
  EXPECT_FALSE(fs::exists(path("catching-up")));
}

TEST_F(HistoryTest, WhatADiskRefusesWaitsAndIsWrittenLater) {
  open();
  history_->add(run_ended("r0"));
  history_->flush();
  clock_.advance(std::chrono::days(1));
  fs::create_directory(path("2026-03-03.jsonl"));
  for (int i = 1; i <= 3; ++i) history_->add(run_ended("r" + std::to_string(i)));
  history_->flush();
  history_->flush();
  EXPECT_EQ(run_ids(find().value()), Names{"r0"});
  EXPECT_EQ(log_.lines_of("history_failed").size(), 1U);
  fs::remove(path("2026-03-03.jsonl"));
  history_->flush();
  EXPECT_EQ(run_ids(find().value()), (Names{"r3", "r2", "r1", "r0"}));
  EXPECT_EQ(log_.lines_of("history_resumed").size(), 1U);
}

TEST_F(HistoryTest, OfWhatWaitsTheOldestGoesWhenItIsTooMuch) {
  retention_.most = 3;
  open();
  history_->flush();
  fs::create_directory(path("2026-03-02.jsonl"));
  for (int i = 0; i < 10; ++i) history_->add(run_ended("r" + std::to_string(i)));
  history_->flush();
  fs::remove(path("2026-03-02.jsonl"));
  history_->flush();
  EXPECT_EQ(run_ids(find().value()), (Names{"r9", "r8", "r7"}));
  int dropped = 0;  // told in one line, or in several when the thread looked in between
  for (const auto& line : log_.lines_of("history_dropped")) dropped += std::stoi(line.field("count"));
  EXPECT_EQ(dropped, 7);
}

TEST_F(HistoryTest, AnIndexThatIsDamagedOnTheWayIsMadeAnew) {
  open();
  history_->add(run_ended("r1"));
  history_->flush();
  history_.reset();
  std::ofstream(path("index.sqlite")) << "no database";
  open();
  EXPECT_EQ(run_ids(find().value()), Names{"r1"});
}

TEST_F(HistoryTest, EndingWhileTheDiskRefusesSaysWhatIsLost) {
  open();
  history_->flush();
  fs::create_directory(path("2026-03-02.jsonl"));
  history_->add(run_ended("r1"));
  history_.reset();
  EXPECT_EQ(log_.lines_of("history_dropped").at(0).field("count"), "1");
}

TEST_F(HistoryTest, AStateDirectoryThatIsNoneIsAnError) {
  std::ofstream(directory_.file("file")) << "x";
  EXPECT_FALSE(History::open(directory_.file("file"), retention_, clock_, log_));
}

}  // namespace
}  // namespace kron::history
