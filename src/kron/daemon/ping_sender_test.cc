#include "kron/daemon/ping_sender.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

#include "kron/env/fake/capturing_log.h"

namespace kron::daemon::ping_sender_test {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kWait = 60s;  // never reached unless a test fails

Ping ping(std::string job, std::string signal = "start") {
  return {.job = std::move(job),
          .url = std::make_shared<const std::string>("https://hc.example/hunter2"),
          .signal = std::move(signal)};
}

// A receiver that several threads talk to, each of them held until it is let go.
class PingSenderTest : public ::testing::Test {
 protected:
  PingSender::Post make_post() {
    return [this](const Ping& one, Nanoseconds most) -> Status {
      std::unique_lock lock(mutex_);
      EXPECT_GT(most, 0s);
      EXPECT_LE(most, PingQueue::kOneTry);
      EXPECT_TRUE(under_way_.insert(one.job).second) << "two of one job at once";
      most_at_once_ = std::max(most_at_once_, under_way_.size());
      changed_.notify_all();
      changed_.wait_for(lock, kWait, [this] { return !is_held_; });
      under_way_.erase(one.job);
      ++tries_;
      changed_.notify_all();
      if (fails_ > 0) {
        --fails_;
        return fail(Code::unreachable, "nobody answers");
      }
      sent_[one.job] += one.signal + " ";
      return {};
    };
  }

  bool wait_until(const std::function<bool()>& is_so) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kWait, is_so);
  }
  void hold(bool held) {
    const std::scoped_lock lock(mutex_);
    is_held_ = held;
    changed_.notify_all();
  }
  void count(PingSender::End end) {
    const std::scoped_lock lock(mutex_);
    ++counts_[std::string(name_of(end))];
    changed_.notify_all();
  }

  RealClock clock_;
  testing::CapturingLog log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_held_ = false;
  int fails_ = 0;
  int tries_ = 0;
  std::size_t most_at_once_ = 0;
  std::set<std::string> under_way_;
  std::map<std::string, std::string> sent_;
  std::map<std::string, int> counts_;
  PingSender sender_{{.clock = clock_,
                      .log = log_,
                      .make_post = [this] { return make_post(); },
                      .count = [this](PingSender::End end) { count(end); }}};
};

TEST_F(PingSenderTest, SendsThoseOfEachJobInTheirOrder) {
  for (const char* signal : {"start", "1", "start", "0"}) {
    for (int job = 0; job < 50; ++job) sender_.send(ping(std::to_string(job), signal));
  }
  ASSERT_TRUE(wait_until([this] { return counts_["sent"] == 200; }));
  sender_.finish(kWait);
  EXPECT_EQ(sent_.size(), 50U);
  for (const auto& [job, signals] : sent_) EXPECT_EQ(signals, "start 1 start 0 ") << job;
  EXPECT_TRUE(log_.lines().empty());
}

TEST_F(PingSenderTest, NobodyWaitsForAReceiverThatHangs) {
  hold(true);
  const auto begun = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < PingQueue::kMost + 100; ++i) sender_.send(ping(std::to_string(i)));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, kWait / 2);
  ASSERT_TRUE(wait_until([this] { return under_way_.size() == PingQueue::kMostOfReceiver; }));
  EXPECT_EQ(sender_.waiting(), PingQueue::kMost);
  EXPECT_EQ(counts_["no_room"], 100);
  hold(false);
  sender_.finish(0s);
  EXPECT_EQ(most_at_once_, PingQueue::kMostOfReceiver);
  EXPECT_EQ(counts_["sent"] + counts_["failed"], static_cast<int>(PingQueue::kMost)) << "each is counted once";
  EXPECT_EQ(sender_.waiting(), 0U);
  const auto lines = log_.lines_of("ping_dropped");
  ASSERT_EQ(lines.size(), 1U) << "one line tells of them";
  EXPECT_EQ(lines[0].field("receiver"), "https://hc.example");
  EXPECT_EQ(lines[0].field("reason"), "10000 pings are waiting already");
}

TEST_F(PingSenderTest, TriesAgainAndTellsWhatItGivesUpWithoutItsUrl) {
  fails_ = 1;
  sender_.send(ping("a"));
  ASSERT_TRUE(wait_until([this] { return counts_["sent"] == 1; })) << "by the second try";
  EXPECT_EQ(tries_, 2);
  fails_ = 3;
  sender_.send(ping("a", "7"));
  ASSERT_TRUE(wait_until([this] { return counts_["failed"] == 1; }));
  EXPECT_EQ(tries_, 5);
  sender_.finish(kWait);
  const auto lines = log_.lines_of("ping_dropped");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].field("identity"), "a");
  EXPECT_EQ(lines[0].field("ping"), "7");
  EXPECT_EQ(lines[0].field("reason"), "nobody answers");
  for (const auto& [key, value] : lines[0].fields) EXPECT_EQ(value.find("hunter2"), std::string::npos) << key;
}

TEST_F(PingSenderTest, AtTheEndWhatCannotBeSentInTimeIsCounted) {
  fails_ = 1000;
  sender_.send(ping("a"));
  ASSERT_TRUE(wait_until([this] { return tries_ >= 1; }));
  sender_.finish(0s);
  EXPECT_EQ(counts_["failed"], 1);
  sender_.send(ping("a"));
  EXPECT_EQ(counts_["no_room"], 1) << "and nothing is taken any more";
}

TEST_F(PingSenderTest, AtTheEndWhatWaitsIsSentIfThereIsTime) {
  hold(true);
  for (const char* signal : {"start", "0"}) sender_.send(ping("a", signal));
  ASSERT_TRUE(wait_until([this] { return under_way_.size() == 1; }));
  hold(false);
  sender_.finish(kWait);
  EXPECT_EQ(sent_["a"], "start 0 ");
}

}  // namespace
}  // namespace kron::daemon::ping_sender_test
