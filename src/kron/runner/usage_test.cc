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

TEST(CgroupFile, WhatAllProcessesUsedCountsWhereItIsMore) {
  using std::chrono::microseconds;
  const TemporaryDirectory directory;
  const Descriptor opened(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const RunUsage known{.user = microseconds(200), .system = microseconds(100), .memory = 50, .read = 512, .written = 9};
  const auto with = [&](RunUsage used) {
    exec::add_usage_of(opened.get(), used);
    return used;
  };
  EXPECT_EQ(with(known), known) << "nothing is counted";
  std::ofstream(directory.file("cpu.stat")) << "usage_usec 1234\nuser_usec 1000\nsystem_usec 99\nnr_periods 5\n";
  std::ofstream(directory.file("memory.peak")) << "4096\n";
  std::ofstream(directory.file("io.stat")) << "8:0 rbytes=1000 wbytes=0 rios=7 wios=1 dbytes=5 dios=0\n"
                                           << "252:1 rbytes=24 wbytes=8 rios=1 wios=1 dbytes=0 dios=0\n";
  EXPECT_EQ(
      with(known),
      (RunUsage{.user = microseconds(1000), .system = microseconds(100), .memory = 4096, .read = 1024, .written = 9}));
  EXPECT_EQ(exec::sum_of(opened.get(), "io.stat", " wbytes="), 8U);
  std::ofstream(directory.file("io.stat")) << "8:0 rbytes=9223372036854775807\n8:1 rbytes=1\n";
  EXPECT_EQ(with(known).read, std::uint64_t{INT64_MAX});
  std::ofstream(directory.file("io.stat")) << std::string(9000, 'x') << "\n8:0 rbytes=5\n";
  EXPECT_EQ(exec::sum_of(opened.get(), "io.stat", " rbytes="), 0U) << "beyond what is read of it";
  std::ofstream(directory.file("cpu.stat")) << "user_usec 18446744073709551615\n";
  EXPECT_EQ(with(known).user, microseconds(INT64_MAX));
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
