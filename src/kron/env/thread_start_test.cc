#include "kron/env/thread_start.h"

#include <gtest/gtest.h>
#include <memory>
#include <thread>

namespace kron {
namespace {

TEST(ThreadStart, GivesWhatWasMade) {
  Result<std::unique_ptr<std::jthread>> made =
      with_thread("a test", [] { return std::make_unique<std::jthread>([] {}); });
  ASSERT_TRUE(made);
  EXPECT_TRUE((*made)->joinable());
}

TEST(ThreadStart, NoThreadToBeHadIsAnErrorWithACure) {
  const Result<int> made = with_thread("the history", []() -> int {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  });
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "cannot start a thread for the history: Resource temporarily unavailable (EAGAIN); raise the limit of "
            "processes and threads (ulimit -u, TasksMax=, or the pids limit of the container)");
  EXPECT_EQ(exit_status(made.error().code), 2);
}

}  // namespace
}  // namespace kron
