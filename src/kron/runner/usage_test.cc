#include <fstream>

#include "kron/runner/exec/run_cgroup.h"
#include "kron/runner/fake/runner_fixture.h"

namespace kron::runner {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kMebibyte = 1 << 20;

// What a run used, as its record tells.
class UsageTest : public RunnerFixture {
 protected:
  // Some processor time, of the shell itself.
  static constexpr char kBusy[] = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; ";
  static constexpr milliseconds kLittle{5};
};

TEST_F(UsageTest, TimeAndMemoryAreTold) {
  const RunExit exit = run(shell("r1", kBusy));
  ASSERT_TRUE(exit.used);
  EXPECT_GT(exit.used->user + exit.used->system, kLittle);
  EXPECT_LT(exit.used->user + exit.used->system, std::chrono::minutes(1));
  EXPECT_GT(exit.used->memory, 100U << 10);
  EXPECT_LT(exit.used->memory, 1024 * kMebibyte);
}

TEST_F(UsageTest, MemoryIsThatOfTheLargestProcess) {
  const RunExit small = run(shell("r1", "true"));
  const RunExit large = run(shell("r2", "head -c 67108864 /dev/zero | tail -c 60000000 > /dev/null; true"));
  ASSERT_TRUE(small.used && large.used);
  EXPECT_GT(large.used->memory, small.used->memory + 40 * kMebibyte);
}

TEST_F(UsageTest, WhatTheCommandWaitedForCountsAndWhatItLeftToUsToo) {
  const RunExit waited = run(shell("r1", std::string("sh -c '") + kBusy + "'; true"));
  ASSERT_TRUE(waited.used);
  EXPECT_GT(waited.used->user + waited.used->system, kLittle);
  // Its parent ends first, so it is ours; the command ends after it.
  const std::string told = make_fifo("told");
  const RunExit orphan = run(
      shell("r2", "(sh -c '" + std::string(kBusy) + "echo x > " + told + "' &); read line < " + told + "; sleep 1"));
  ASSERT_TRUE(orphan.used);
  EXPECT_GT(orphan.used->user + orphan.used->system, kLittle);
}

TEST_F(UsageTest, AllAttemptsCount) {
  RunSpec spec = shell("r1", kBusy + std::string("exit 1"));
  const RunExit once = run(spec);
  spec.run_id = "r2";
  spec.process.retry = 9;
  spec.process.backoff = 0;
  const RunExit often = run(spec);
  ASSERT_TRUE(once.used && often.used);
  EXPECT_EQ(often.attempts, 10U);
  EXPECT_GT(often.used->user, 3 * once.used->user);
}

TEST_F(UsageTest, WhatWasNeverExecutedUsedNothing) {
  RunSpec spec = shell("r1", "true");
  spec.user = "no-such-user";
  EXPECT_EQ(run(spec).used, std::nullopt);
}

TEST(CgroupFile, ANumberIsReadOrThereIsNone) {
  const TemporaryDirectory directory;
  const Descriptor opened(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto number_of = [&](const std::string& text) {
    { std::ofstream(directory.file("memory.peak")) << text; }
    return exec::number_in(opened.get(), "memory.peak");
  };
  EXPECT_EQ(exec::number_in(opened.get(), "memory.peak"), 0U);
  EXPECT_EQ(number_of("123456\n"), 123456U);
  EXPECT_EQ(number_of("18446744073709551615\n"), 18446744073709551615U);
  EXPECT_EQ(number_of("18446744073709551616\n"), 0U);
  EXPECT_EQ(number_of("max\n"), 0U);
  EXPECT_EQ(number_of(""), 0U);
}

}  // namespace
}  // namespace kron::runner
