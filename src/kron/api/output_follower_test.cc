#include "kron/api/output_follower.h"

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>

#include "kron/http/backlog.h"
#include "kron/testing/temporary_directory.h"

namespace kron::api {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

// Takes what is sent as it comes.
class Reader {
 public:
  Reader() : backlog_(std::make_shared<http::Backlog>(1 << 20, [this] { take(); })) {}

  std::shared_ptr<http::Stream> stream() { return std::make_shared<http::Stream>(backlog_); }

  // All that came, once it ends so.
  std::string text_ending_with(std::string_view end) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return text_.ends_with(end); });
    return text_;
  }
  std::string whole() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_over_; });
    return text_;
  }

 private:
  void take() {
    const auto batch = backlog_->take();
    {
      const std::scoped_lock lock(mutex_);
      text_ += batch.bytes;
      is_over_ = is_over_ || batch.is_last;
      changed_.notify_all();
    }
    backlog_->sent();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  bool is_over_ = false;
  std::shared_ptr<http::Backlog> backlog_;
};

class OutputFollowerTest : public ::testing::Test {
 protected:
  OutputFollowerTest() {
    std::filesystem::create_directories(directory_ / "run");
    follower_ = OutputFollower::start(directory_.string()).value();
  }
  void append(std::string_view text) {
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

TEST_F(OutputFollowerTest, WaitsForARunThatHasWrittenNothingYet) {
  Reader reader;
  follower_->follow("run", reader.stream(), false);
  append("late\n");
  EXPECT_EQ(reader.text_ending_with("late\n"), "late\n");
  follower_->run_ended("run");
  EXPECT_EQ(reader.whole(), "late\n");
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
  EXPECT_EQ(reader.text_ending_with("xyz"), "0123456789ab[kron: 20 bytes cut here]\nxyz") << "what was lost is told";
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
}  // namespace kron::api
