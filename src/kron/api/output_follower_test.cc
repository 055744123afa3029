#include "kron/api/output_follower.h"

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>

#include "kron/http/backlog.h"
#include "kron/testing/temporary_directory.h"

namespace kron::api::output_follower_test {
namespace {

// Longer than anything takes on a busy machine; only a test that fails waits for it.
constexpr Seconds kPatience(60);

// Takes what is sent as it comes. The follower may still be at it when a test has seen enough.
class Reader {
 public:
  Reader() : backlog_(std::make_shared<http::Backlog>(1 << 20, [heard = heard_] { take(*heard); })) {
    heard_->backlog = backlog_;
  }

  std::shared_ptr<http::Stream> stream() { return std::make_shared<http::Stream>(backlog_); }

  // All that came, once it ends so.
  std::string text_ending_with(std::string_view end) {
    return text_when([end](const Heard& heard) { return heard.text.ends_with(end); });
  }
  std::string whole() {
    return text_when([](const Heard& heard) { return heard.is_over; });
  }

 private:
  struct Heard {
    std::mutex mutex;
    std::condition_variable changed;
    std::string text;
    bool is_over = false;
    std::weak_ptr<http::Backlog> backlog;
  };

  static void take(Heard& heard) {
    const auto backlog = heard.backlog.lock();
    if (!backlog) return;
    const auto batch = backlog->take();
    {
      const std::scoped_lock lock(heard.mutex);
      heard.text += batch.bytes;
      heard.is_over = heard.is_over || batch.is_last;
      heard.changed.notify_all();
    }
    backlog->sent();
  }

  template <class Condition>
  std::string text_when(Condition condition) {
    std::unique_lock lock(heard_->mutex);
    EXPECT_TRUE(heard_->changed.wait_for(lock, kPatience, [&] { return condition(*heard_); })) << heard_->text;
    return heard_->text;
  }

  std::shared_ptr<Heard> heard_ = std::make_shared<Heard>();
  std::shared_ptr<http::Backlog> backlog_;
};

class OutputFollowerTest : public ::testing::Test {
 protected:
  OutputFollowerTest() { follower_ = OutputFollower::start(directory_.string()).value(); }
  // As kron-exec does: there is no directory before the first byte.
  void append(std::string_view text) {
    std::filesystem::create_directories(directory_ / "run");
    std::ofstream(directory_ / "run/output", std::ios::app | std::ios::binary) << text;
  }
  void replace(std::string_view text) {
    std::ofstream(directory_ / "run/.output", std::ios::binary) << text;
    std::filesystem::rename(directory_ / "run/.output", directory_ / "run/output");
  }

