#include "kron/history/up_file.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/power_cut_file_system.h"
#include "kron/env/fake/sweep.h"
#include "kron/history/archive.h"

namespace kron::history::up_file_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart = instant_of(1'772'409'600);  // 2026-03-02T00:00:00Z
using All = std::vector<UpTime>;

class UpFileTest : public ::testing::Test {
 protected:
  UpFileTest() {
    EXPECT_TRUE(open_or_make_directory(file_system_, "/history", 0700));
    directory_ = file_system_.open_directory("/history").value();
  }

  UpFile file() { return {file_system_, *directory_, clock_, log_}; }

  All on_disk() {
    const auto contents = directory_->read(UpFile::kName, SmallFile::kMostBytes);
    if (!contents) return {};
    return parse_up_times(contents->bytes).value();
  }

  void put(std::string_view text) {
    std::ignore = directory_->remove(UpFile::kName);
    const auto made = directory_->create(UpFile::kName, 0600).value();
    ASSERT_TRUE(write_all(*made, text));
  }

  testing::PowerCutFileSystem file_system_;
  std::unique_ptr<Directory> directory_;
  testing::FakeClock clock_{kStart};
  testing::CapturingLog log_;
};

TEST_F(UpFileTest, ABeginningABeatAndAnEndAreOnDisk) {
  UpFile up = file();
  up.begin();
  EXPECT_EQ(on_disk(), (All{{kStart, kStart}}));
  clock_.advance(59s);
  up.beat();
  EXPECT_EQ(on_disk(), (All{{kStart, kStart}})) << "it is not time yet";
  EXPECT_EQ(up.until_next_beat(), 1s);
  clock_.advance(1s);
  up.beat();
  EXPECT_EQ(on_disk(), (All{{kStart, kStart + 60s}}));
  clock_.advance(5s);
  EXPECT_EQ(up.all(), (All{{kStart, kStart + 65s}})) << "who asks is told of now";
  up.stop(now(clock_));
  EXPECT_EQ(on_disk(), (All{{kStart, kStart + 65s, UpTime::End::stopped}}));
}

TEST_F(UpFileTest, WhoWasToldToEndIsNotUpAnyMoreWhileItsRunsGoOn) {
  UpFile up = file();
  up.begin();
  up.stop(kStart);
  clock_.advance(1h);
  EXPECT_GT(up.until_next_beat(), 0s) << "nobody is to wake up for it again and again";
  up.beat();
  up.stop(now(clock_));
  EXPECT_EQ(up.all(), (All{{kStart, kStart, UpTime::End::stopped}}));
  EXPECT_EQ(on_disk(), up.all());
}

TEST_F(UpFileTest, TheNextKrondKnowsTheOneBefore) {
  file().begin();
  clock_.advance(1h);
  UpFile next = file();
  next.begin();
  EXPECT_EQ(down_at(next.all(), kStart + 30min), (DownTime{kStart, kStart + 1h, UpTime::End::none}));
}

TEST_F(UpFileTest, ASleepAndAClockThatIsSetAreTold) {
  UpFile up = file();
  up.begin();
  clock_.sleep(8h);
  up.beat();
  clock_.advance(60s);
  clock_.jump(2h);
  up.beat();
  EXPECT_EQ(down_at(on_disk(), kStart + 4h)->why, UpTime::End::slept);
  EXPECT_EQ(down_at(on_disk(), kStart + 9h)->why, UpTime::End::clock_set);
  clock_.advance(10min);
  up.beat(8min);
  EXPECT_EQ(on_disk().size(), 3U) << "it was busy, and did not sleep";
}

TEST_F(UpFileTest, AFileThatCannotBeReadIsBegunAnew) {
  for (const std::string& text : {std::string(R"({"version":1,"up":[{"from":"2026-03-01T)"), std::string(),
                                  std::string(64, '\0'), std::string(SmallFile::kMostBytes + 1, ' ')}) {
    put(text);
    const std::size_t told = log_.lines_of("up_times_lost").size();
    UpFile up = file();
    up.begin();
    EXPECT_EQ(on_disk(), (All{{kStart, kStart}}));
    ASSERT_EQ(log_.lines_of("up_times_lost").size(), told + 1);
    EXPECT_EQ(log_.lines().back().field("path"), "/history/up.json");
  }
}

TEST_F(UpFileTest, AFullDiskIsToldOnceAndTheNextBeatThatFindsRoomSaysAll) {
  UpFile up = file();
  up.begin();
  const auto is_full = [this](bool it_is) {
    file_system_.fail_when([it_is](const testing::CallRecord& call) {
      return it_is && call.call == testing::Call::write ? testing::Fault::no_space : testing::Fault::none;
    });
  };
  is_full(true);
  for (int i = 0; i < 3; ++i) {
    clock_.advance(60s);
    up.beat();
  }
  EXPECT_EQ(on_disk(), (All{{kStart, kStart}})) << "what was there is there";
  EXPECT_EQ(log_.lines_of("up_times_failed").size(), 1U);
  EXPECT_EQ(up.all(), (All{{kStart, kStart + 180s}})) << "who asks is told all the same";
  is_full(false);
  clock_.advance(60s);
  up.beat();
  EXPECT_EQ(on_disk(), (All{{kStart, kStart + 240s}}));
  // The last of the disk is left to the records of jobs.
  file_system_.set_space(DiskSpace{kLeftOfTheDisk - 1, kLeftOfTheDisk * 100});
  clock_.advance(60s);
  up.beat();
  EXPECT_EQ(on_disk(), (All{{kStart, kStart + 240s}}));
  EXPECT_EQ(log_.lines_of("up_times_failed").size(), 2U);
  file_system_.set_space(DiskSpace{kLeftOfTheDisk, kLeftOfTheDisk * 100});
  clock_.advance(60s);
  up.beat();
  EXPECT_EQ(on_disk(), (All{{kStart, kStart + 360s}}));
}

// What write() has promised, and the time.
struct World {
  Instant time = kStart;
  All durable = {};
};

void live(World& world, testing::PowerCutFileSystem& file_system) {
  const auto directory = open_or_make_directory(file_system, "/history", 0700);
  if (!directory) return;
  testing::FakeClock clock(world.time);
  testing::CapturingLog log;
  UpFile up(file_system, **directory, clock, log);
  const auto note = [&] {
    if (log.lines().empty()) world.durable = up.all();
    clock.advance(60s);
    world.time = now(clock);
  };
  up.begin();
  note();
  up.beat();
  note();
  up.stop(now(clock));
  note();
}

std::string broken(World& world, testing::PowerCutFileSystem& file_system) {
  if (world.durable.empty()) return "";
  const auto directory = file_system.open_directory("/history");
  if (!directory) return "the directory is gone";
  const auto contents = (*directory)->read(UpFile::kName, SmallFile::kMostBytes);
  const auto all = contents ? parse_up_times(contents->bytes) : fail(contents.error());
  if (!all) return "cannot be read: " + all.error().message;
  for (const UpTime& up : world.durable) {
    const auto holds = [&](const UpTime& kept) { return kept.from == up.from && kept.to >= up.to; };
    if (std::ranges::none_of(*all, holds)) return "lost";
  }
  return "";
}

testing::SweepCounts sweep(testing::Sabotage sabotage = testing::Sabotage::none) {
  const auto again = [](World& world, testing::PowerCutFileSystem& file_system, testing::Crash) {
    live(world, file_system);
  };
  return testing::Sweep<World>(live, again, broken, {.most_survivors = {40, 3}, .sabotage = sabotage})({});
}

TEST(UpFilePowerCut, NothingThatWasDurableIsLost) {
  const testing::SweepCounts counts = sweep();
  EXPECT_EQ(counts.violations, 0U) << counts;
  EXPECT_GT(counts.power_cuts, 50U);
  EXPECT_GT(sweep(testing::Sabotage::no_file_sync).violations, 0U);
}

}  // namespace
}  // namespace kron::history::up_file_test
