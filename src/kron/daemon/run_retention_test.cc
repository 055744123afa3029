#include "kron/daemon/run_retention.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <thread>

#include "kron/env/fake/capturing_log.h"
#include "kron/testing/temporary_directory.h"

namespace kron::daemon {
namespace {

class RunRetentionTest : public ::testing::Test {
 protected:
  void make_run(const std::string& path) {
    std::filesystem::create_directories(std::filesystem::path(directory_.path()) / "runs" / path);
  }
  bool has_run(const std::string& run_id) const {
    return std::filesystem::exists(std::filesystem::path(directory_.path()) / "runs" / run_id);
  }
  // Turns at that time until the round that was begun has been told of.
  void turn_until(const std::string& event, Nanoseconds monotonic) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const std::size_t told = log_.lines_of(event).size();
    while (log_.lines_of(event).size() == told && std::chrono::steady_clock::now() < limit) {
      run_retention_.turn(monotonic, [] { return std::set<std::string>(); });
      std::this_thread::yield();
    }
  }

  testing::TemporaryDirectory directory_;
  testing::CapturingLog log_;
  RunRetention run_retention_{directory_.path(), "", {.most = 0}, log_};
};

TEST_F(RunRetentionTest, OneRunThatCannotBeRemovedIsToldOfAndKeepsNoOther) {
  make_run("a/not-ours");
  make_run("b");
  make_run("c");
  turn_until("old_runs_removed", Seconds(0));
  ASSERT_EQ(log_.lines_of("old_runs_stay").size(), 1U);
  EXPECT_EQ(log_.lines_of("old_runs_stay")[0].field("count"), "1");
  EXPECT_NE(log_.lines_of("old_runs_stay")[0].field("reason").find("/runs/a"), std::string::npos);
  EXPECT_EQ(log_.lines_of("old_runs_removed")[0].field("count"), "2");
  EXPECT_TRUE(has_run("a"));
  EXPECT_FALSE(has_run("b"));
}

TEST_F(RunRetentionTest, SweepsAgainAfterAnHour) {
  make_run("a");
  turn_until("old_runs_removed", Seconds(0));
  make_run("b");
  for (int i = 0; i < 100; ++i) run_retention_.turn(Seconds(3599), [] { return std::set<std::string>(); });
  EXPECT_TRUE(has_run("b"));
  turn_until("old_runs_removed", Seconds(3600));
  EXPECT_FALSE(has_run("b"));
}

}  // namespace
}  // namespace kron::daemon
