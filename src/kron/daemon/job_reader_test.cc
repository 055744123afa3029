#include "kron/daemon/job_reader.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <gtest/gtest.h>
#include <mutex>
#include <optional>

namespace kron::daemon {
namespace {

constexpr std::chrono::seconds kPatience(60);  // only a failing test waits this long

// The loop is the test's own thread; readings are let go one by one.
class JobReaderTest : public ::testing::Test {
 protected:
  JobReader::Hooks hooks() {
    return {.before = [this] { ++begun_; },
            .read =
                [this] {
                  std::unique_lock lock(mutex_);
                  EXPECT_TRUE(changed_.wait_for(lock, kPatience, [this] { return may_read_ > 0; }));
                  --may_read_;
                  EXPECT_NE(std::this_thread::get_id(), loop_);
                  jobs::LoadedJobs read;
                  read.definitions.resize(files_);
                  return read;
                },
            .take =
                [this](const jobs::LoadedJobs& read, const std::vector<JobReader::Answer>& answers) {
                  EXPECT_EQ(std::this_thread::get_id(), loop_);
                  taken_.push_back(read.definitions.size());
                  for (const JobReader::Answer& answer : answers) {
                    if (answer) answer(api::ReloadReport{.jobs = read.definitions.size()});
                  }
                },
            .to_loop =
                [this](std::function<void()> work) {
                  const std::scoped_lock lock(mutex_);
                  work_.push_back(std::move(work));
                  changed_.notify_all();
                }};
  }

  void let_read() {
    const std::scoped_lock lock(mutex_);
    ++may_read_;
    changed_.notify_all();
  }
  // What the loop has to do, once there is something.
  void turn() {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, kPatience, [this] { return !work_.empty(); }));
    const std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
  }
  JobReader::Answer into(std::optional<std::size_t>& place) {
    return [&place](const Result<api::ReloadReport>& report) { place = report->jobs; };
  }

  const std::thread::id loop_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::condition_variable changed_;
  int may_read_ = 0;
  std::size_t files_ = 1;
  std::deque<std::function<void()>> work_;
  int begun_ = 0;
  std::vector<std::size_t> taken_;
  JobReader reader_{hooks()};
};

TEST_F(JobReaderTest, TheLoopDoesNotWaitForTheFiles) {
  std::optional<std::size_t> answer;
  reader_.ask(into(answer));
  EXPECT_TRUE(reader_.is_reading());
  EXPECT_EQ(answer, std::nullopt);
  let_read();
  turn();
  EXPECT_EQ(answer, 1U);
  EXPECT_FALSE(reader_.is_reading());
}

TEST_F(JobReaderTest, WhoAsksDuringAReadingGetsTheNextOneAndAllOfThemShareIt) {
  std::optional<std::size_t> first;
  std::optional<std::size_t> second;
  std::optional<std::size_t> third;
  reader_.ask(into(first));
  reader_.ask(into(second));
  reader_.ask({});
  reader_.ask(into(third));
  EXPECT_EQ(begun_, 1);
  let_read();
  turn();
  EXPECT_EQ(first, 1U);
  EXPECT_EQ(second, std::nullopt) << "that reading may have begun before the change";
  EXPECT_EQ(begun_, 2);
  let_read();
  turn();
  EXPECT_EQ(second, 1U);
  EXPECT_EQ(third, 1U);
  EXPECT_EQ(taken_.size(), 2U);
  EXPECT_FALSE(reader_.is_reading());
}

TEST_F(JobReaderTest, OneThatNobodyWaitsForIsTakenToo) {
  reader_.ask({});
  let_read();
  turn();
  EXPECT_EQ(taken_.size(), 1U);
}

}  // namespace
}  // namespace kron::daemon
