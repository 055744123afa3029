#include "kron/env/durable.h"

#include <charconv>
#include <gtest/gtest.h>
#include <iostream>
#include <map>

#include "kron/env/fake/power_cut_file_system.h"
#include "kron/env/fake/sweep.h"

namespace kron {
namespace {

using testing::Call;
using testing::Crash;
using testing::Disk;
using testing::Fault;
using testing::PowerCutFileSystem;
using testing::Sabotage;
using testing::Sweep;
using testing::SweepCounts;
using testing::SweepOptions;

std::unique_ptr<Directory> open_s(PowerCutFileSystem& fs) { return fs.open_directory("/s").value(); }

std::map<std::string, std::string> files_of(PowerCutFileSystem& fs) {
  std::map<std::string, std::string> files;
  const auto directory = open_s(fs);
  EXPECT_TRUE(directory->list(
      [&](std::string_view name, FileType) { files.emplace(name, directory->read(name, 1 << 20).value().bytes); }));
  return files;
}

class DurableTest : public ::testing::Test {
 protected:
  DurableTest() {
    fs_.plant_directory("/s");
    fs_.plant_file("/s/a", "old");
    directory_ = open_s(fs_);
  }

  std::vector<Call> calls() const {
    std::vector<Call> calls;
    for (const auto& record : fs_.calls()) {
      if (testing::is_change(record.call)) calls.push_back(record.call);
    }
    return calls;
  }

