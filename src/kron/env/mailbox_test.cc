#include "kron/env/mailbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <thread>
#include <vector>

namespace kron {
namespace {

using ::testing::ElementsAre;

bool is_readable(const Mailbox& mailbox) {
  pollfd poll{.fd = mailbox.descriptor(), .events = POLLIN, .revents = 0};
  return ::poll(&poll, 1, 0) == 1;
}

TEST(Mailbox, HasWorkDoneInTheOrderItCame) {
  Mailbox mailbox;
  std::vector<int> done;
  for (int i = 0; i < 3; ++i) mailbox.post([&done, i] { done.push_back(i); });
  EXPECT_TRUE(is_readable(mailbox));
  mailbox.work_off(Seconds(10));
  EXPECT_THAT(done, ElementsAre(0, 1, 2));
  EXPECT_FALSE(is_readable(mailbox));
}

TEST(Mailbox, StopsWhenTheBudgetIsSpentAndKeepsTheRest) {
  Mailbox mailbox;
  std::vector<int> done;
  for (int i = 0; i < 3; ++i) mailbox.post([&done, i] { done.push_back(i); });
  mailbox.work_off(Nanoseconds(0));
  EXPECT_THAT(done, ElementsAre(0));
  EXPECT_TRUE(is_readable(mailbox));
  mailbox.post([&done] { done.push_back(3); });
  mailbox.work_off(Seconds(10));
  EXPECT_THAT(done, ElementsAre(0, 1, 2, 3));
}

TEST(Mailbox, LeavesWhatTheWorkPostsForTheNextTime) {
  Mailbox mailbox;
  int done = 0;
  std::function<void()> again = [&] {
    ++done;
    mailbox.post(again);
  };
  mailbox.post(again);
  mailbox.work_off(Seconds(10));
  EXPECT_EQ(done, 1);
  EXPECT_TRUE(is_readable(mailbox));
}

TEST(Mailbox, TakesWorkFromManyThreads) {
  Mailbox mailbox;
  int done = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 100; ++k) mailbox.post([&done] { ++done; });
      });
    }
  }
  while (is_readable(mailbox)) mailbox.work_off(Seconds(10));
  EXPECT_EQ(done, 400);
}

}  // namespace
}  // namespace kron