  testing::TemporaryDirectory place_;
  std::filesystem::path directory_ = place_.path();
  std::unique_ptr<OutputFollower> follower_;
};

TEST_F(OutputFollowerTest, SendsWhatIsThereAndWhatComesAndEndsWithTheRun) {
  Reader reader;
  append("one\n");
  follower_->follow("run", reader.stream(), false);
  EXPECT_EQ(reader.text_ending_with("one\n"), "one\n");
  append("two\n");
  EXPECT_EQ(reader.text_ending_with("two\n"), "one\ntwo\n");
  append("three\n");
  follower_->run_ended("run");
  EXPECT_EQ(reader.whole(), "one\ntwo\nthree\n");
}

TEST_F(OutputFollowerTest, BeginsAtTheByteThatIsAskedFor) {
  Reader reader;
  append("one\n");
  follower_->follow("run", reader.stream(), false, 6);
  append("two\n");
  EXPECT_EQ(reader.text_ending_with("o\n"), "o\n");
  replace("[kron: 4 bytes cut here]\ntwo\nthree\n");
  EXPECT_EQ(reader.text_ending_with("three\n"), "o\nthree\n") << "what was cut moves nothing";
  follower_->run_ended("run");
  EXPECT_EQ(reader.whole(), "o\nthree\n");
}

TEST_F(OutputFollowerTest, WaitsForARunThatHasWrittenNothingYet) {
  Reader reader;
  follower_->follow("run", reader.stream(), false);
  append("late\n");
  EXPECT_EQ(reader.text_ending_with("late\n"), "late\n");
  follower_->run_ended("run");
  EXPECT_EQ(reader.whole(), "late\n");
}

TEST_F(OutputFollowerTest, WaitsForSeveralRunsThatHaveWrittenNothingYet) {
  Reader reader, again, of_another;
  follower_->follow("run", reader.stream(), false);
  follower_->follow("run", again.stream(), false);
  follower_->follow("another", of_another.stream(), false);
  std::filesystem::create_directories(directory_ / "stranger");
  append("one\n");
  EXPECT_EQ(reader.text_ending_with("one\n"), "one\n");
  EXPECT_EQ(again.text_ending_with("one\n"), "one\n");
  append("two\n");
  EXPECT_EQ(again.text_ending_with("two\n"), "one\ntwo\n");
  std::filesystem::create_directories(directory_ / "another");
  std::ofstream(directory_ / "another/output") << "late\n";
  EXPECT_EQ(of_another.text_ending_with("late\n"), "late\n");
  for (const char* run : {"run", "another"}) follower_->run_ended(run);
  EXPECT_EQ(reader.whole(), "one\ntwo\n");
  EXPECT_EQ(of_another.whole(), "late\n");
}

TEST_F(OutputFollowerTest, TellsThoseWhoWaitForTheEndOfARunOnce) {
  std::atomic<int> of_other = 0;
  std::promise<void> told;
  follower_->await_end(follower_->new_ticket(), "run", Seconds(3600), [&] { told.set_value(); });
  follower_->await_end(follower_->new_ticket(), "other", Seconds(3600), [&] { ++of_other; });
  follower_->run_ended("run");
  EXPECT_EQ(told.get_future().wait_for(kPatience), std::future_status::ready);
  follower_->run_ended("run");  // a second call would break the promise
  follower_.reset();
  EXPECT_EQ(of_other, 0);
}

TEST_F(OutputFollowerTest, TellsThoseWhoWaitWhenTheirTimeIsOver) {
  std::promise<void> soon, at_once;
  std::atomic<bool> was_withdrawn = true;
  const auto ticket = follower_->new_ticket();
  follower_->await_end(ticket, "run", std::chrono::milliseconds(20), [&] { was_withdrawn = false; });
  follower_->withdraw(ticket);
  follower_->await_end(follower_->new_ticket(), "run", std::chrono::milliseconds(50), [&] { soon.set_value(); });
  follower_->await_end(follower_->new_ticket(), "run", Nanoseconds(0), [&] { at_once.set_value(); });
  EXPECT_EQ(at_once.get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(soon.get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(was_withdrawn);
}

TEST_F(OutputFollowerTest, EndsAtOnceForARunThatHasEnded) {
  Reader reader, of_nothing;
  append("done\n");
  follower_->follow("run", reader.stream(), true);
  EXPECT_EQ(reader.whole(), "done\n");
  follower_->follow("no-such-run", of_nothing.stream(), true);
  EXPECT_EQ(of_nothing.whole(), "");
}

TEST_F(OutputFollowerTest, GoesOnInAFileThatLostItsOldestPart) {
  Reader reader;
  append("0123456789");
  follower_->follow("run", reader.stream(), false);
  EXPECT_EQ(reader.text_ending_with("89"), "0123456789");
  replace("[kron: 6 bytes cut here]\n6789ab");
  EXPECT_EQ(reader.text_ending_with("ab"), "0123456789ab") << "nothing twice";
  replace("[kron: 20 bytes cut here]\nxyz");
  EXPECT_EQ(reader.text_ending_with("xyz"), "0123456789ab\n[kron: 8 bytes cut here]\nxyz") << "what was lost is told";
  append("\n");
  EXPECT_EQ(reader.text_ending_with("xyz\n"), "0123456789ab\n[kron: 8 bytes cut here]\nxyz\n");
  replace("[kron: 30 bytes cut here]\nend");
  EXPECT_EQ(reader.text_ending_with("end"),
            "0123456789ab\n[kron: 8 bytes cut here]\nxyz\n[kron: 6 bytes cut here]\nend");
  follower_->run_ended("run");
  reader.whole();
}

TEST_F(OutputFollowerTest, SendsMoreThanAReaderTakesAtOnce) {
  Reader reader;
  const std::string much(3'000'000, 'x');
  append(much);
  follower_->follow("run", reader.stream(), true);
  EXPECT_EQ(reader.whole().size(), much.size());
}

}  // namespace
}  // namespace kron::api::output_follower_test
