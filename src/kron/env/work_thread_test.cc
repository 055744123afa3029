#include "kron/env/work_thread.h"

#include <algorithm>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace kron {
namespace {

TEST(WorkThread, DoesWhatItIsGivenInOrder) {
  std::vector<int> done;
  std::promise<void> end;
  WorkThread thread;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(thread.run([&done, i] { done.push_back(i); }));
  EXPECT_TRUE(thread.run([&end] { end.set_value(); }));
  end.get_future().wait();
  EXPECT_THAT(done, ::testing::ElementsAre(0, 1, 2));
}

TEST(WorkThread, YieldsToTheThreadThatMadeItAndTheNicestToTheOthersToo) {
  const auto niceness_of = [](WorkThread& thread) {
    std::promise<int> nice;
    thread.run([&nice] { nice.set_value(::getpriority(PRIO_PROCESS, 0)); });
    return nice.get_future().get();
  };
  WorkThread thread;
  WorkThread nicest(kMostNiceness);
  EXPECT_GT(niceness_of(thread), ::getpriority(PRIO_PROCESS, 0));
  // There is nothing beyond 19.
  EXPECT_GE(niceness_of(nicest), std::min(19, niceness_of(thread) + 1));
}

TEST(WorkThread, RefusesWhatWouldPileUp) {
  std::promise<void> go;
  std::promise<void> begun;
  WorkThread thread;
  thread.run([&begun, held = go.get_future().share()] {
    begun.set_value();
    held.wait();
  });
  begun.get_future().wait();
  int taken = 0;
  while (thread.run([] {})) ++taken;
  EXPECT_EQ(taken, 1000);
  go.set_value();
}

}  // namespace
}  // namespace kron