  using Files = std::map<std::string, std::string>;
  PowerCutFileSystem fs_;
  std::unique_ptr<Directory> directory_;
};

TEST_F(DurableTest, ReplaceIsTheProcedureOfTheSpecInItsOrder) {
  ASSERT_TRUE(durable_replace(fs_, *directory_, {.name = "a", .bytes = "new"}));
  EXPECT_EQ(calls(), (std::vector{Call::create, Call::write, Call::sync_file, Call::rename, Call::sync_directory}));
  EXPECT_EQ(fs_.calls()[1].path, "/s/.tmp-a");
  EXPECT_EQ(files_of(fs_), (Files{{"a", "new"}}));
  EXPECT_EQ(directory_->info("a")->mode, 0600U);
}

TEST_F(DurableTest, BatchSharesOneDirectorySync) {
  const Replacement both[] = {{.name = "a", .bytes = "1"}, {.name = "b", .bytes = "2", .mode = 0640}};
  const BatchResult result = durable_batch(fs_, *directory_, both);
  EXPECT_TRUE(result.entries[0] && result.entries[1] && !result.fatal);
  EXPECT_EQ(calls(), (std::vector{Call::create, Call::write, Call::create, Call::write, Call::sync_file,
                                  Call::sync_file, Call::rename, Call::rename, Call::sync_directory}));
  EXPECT_EQ(directory_->info("b")->mode, 0640U);
}

TEST_F(DurableTest, WithSparesWhatWasReplacedIsWrittenAnewOnceItsReplacementIsDurable) {
  SpareFiles spares;
  const auto write = [&](std::string_view bytes) {
    fs_.forget_the_past();
    const Replacement one[] = {{.name = "a", .bytes = bytes}};
    const BatchResult result = durable_batch(fs_, *directory_, one, &spares);
    EXPECT_TRUE(result.entries[0] && !result.fatal);
    return calls();
  };
  const std::vector made{Call::create, Call::write, Call::sync_file, Call::rename, Call::sync_directory};
  const std::vector reused{Call::overwrite, Call::write, Call::sync_file, Call::rename, Call::sync_directory};
  EXPECT_EQ(write("a long first text"), made);
  EXPECT_EQ(write("2"), reused);
  EXPECT_EQ(write("3"), reused);
  EXPECT_EQ(files_of(fs_), (Files{{"a", "3"}, {".tmp-1-a", "2"}}));
  EXPECT_EQ(remove_leftovers(*directory_).value(), 1U);
}

TEST_F(DurableTest, NoMoreSparesAreKeptThanTheirLimit) {
  SpareFiles spares;
  std::vector<std::string> names;
  for (std::size_t i = 0; i <= SpareFiles::kMost; ++i) names.push_back("f" + std::to_string(i));
  std::vector<Replacement> all;
  for (const std::string& name : names) all.push_back({.name = name, .bytes = "x"});
  const std::size_t before = files_of(fs_).size();
  for (int round = 0; round < 3; ++round) {
    const BatchResult result = durable_batch(fs_, *directory_, all, &spares);
    EXPECT_FALSE(result.fatal);
  }
  EXPECT_EQ(files_of(fs_).size(), before + names.size() + SpareFiles::kMost);
}

TEST_F(DurableTest, ASpareThatIsGoneIsMadeAnew) {
  SpareFiles spares;
  const Replacement one[] = {{.name = "a", .bytes = "x"}};
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(durable_batch(fs_, *directory_, one, &spares).entries[0]);
  EXPECT_EQ(remove_leftovers(*directory_).value(), 1U);
  EXPECT_TRUE(durable_batch(fs_, *directory_, one, &spares).entries[0]);
  EXPECT_EQ(files_of(fs_).at("a"), "x");
}

TEST_F(DurableTest, AnEmptyBatchTouchesNothing) {
  const BatchResult result = durable_batch(fs_, *directory_, {});
  EXPECT_TRUE(result.entries.empty() && !result.fatal);
  EXPECT_EQ(calls(), std::vector<Call>{});
}

TEST_F(DurableTest, ShortAndInterruptedWritesAreContinued) {
  int writes = 0;
  fs_.fail_when([&](const testing::CallRecord& record) {
    if (record.call != Call::write) return Fault::none;
    return ++writes % 2 == 1 ? Fault::short_write : Fault::interrupted;
  });
  ASSERT_TRUE(durable_replace(fs_, *directory_, {.name = "a", .bytes = "a longer text"}));
  EXPECT_GT(writes, 5);
  EXPECT_EQ(files_of(fs_), (Files{{"a", "a longer text"}}));
}

TEST_F(DurableTest, RefuseKeepsWhatHasTheNameAndTheOthersGoOn) {
  const Replacement both[] = {{.name = "a", .bytes = "1", .if_taken = IfTaken::refuse},
                              {.name = "b", .bytes = "2", .if_taken = IfTaken::refuse}};
  const BatchResult result = durable_batch(fs_, *directory_, both);
  EXPECT_EQ(result.entries[0].error().code, Code::conflict);
  EXPECT_TRUE(result.entries[1] && !result.fatal);
  EXPECT_EQ(files_of(fs_), (Files{{"a", "old"}, {"b", "2"}}));
}

TEST_F(DurableTest, ATemporaryFileLeftBehindIsTakenOver) {
  fs_.plant_file("/s/.tmp-a", "left");
  ASSERT_TRUE(durable_replace(fs_, *directory_, {.name = "a", .bytes = "new"}));
  EXPECT_EQ(files_of(fs_), (Files{{"a", "new"}}));
}

// Every changing call of a batch of two fails once, in every way: an entry said to be safe is safe, one that failed is
// as before, a failed sync is fatal and nothing else is.
TEST_F(DurableTest, EachCallFailingInEachWayIsReportedAsItIs) {
  const Replacement both[] = {{.name = "a", .bytes = "new a"}, {.name = "b", .bytes = "new b"}};
  for (const Fault fault : {Fault::no_space, Fault::io_error, Fault::read_only, Fault::no_permission}) {
    for (std::size_t n = 0; n < 9; ++n) {
      SCOPED_TRACE("fault " + std::to_string(static_cast<int>(fault)) + " in call " + std::to_string(n));
      PowerCutFileSystem fs(fs_.disk());
      const auto directory = open_s(fs);
      fs.fail_change(n, fault);
      const BatchResult result = durable_batch(fs, *directory, both);
      fs.fail_when(nullptr);

      const Call failed = std::find_if(fs.calls().begin(), fs.calls().end(), [&](const auto& record) {
                            return testing::is_change(record.call) && record.index == n;
                          })->call;
      const bool sync_failed = failed == Call::sync_file || failed == Call::sync_directory;
      EXPECT_EQ(result.fatal.has_value(), sync_failed);
      EXPECT_EQ(result.entries[0].has_value() + result.entries[1].has_value(), sync_failed ? 0 : 1);
      auto files = files_of(fs);
      if (result.entries[0]) {
        EXPECT_EQ(files["a"], "new a");
      }
      if (result.entries[1]) {
        EXPECT_EQ(files["b"], "new b");
      }
      if (!result.fatal && !result.entries[0]) {
        EXPECT_EQ(files["a"], "old");
      }
      if (!result.fatal) {
        EXPECT_EQ(files.contains("b"), result.entries[1].has_value());
      }
      if (!result.fatal) {
        EXPECT_FALSE(files.contains(".tmp-a") || files.contains(".tmp-b"));
      }
      EXPECT_TRUE(remove_leftovers(*directory));
      EXPECT_TRUE(durable_replace(fs, *directory, both[0])) << "a new start can write again";
    }
  }
}

TEST_F(DurableTest, AFailedFileSyncRenamesNothing) {
  fs_.fail_change(2, Fault::io_error);
  const ReplaceResult result = durable_replace(fs_, *directory_, {.name = "a", .bytes = "new"});
  EXPECT_FALSE(result);
  EXPECT_TRUE(result.fatal);
  EXPECT_EQ(files_of(fs_)["a"], "old");
}

TEST_F(DurableTest, LeftoversAreRemovedAndNothingElse) {
  fs_.plant_file("/s/.tmp-a", "x");
  fs_.plant_file("/s/.tmp-b.json", "");
  fs_.plant_file("/s/tmp", "keep");
  fs_.plant_directory("/s/.tmp-dir");
  EXPECT_EQ(remove_leftovers(*directory_).value(), 2U);
  EXPECT_EQ(remove_leftovers(*directory_).value(), 0U);
  EXPECT_TRUE(directory_->info("tmp").has_value() && directory_->info(".tmp-dir").has_value());
}

// The sweep: a program that counts upwards in some files, a batch at a time, and tells the outside each number that is
// safe. Whatever is cut off, and when, no number told may be forgotten and no file torn.
struct Outside {
  std::map<std::string, int> told;
  std::map<std::string, int> attempted;
};

// The number of a file that is as it was written, "<digits>."; else -1.
int number_in(std::string_view contents) {
  int number = -1;
  const char* end = contents.data() + contents.size();
  const auto [stop, error] = std::from_chars(contents.data(), end, number);
  return error == std::errc() && std::string_view(stop, end) == "." ? number : -1;
}

void write_round(Outside& outside, PowerCutFileSystem& fs, int files, int number, SpareFiles* spares) {
  const auto directory = open_s(fs);
  std::vector<std::string> names;
  for (int i = 0; i < files; ++i) names.push_back("f" + std::to_string(i));
  const std::string contents = std::to_string(number) + ".";
  std::vector<Replacement> replacements;
  for (const std::string& name : names) replacements.push_back({.name = name, .bytes = contents});
  for (const std::string& name : names) outside.attempted[name] = number;
  const BatchResult result = durable_batch(fs, *directory, replacements, spares);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (result.entries[i]) outside.told[names[i]] = number;
  }
}

std::string check(const Outside& outside, PowerCutFileSystem& fs) {
  const auto files = files_of(fs);
  for (const auto& [name, contents] : files) {
    if (name.starts_with(kTemporaryPrefix)) return "leftover " + name;
    if (number_in(contents) < 0) return "torn " + name;
    if (number_in(contents) > outside.attempted.at(name)) return "invented " + name;
  }
  for (const auto& [name, number] : outside.told) {
    const auto found = files.find(name);
    if (found == files.end()) return "lost " + name;
    if (number_in(found->second) < number) return name + " went back";
  }
  return {};
}

// With spares there are more rounds: files are written anew from the third on.
SweepCounts sweep_of(int files, SweepOptions options, bool with_spares = false) {
  Disk disk;
  {
    PowerCutFileSystem fs;
    fs.plant_directory("/s");
    disk = fs.disk();
  }
  Sweep<Outside> sweep(
      [&](Outside& outside, PowerCutFileSystem& fs) {
        SpareFiles spares;
        const int end = with_spares ? 105 : 103;
        for (int number = 100; number < end; ++number) {
          write_round(outside, fs, files, number, with_spares ? &spares : nullptr);
        }
      },
      [&](Outside&, PowerCutFileSystem& fs, Crash) {
        const auto directory = open_s(fs);
        EXPECT_TRUE(directory->sync());
        EXPECT_TRUE(remove_leftovers(*directory));
      },
      check, std::move(options));
  return sweep(Outside{}, disk);
}

TEST(DurableSweep, NothingToldIsEverLostAndNothingIsTorn) {
  for (const int files : {1, 2, 3, 20}) {
    const SweepCounts counts = sweep_of(files, {.most_survivors = {files <= 2 ? 2000U : 60U}});
    std::cout << "durable batches of " << files << ": " << counts << '\n';
    EXPECT_EQ(counts.violations, 0U);
    EXPECT_GT(counts.power_cuts, 40U);
    if (files <= 2) {
      EXPECT_EQ(counts.exhaustive_points, counts.crash_points);
    }
  }
}

TEST(DurableSweep, WithSparesNothingToldIsEverLostAndNothingIsTorn) {
  for (const int files : {1, 2, 3, 20}) {
    const SweepCounts counts = sweep_of(files, {.most_survivors = {files <= 2 ? 2000U : 60U}}, true);
    std::cout << "durable batches of " << files << " with spares: " << counts << '\n';
    EXPECT_EQ(counts.violations, 0U) << counts;
    EXPECT_GT(counts.power_cuts, 60U);
  }
}

TEST(DurableSweep, ACrashDuringRecoveryIsRecoveredFromToo) {
  for (const int files : {1, 2}) {
    const SweepCounts counts = sweep_of(files, {.most_survivors = {100, 50}});
    std::cout << "durable batches of " << files << ", two crashes: " << counts << '\n';
    EXPECT_EQ(counts.violations, 0U);
  }
}

TEST(DurableSweep, NoticesEveryStepThatIsLeftOutOrMoved) {
  for (const Sabotage sabotage :
       {Sabotage::no_file_sync, Sabotage::no_directory_sync, Sabotage::file_sync_after_rename}) {
    for (const auto& [files, with_spares] : {std::pair{1, false}, {20, false}, {1, true}, {20, true}}) {
      const SweepCounts counts = sweep_of(files, {.most_survivors = {20}, .sabotage = sabotage}, with_spares);
      std::cout << "sabotage " << static_cast<int>(sabotage) << ", batches of " << files
                << (with_spares ? " with spares: " : ": ") << counts.violations << " violations in "
                << counts.power_cuts << " surviving disks\n";
      EXPECT_GT(counts.violations, 0U);
    }
  }
}

}  // namespace
}  // namespace kron
