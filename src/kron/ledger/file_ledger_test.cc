#include "kron/ledger/file_ledger.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kron/base/rfc3339.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/power_cut_file_system.h"
#include "kron/env/real_file_system.h"
#include "kron/state/names.h"
#include "kron/testing/golden.h"

namespace kron {
namespace {

namespace fs = std::filesystem;
using testing::Call;
using testing::CallRecord;
using testing::Fault;

Instant utc(std::string_view text) { return parse_rfc3339(text).value(); }

const Instant kNow = utc("2026-03-02T01:02:03Z");
constexpr const char* kBackup = "prod/db-backup";
// printf prod/db-backup | sha256sum
constexpr const char* kBackupFile = "62c9792808df5d7f7baea3a7cf35e89ca6c4e4bc74eeacff734682c66f8eed9c.json";

const std::string kEmptyRecord = [] {
  StateRecord record;
  record.identity = kBackup;
  return state::print(record);
}();

LedgerStep start_of_backup() {
  LedgerStep step;
  step.identity = kBackup;
  step.now.periods.last_handled = utc("2026-03-02T00:00:00Z");
  step.now.active.push_back({.period = utc("2026-03-02T00:00:00Z"),
                             .chosen = kNow,
                             .started_at = kNow,
                             .pid = 4711,
                             .process_start = 98765,
                             .boot_id = "b00t",
                             .run_id = "r1",
                             .trigger = Trigger::schedule});
  step.last_outcome = Outcome::executed;
  step.last_chosen = kNow;
  return step;
}

LedgerStep end_of_backup(std::uint32_t history_cap = 20) {
  LedgerStep step = start_of_backup();
  step.now.active.clear();
  step.history.push_back({.period = utc("2026-03-02T00:00:00Z"),
                          .outcome = Outcome::executed,
                          .chosen = kNow,
                          .completed_at = kNow + Seconds(30),
                          .exit_code = 3,
                          .run_id = "r1"});
  step.history_cap = history_cap;
  return step;
}

const std::vector<std::string> kOnlyBackup{kBackup};

// On the machine's own file system.
class StateDirectory : public ::testing::Test {
 protected:
  StateDirectory() {
    std::string pattern = (fs::temp_directory_path() / "kron-ledger-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    state_ = root_ / "lib" / "krond";
  }
  ~StateDirectory() override { fs::remove_all(root_); }

  Result<std::unique_ptr<FileLedger>> open() { return FileLedger::open(file_system_, state_.string(), log_); }
  std::string text_of(const std::string& name) const { return testing::read_file((state_ / name).string()); }
  static unsigned mode_of(const fs::path& path) {
    return static_cast<unsigned>(fs::status(path).permissions() & fs::perms::mask);
  }
  void plant(const std::string& name, const std::string& text) const {
    fs::create_directories(state_);
    fs::permissions(state_, fs::perms::owner_all);
    std::ofstream(state_ / name, std::ios::binary) << text;
    fs::permissions(state_ / name, fs::perms::owner_read | fs::perms::owner_write);
  }

  RealFileSystem file_system_;
  testing::CapturingLog log_;
  fs::path root_;
  fs::path state_;
};

TEST_F(StateDirectory, IsOnTheDiskAsTheSeedDescribesIt) {
  const auto ledger = open().value();
  ASSERT_TRUE(ledger->load(kOnlyBackup, kNow));
  ASSERT_TRUE(ledger->write(std::vector{start_of_backup()})[0].is_done());
  EXPECT_EQ(mode_of(state_), 0700U);
  EXPECT_EQ(mode_of(state_ / kBackupFile), 0600U);
  EXPECT_EQ(mode_of(state_ / "first-seen.json"), 0600U);
  EXPECT_EQ(mode_of(state_ / "lock"), 0600U);
  EXPECT_EQ(text_of("lock"), std::to_string(::getpid()));
  EXPECT_EQ(text_of("first-seen.json"), R"({"Version":"1","FirstSeen":[{"At":"2026-03-02T01:02:03Z",)"
                                        R"("Identities":["prod/db-backup"]}]})"
                                        "\n");
  const std::string running = text_of(kBackupFile);
  EXPECT_NE(running.find(R"("LastHandledPeriodID":"2026-03-02T00:00:00Z","LastOutcome":"executed",)"
                         R"("LastChosenTime":"2026-03-02T01:02:03Z","LastNominalTime":"2026-03-02T00:00:00Z",)"
                         R"("ActiveExecution":{"PeriodID":"2026-03-02T00:00:00Z","PID":4711,)"),
            std::string::npos)
      << running;
  ASSERT_TRUE(ledger->write(std::vector{end_of_backup()})[0].is_done());
  EXPECT_EQ(text_of(kBackupFile),
            R"({"Version":"1","Identity":"prod/db-backup","LastHandledPeriodID":"2026-03-02T00:00:00Z",)"
            R"("LastOutcome":"executed","LastChosenTime":"2026-03-02T01:02:03Z",)"
            R"("LastNominalTime":"2026-03-02T00:00:00Z",)"
            R"("History":[{"PeriodID":"2026-03-02T00:00:00Z","Outcome":"executed",)"
            R"("NominalTime":"2026-03-02T00:00:00Z","ChosenTime":"2026-03-02T01:02:03Z",)"
            R"("CompletedAt":"2026-03-02T01:02:33Z","ExitCode":3,"RunID":"r1"}]})"
            "\n");
}

TEST_F(StateDirectory, RefusesASecondDaemonAndNamesTheFirst) {
  int ready[2];
  int over[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(over), 0);
  const pid_t first = ::fork();
  if (first == 0) {
    char byte = 0;
    ::close(over[1]);
    const auto ledger = open();
    const bool told = ::write(ready[1], "x", 1) == 1;
    const bool waited = ::read(over[0], &byte, 1) == 0;
    ::_exit(ledger && told && waited ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const auto second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_NE(second.error().message.find("process " + std::to_string(first) + " has it"), std::string::npos)
      << second.error().message;
  ::close(over[1]);
  int status = 1;
  ASSERT_EQ(::waitpid(first, &status, 0), first);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(open()) << "the death of the first frees it";
  for (const int fd : {ready[0], ready[1], over[0]}) ::close(fd);
}

TEST_F(StateDirectory, SetsAsideWhatIsNoRecordAndBeginsAnew) {
  const std::pair<const char*, std::string> cases[] = {
      {"truncated", kEmptyRecord.substr(0, kEmptyRecord.size() / 2)},
      {"empty", ""},
      {"binary", std::string("\x00\xff\x01\x80{", 5)},
      {"not an object", "[1]"},
      {"no version", R"({"Identity":"prod/db-backup"})"},
      {"another's identity", R"({"Version":"1","Identity":"prod/other"})"},
      {"trailing text", kEmptyRecord + "x"},
  };
  for (const auto& [name, text] : cases) {
    SCOPED_TRACE(name);
    fs::remove_all(state_);
    plant(kBackupFile, text);
    const Instant changed = kNow + Seconds(900);  // the clock was wrong when it was written
    const timespec times[2] = {{epoch_seconds(changed), 0}, {epoch_seconds(changed), 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (state_ / kBackupFile).c_str(), times, 0), 0);
    const auto ledger = open().value();
    const auto known = ledger->load(kOnlyBackup, kNow);
    ASSERT_TRUE(known) << known.error().message;
    EXPECT_EQ((*known)[0].periods.first_seen, changed + Seconds(1)) << "only what is due later than both";
    EXPECT_TRUE((*known)[0].periods.first_seen_is_floor);
    EXPECT_EQ(text_of(std::string(kBackupFile) + ".corrupt.2026-03-02T01:02:03Z"), text);
    EXPECT_TRUE(state::parse(text_of(kBackupFile)));
    EXPECT_EQ(log_.lines().back().event, "state_quarantined");
    EXPECT_NE(log_.lines().back().field("path").find(".corrupt."), std::string::npos);
    EXPECT_FALSE(log_.lines().back().field("reason").empty());
  }
}

TEST_F(StateDirectory, RefusesWhatItMustNotTouch) {
  const fs::path file = state_ / kBackupFile;
  struct Case {
    const char* name;
    std::function<void()> prepare;
    const char* message;
  };
  const Case cases[] = {
      {"a newer version", [&] { plant(kBackupFile, R"({"Version":"2","Identity":"prod/db-backup"})"); },
       "state version '2' is not known"},
      {"a newer first-seen.json", [&] { plant("first-seen.json", R"({"Version":"7"})"); },
       "first-seen.json: state version '7'"},
      {"a symbolic link",
       [&] {
         plant("victim", kEmptyRecord);
         fs::create_symlink(state_ / "victim", file);
       },
       kBackupFile},
      {"a directory", [&] { plant("x", ""), fs::create_directory(file); }, kBackupFile},
      {"a file that others may change",
       [&] {
         plant(kBackupFile, kEmptyRecord);
         fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
       },
       "can be changed by others"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    fs::remove_all(state_);
    c.prepare();
    const auto known = open().value()->load(kOnlyBackup, kNow);
    ASSERT_FALSE(known);
    EXPECT_EQ(known.error().code, Code::refused) << known.error().message;
    EXPECT_NE(known.error().message.find(c.message), std::string::npos) << known.error().message;
    EXPECT_FALSE(fs::exists(std::string(file) + ".corrupt.2026-03-02T01:02:03Z"));
  }
}

TEST_F(StateDirectory, RefusesADirectoryThatOthersMayChange) {
  plant("x", "");
  fs::permissions(state_, fs::perms::owner_all | fs::perms::group_write);
  EXPECT_EQ(open().error().code, Code::refused);
  EXPECT_NE(open().error().message.find("0700"), std::string::npos);
}

TEST_F(StateDirectory, AFileWhereTheDirectoryShouldBeIsAClearError) {
  fs::create_directories(state_.parent_path());
  std::ofstream(state_) << "x";
  ASSERT_FALSE(open());
  EXPECT_NE(open().error().message.find(state_.string()), std::string::npos);
}

TEST_F(StateDirectory, RemovesWhatAnEarlierWriteLeft) {
  plant(".tmp-" + std::string(kBackupFile), "half a rec");
  ASSERT_TRUE(open());
  EXPECT_FALSE(fs::exists(state_ / (".tmp-" + std::string(kBackupFile))));
  EXPECT_EQ(log_.lines_of("leftovers_removed").at(0).field("count"), "1");
}

// On the file system that fails when told to.
class FailingDisk : public ::testing::Test {
 protected:
  static constexpr std::string_view kState = "/state";

  FailingDisk() { ledger_ = FileLedger::open(file_system_, kState, log_).value(); }

  void reopen() {
    ledger_.reset();
    ledger_ = FileLedger::open(file_system_, kState, log_).value();
  }
  std::size_t calls_of(Call call) const {
    return static_cast<std::size_t>(std::ranges::count(file_system_.calls(), call, &CallRecord::call));
  }
  void fail(Call call, Fault fault) {
    file_system_.fail_when([=](const CallRecord& record) { return record.call == call ? fault : Fault::none; });
  }
  std::string path_of(std::string_view name) const { return entry_path(kState, name); }

  testing::PowerCutFileSystem file_system_;
  testing::CapturingLog log_;
  std::unique_ptr<FileLedger> ledger_;
};

TEST_F(FailingDisk, AStepThatCannotBeWrittenHasNotHappenedAndTheNextOneMay) {
  ASSERT_TRUE(ledger_->write(std::vector{start_of_backup()})[0].is_done());
  const StateRecord before = ledger_->read(kBackup).value();
  for (const auto& [call, fault] : {std::pair{Call::write, Fault::no_space},
                                    {Call::create, Fault::read_only},
                                    {Call::create, Fault::no_permission},
                                    {Call::rename, Fault::io_error},
                                    {Call::read, Fault::io_error}}) {
    fail(call, fault);
    const Written written = ledger_->write(std::vector{end_of_backup()})[0];
    ASSERT_EQ(written.how, Written::How::refused);
    EXPECT_NE(written.why.message.find(kState), std::string::npos) << written.why.message;
    EXPECT_FALSE(ledger_->broken());
    file_system_.fail_when(nullptr);
    EXPECT_EQ(ledger_->read(kBackup).value(), before);
  }
  EXPECT_TRUE(ledger_->write(std::vector{end_of_backup()})[0].is_done());
}

TEST_F(FailingDisk, AFullDiskFailsOnlyTheStepsItHits) {
  std::vector<LedgerStep> steps(3, start_of_backup());
  steps[0].identity = "a";
  steps[2].identity = "c";
  file_system_.fail_when([&](const CallRecord& record) {
    return record.call == Call::write && record.path.ends_with(kBackupFile) ? Fault::no_space : Fault::none;
  });
  const std::vector<Written> written = ledger_->write(steps);
  EXPECT_TRUE(written[0].is_done());
  EXPECT_FALSE(written[1].is_done());
  EXPECT_TRUE(written[2].is_done());
}

TEST_F(FailingDisk, ASyncThatFailsIsFinal) {
  for (const Call call : {Call::sync_file, Call::sync_directory}) {
    reopen();
    fail(call, Fault::io_error);
    EXPECT_FALSE(ledger_->write(std::vector{start_of_backup()})[0].is_done());
    ASSERT_TRUE(ledger_->broken());
    file_system_.fail_when(nullptr);
    EXPECT_FALSE(ledger_->write(std::vector{start_of_backup()})[0].is_done()) << "nobody knows what is on the disk";
    EXPECT_FALSE(ledger_->load(kOnlyBackup, kNow));
  }
  reopen();
  EXPECT_TRUE(ledger_->write(std::vector{start_of_backup()})[0].is_done())
      << "the next start goes by what the disk holds";
}

TEST_F(FailingDisk, FilesOfOthersAreRefused) {
  for (const char* name : {kBackupFile, "first-seen.json"}) {
    testing::PowerCutFileSystem file_system;
    file_system.plant_directory(kState);
    file_system.plant(path_of(name), kEmptyRecord, {FileType::regular, file_system.user() + 1, 0600, 0, kNow});
    const auto ledger = FileLedger::open(file_system, kState, log_).value();
    const auto known = ledger->load(kOnlyBackup, kNow);
    ASSERT_FALSE(known);
    EXPECT_EQ(known.error().code, Code::refused);
    EXPECT_NE(known.error().message.find(name), std::string::npos);
  }
  testing::PowerCutFileSystem file_system;
  file_system.plant(kState, {}, {FileType::directory, file_system.user() + 1, 0700, 0, kNow});
  EXPECT_EQ(FileLedger::open(file_system, kState, log_).error().code, Code::refused);
}

TEST_F(FailingDisk, ADirectoryThatCannotBeWrittenIsAClearErrorAtStart) {
  ledger_.reset();
  fail(Call::lock, Fault::read_only);
  const auto ledger = FileLedger::open(file_system_, kState, log_);
  ASSERT_FALSE(ledger);
  EXPECT_NE(ledger.error().message.find(kState), std::string::npos) << ledger.error().message;
}

TEST_F(FailingDisk, FirstSightIsOneDurableWriteForAllJobsOfALoad) {
  const std::vector<std::string> many{"a", "b", "c"};
  const std::size_t syncs = calls_of(Call::sync_directory);
  ASSERT_TRUE(ledger_->load(many, kNow));
  EXPECT_EQ(calls_of(Call::sync_directory), syncs + 1);
  EXPECT_EQ(calls_of(Call::create), 1U);
  const auto again = ledger_->load(many, kNow + Seconds(3600)).value();
  EXPECT_EQ(calls_of(Call::create), 1U) << "known already";
  EXPECT_EQ(again[1].periods.first_seen, kNow);
  ASSERT_TRUE(ledger_->load(std::vector<std::string>{"a", "d"}, kNow + Seconds(3600)));
  reopen();
  EXPECT_EQ(ledger_->load(many, kNow + Seconds(7200)).value()[2].periods.first_seen, kNow);
  EXPECT_EQ(ledger_->load(std::vector<std::string>{"d"}, kNow).value()[0].periods.first_seen, kNow + Seconds(3600));
}

TEST_F(FailingDisk, AnUnreadableFirstSeenFileIsSetAsideAndItsJobsAreSeenFromNowOn) {
  ASSERT_TRUE(ledger_->load(kOnlyBackup, kNow));
  ledger_.reset();
  testing::PowerCutFileSystem damaged(file_system_.disk());
  const auto directory = damaged.open_directory(kState).value();
  ASSERT_TRUE(directory->remove("first-seen.json"));
  damaged.plant_file(path_of("first-seen.json"), R"({"Version":"1","FirstSeen":[{"At":"2026-)");
  const auto ledger = FileLedger::open(damaged, kState, log_).value();
  EXPECT_EQ(ledger->load(kOnlyBackup, kNow + Seconds(60)).value()[0].periods.first_seen, kNow + Seconds(60));
  EXPECT_TRUE(directory->info("first-seen.json.corrupt.2026-03-02T01:03:03Z"));
  EXPECT_EQ(log_.lines_of("state_quarantined").size(), 1U);
  EXPECT_EQ(ledger->load(kOnlyBackup, kNow + Seconds(90)).value()[0].periods.first_seen, kNow + Seconds(60));
}

TEST_F(FailingDisk, ARecordThatWasSetAsideAndNotBegunAnewIsNoFirstSight) {
  const Instant changed = kNow + Seconds(500);
  file_system_.plant(path_of(std::string(kBackupFile) + ".corrupt.2026-03-02T01:02:00Z"), "{",
                     {FileType::regular, file_system_.user(), 0600, 0, changed});
  const KnownJob known = ledger_->load(kOnlyBackup, kNow).value()[0];
  EXPECT_EQ(known.periods.first_seen, changed + Seconds(1));
  EXPECT_TRUE(known.periods.first_seen_is_floor);
}

TEST_F(FailingDisk, UnknownKeysSurviveAStep) {
  file_system_.plant_file(path_of(kBackupFile),
                          R"({"Version":"1","Identity":"prod/db-backup","Future":{"x":[1,"y"]}})");
  ASSERT_TRUE(ledger_->write(std::vector{start_of_backup()})[0].is_done());
  EXPECT_EQ(ledger_->read(kBackup).value().unknown_members, R"(,"Future":{"x":[1,"y"]})");
}

TEST_F(FailingDisk, UnknownKeysWithinSurviveWhatADaemonDoes) {
  file_system_.plant_file(
      path_of(kBackupFile),
      R"({"Version":"1","Identity":"prod/db-backup",)"
      R"("ActiveExecutions":[{"PID":1,"StartedAt":"2026-03-01T00:00:00Z","RunID":"m","Trigger":"manual","Node":"n1"}],)"
      R"("History":[{"Outcome":"executed","CompletedAt":"2026-02-01T00:00:00Z","Cpu":1.5}],)"
      R"("PassedOver":[{"First":"2026-02-01T00:00:00Z","Last":"2026-02-02T00:00:00Z","Why":[1]}],)"
      R"("Suspended":{"Since":"2026-03-01T00:00:00Z","Ticket":"T-1"}})");
  LedgerStep step = end_of_backup();
  const KnownJob known = ledger_->load(kOnlyBackup, kNow).value()[0];
  step.now.active = known.active;
  step.now.periods.passed_over = known.periods.passed_over;
  step.now.periods.suspended = known.periods.suspended;
  ASSERT_TRUE(ledger_->write(std::vector{step})[0].is_done());
  const std::string text = state::print(ledger_->read(kBackup).value());
  for (const char* member : {R"("Node":"n1")", R"("Cpu":1.5)", R"("Why":[1])", R"("Ticket":"T-1")"}) {
    EXPECT_NE(text.find(member), std::string::npos) << member << " in " << text;
  }
  step.now.periods.suspended.reset();
  step.now.periods.passed_over.clear();
  ASSERT_TRUE(ledger_->write(std::vector{step})[0].is_done());
  const StateRecord after = ledger_->read(kBackup).value();
  EXPECT_EQ(after.unknown_of_suspended + after.unknown_members, "") << "gone with what they belonged to";
}

TEST_F(FailingDisk, HistoryKeepsTheNewest) {
  for (int i = 0; i < 5; ++i) {
    LedgerStep step = end_of_backup(3);
    step.history[0].exit_code = i;
    ASSERT_TRUE(ledger_->write(std::vector{step})[0].is_done());
  }
  const StateRecord record = ledger_->read(kBackup).value();
  ASSERT_EQ(record.history.size(), 3U);
  EXPECT_EQ(record.history.front().exit_code, 2);
  EXPECT_EQ(record.history.back().exit_code, 4);
}

// As many as 4 MiB hold, and some more, of a job that wants to keep five times as many.
TEST_F(FailingDisk, ARecordAtItsLimitDropsItsOldestHistoryAndGoesOn) {
  constexpr std::uint32_t kCap = 100'000;
  LedgerStep many = end_of_backup(kCap);
  HistoryEntry entry = many.history[0];
  entry.run_id = "0123456789abcdef0123456789abcdef";
  many.history.assign(20'000, entry);
  ASSERT_TRUE(ledger_->write(std::vector{many})[0].is_done());
  for (int i = 0; i < 3; ++i) {
    LedgerStep one = end_of_backup(kCap);
    one.history[0].exit_code = 100 + i;
    ASSERT_TRUE(ledger_->write(std::vector{one})[0].is_done());
  }
  const Result<StateRecord> record = ledger_->read(kBackup);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->history.back().exit_code, 102);
  EXPECT_GT(record->history.size(), 18'000U);
  EXPECT_LT(record->history.size(), 20'000U);
  EXPECT_LE(state::print(*record).size(), kMostRecordBytes);
  reopen();
  EXPECT_EQ(ledger_->load(kOnlyBackup, kNow).value()[0].periods.last_handled, utc("2026-03-02T00:00:00Z"));
  EXPECT_TRUE(log_.lines_of("state_quarantined").empty());
}

TEST_F(FailingDisk, WhatMustNotBeForgottenAndDoesNotFitIsRefusedBeforeItIsWritten) {
  LedgerStep step = start_of_backup();
  step.now.active.resize(25'000, step.now.active[0]);
  const Written written = ledger_->write(std::vector{step})[0];
  ASSERT_EQ(written.how, Written::How::refused);
  EXPECT_EQ(written.why.code, Code::refused);
  EXPECT_NE(written.why.message.find(kBackup), std::string::npos) << written.why.message;
  EXPECT_EQ(ledger_->read(kBackup).error().code, Code::not_found);
  EXPECT_FALSE(ledger_->broken());
}

TEST_F(FailingDisk, ATooLargeRecordIsNeverTakenForCorruptAndKeepsOnlyItsOwnJobFromRunning) {
  const std::string exact = kEmptyRecord + std::string(kMostRecordBytes - kEmptyRecord.size(), ' ');
  file_system_.plant_file(path_of(kBackupFile), exact);
  const std::vector<std::string> both{kBackup, "other"};
  EXPECT_EQ(ledger_->load(both, kNow).value()[0].unusable, "");
  const auto directory = file_system_.open_directory(kState).value();
  ASSERT_TRUE(directory->remove(kBackupFile));
  file_system_.plant_file(path_of(kBackupFile), exact + " ");
  const auto known = ledger_->load(both, kNow);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_NE((*known)[0].unusable.find("kron state reset"), std::string::npos) << (*known)[0].unusable;
  EXPECT_NE((*known)[0].unusable.find(kBackupFile), std::string::npos);
  EXPECT_EQ((*known)[1].unusable, "");
  EXPECT_EQ((*known)[1].periods.first_seen, kNow);
  EXPECT_TRUE(log_.lines_of("state_quarantined").empty());
  EXPECT_FALSE(ledger_->write(std::vector{start_of_backup()})[0].is_done());
  EXPECT_EQ(directory->info(kBackupFile)->size, kMostRecordBytes + 1);
}

TEST_F(FailingDisk, ARecordThatIsGoneMeansFirstSightIsNow) {
  const Instant later = kNow + Seconds(3600);
  const auto remove_record = [&] { ASSERT_TRUE(file_system_.open_directory(kState).value()->remove(kBackupFile)); };
  // Seen, recorded and gone within the life of one daemon …
  ASSERT_TRUE(ledger_->load(kOnlyBackup, kNow));
  ASSERT_TRUE(ledger_->write(std::vector{end_of_backup()})[0].is_done());
  remove_record();
  reopen();
  EXPECT_EQ(ledger_->load(kOnlyBackup, later).value()[0].periods.first_seen, later);
  EXPECT_EQ(ledger_->load(kOnlyBackup, later + Seconds(60)).value()[0].periods.first_seen, later);
  // … and when another daemon has seen the record …
  ASSERT_TRUE(ledger_->write(std::vector{end_of_backup()})[0].is_done());
  reopen();
  ASSERT_TRUE(ledger_->load(kOnlyBackup, later));
  remove_record();
  reopen();
  EXPECT_EQ(ledger_->load(kOnlyBackup, later + Seconds(90)).value()[0].periods.first_seen, later + Seconds(90));
  // … also of a job that was not configured meanwhile.
  ASSERT_TRUE(ledger_->write(std::vector{end_of_backup()})[0].is_done());
  reopen();
  ASSERT_TRUE(ledger_->load(std::vector<std::string>{"other"}, later + Seconds(100)));
  remove_record();
  EXPECT_EQ(ledger_->load(kOnlyBackup, later + Seconds(120)).value()[0].periods.first_seen, later + Seconds(120));
}

TEST_F(FailingDisk, FirstSightOfOthersOutlivesTheRecordOfOne) {
  const std::vector<std::string> both{kBackup, "other"};
  ASSERT_TRUE(ledger_->load(both, kNow));
  ASSERT_TRUE(ledger_->write(std::vector{end_of_backup()})[0].is_done());
  reopen();
  EXPECT_EQ(ledger_->load(both, kNow + Seconds(60)).value()[1].periods.first_seen, kNow);
  const auto directory = file_system_.open_directory(kState).value();
  EXPECT_TRUE(directory->info("first-seen.recorded-0.json")) << "no need to write anything yet";
  ASSERT_TRUE(ledger_->load(std::vector<std::string>{"another"}, kNow + Seconds(60)));
  EXPECT_FALSE(directory->info("first-seen.recorded-0.json")) << "it is in first-seen.json now";
  EXPECT_EQ(parse_first_seen(directory->read("first-seen.json", 4096)->bytes)->size(), 2U);
}

TEST_F(FailingDisk, AFileOfRecordedJobsThatCannotBeReadMakesAllBeSeenFromNowOn) {
  ASSERT_TRUE(ledger_->load(kOnlyBackup, kNow));
  file_system_.plant_file(path_of("first-seen.recorded-0.json"), "{");
  EXPECT_EQ(ledger_->load(kOnlyBackup, kNow + Seconds(60)).value()[0].periods.first_seen, kNow + Seconds(60));
  EXPECT_EQ(log_.lines_of("state_quarantined").size(), 1U);
}

TEST_F(FailingDisk, AResetBeginsAfterNowAndKeepsPauseAndHistory) {
  LedgerStep step = end_of_backup();
  step.now.periods.last_handled = utc("2036-03-02T00:00:00Z");
  step.now.periods.suspended = Suspension{kNow, std::nullopt};
  step.now.last_boot_id = "boot";
  ASSERT_TRUE(ledger_->write(std::vector{step})[0].is_done());
  const KnownJob known = ledger_->reset(kBackup, kNow, "another boot").value();
  EXPECT_EQ(known.periods.first_seen, kNow + Seconds(1));
  EXPECT_TRUE(known.periods.first_seen_is_floor);
  EXPECT_EQ(known.periods.last_handled, std::nullopt);
  EXPECT_TRUE(known.periods.suspended);
  reopen();
  EXPECT_EQ(ledger_->load(kOnlyBackup, kNow + Seconds(9)).value()[0], known);
  EXPECT_EQ(ledger_->read(kBackup).value().history.size(), 1U);
  EXPECT_EQ(known.last_boot_id, "boot");
}

TEST_F(FailingDisk, AResetSetsAsideWhatItCannotRead) {
  const std::string too_large(kMostRecordBytes + 1, ' ');
  for (const std::string& text : {std::string("{"), std::string(R"({"Version":"2","Identity":"x"})"), too_large}) {
    testing::PowerCutFileSystem file_system;
    file_system.plant_directory(kState);
    file_system.plant_file(path_of(kBackupFile), text);
    const auto ledger = FileLedger::open(file_system, kState, log_).value();
    const auto known = ledger->reset(kBackup, kNow, "boot");
    ASSERT_TRUE(known) << known.error().message;
    EXPECT_EQ(known->last_boot_id, "boot");
    EXPECT_EQ(ledger->load(kOnlyBackup, kNow + Seconds(9)).value()[0].periods.first_seen, kNow + Seconds(1));
    const auto directory = file_system.open_directory(kState).value();
    EXPECT_TRUE(directory->info(corrupt_file_name(kBackupFile, kNow)));
  }
}

TEST_F(FailingDisk, WhatIsForgottenIsGoneAndNothingElse) {
  ASSERT_TRUE(ledger_->load(std::vector<std::string>{kBackup, "new", "other"}, kNow));
  LedgerStep other = end_of_backup();
  other.identity = "other";
  ASSERT_TRUE(ledger_->write(std::vector{end_of_backup(), other})[0].is_done());
  file_system_.plant_file(path_of(corrupt_file_name(kBackupFile, kNow)), "{");
  ASSERT_TRUE(ledger_->forget(std::vector{sha256({kBackup}), sha256({"new"})}));
  EXPECT_EQ(ledger_->read(kBackup).error().code, Code::not_found);
  EXPECT_TRUE(ledger_->read("other"));
  reopen();
  const auto known = ledger_->load(std::vector<std::string>{kBackup, "new"}, kNow + Seconds(60)).value();
  EXPECT_EQ(known[0].periods.first_seen, kNow + Seconds(60));
  EXPECT_FALSE(known[0].periods.first_seen_is_floor) << "what was set aside of it is gone too";
  EXPECT_EQ(known[1].periods.first_seen, kNow + Seconds(60));
}

TEST_F(FailingDisk, ARecordIsNotReadBackToBeWritten) {
  ASSERT_TRUE(ledger_->write(std::vector{start_of_backup()})[0].is_done());
  const std::size_t reads = calls_of(Call::read);
  ASSERT_TRUE(ledger_->write(std::vector{end_of_backup()})[0].is_done());
  EXPECT_EQ(calls_of(Call::read), reads);
  EXPECT_EQ(ledger_->read(kBackup).value().history.size(), 1U);
}

TEST_F(FailingDisk, AStepThatIsRepeatedAfterAFailureIsInTheRecordOnce) {
  ASSERT_TRUE(ledger_->write(std::vector{start_of_backup()})[0].is_done());
  fail(Call::write, Fault::no_space);
  ASSERT_FALSE(ledger_->write(std::vector{end_of_backup()})[0].is_done());
  file_system_.fail_when(nullptr);
  ASSERT_TRUE(ledger_->write(std::vector{end_of_backup()})[0].is_done());
  EXPECT_EQ(ledger_->read(kBackup).value().history.size(), 1U);
}

TEST_F(FailingDisk, WhatWasForgottenDoesNotComeBackWithTheNextStep) {
  ASSERT_TRUE(ledger_->write(std::vector{end_of_backup()})[0].is_done());
  ASSERT_TRUE(ledger_->forget(std::vector{sha256({kBackup})}));
  ASSERT_TRUE(ledger_->write(std::vector{end_of_backup()})[0].is_done());
  EXPECT_EQ(ledger_->read(kBackup).value().history.size(), 1U);
  LedgerStep far_ahead = end_of_backup();
  far_ahead.now.periods.last_handled = utc("2036-03-02T00:00:00Z");
  ASSERT_TRUE(ledger_->write(std::vector{far_ahead})[0].is_done());
  ASSERT_TRUE(ledger_->reset(kBackup, kNow, "boot"));
  EXPECT_TRUE(ledger_->write(std::vector{end_of_backup()})[0].is_done()) << "the reset has set it back";
}

// Whatever a ledger remembers of what it wrote: one that remembers nothing, because it was opened a moment ago, writes
// the same.
TEST_F(FailingDisk, ALedgerThatWasOpenedLongAgoWritesWhatOneDoesThatWasOpenedNow) {
  testing::PowerCutFileSystem other_files;
  other_files.plant_directory(kState);
  std::unique_ptr<FileLedger> other;
  std::mt19937 random(4711);
  const auto text_in = [&](testing::PowerCutFileSystem& files, const std::string& identity) {
    const auto file = files.open_directory(kState).value()->read(state_file_name(sha256({identity})), kMostRecordBytes);
    return file ? file->bytes : std::string();
  };
  for (int round = 0; round < 300; ++round) {
    other.reset();
    other = FileLedger::open(other_files, kState, log_).value();
    std::vector<LedgerStep> steps;
    for (const char* identity : {"a", "b", "c"}) {
      if (random() % 2 == 0) continue;
      steps.push_back(random() % 2 == 0 ? start_of_backup() : end_of_backup(1 + random() % 4));
      steps.back().identity = identity;
      steps.back().now.periods.last_handled = kNow + Seconds(static_cast<int>(random() % 4) * 60 + round * 40);
    }
    const Call failing = random() % 2 == 0 ? Call::write : Call::rename;
    const Fault fault = random() % 4 == 0 ? Fault::no_space : Fault::none;
    const bool is_reset = random() % 8 == 0;
    for (const auto& [files, ledger] : {std::pair{&file_system_, ledger_.get()}, {&other_files, other.get()}}) {
      ASSERT_TRUE(!is_reset || ledger->reset("b", kNow, "boot"));
      files->fail_when([=](const CallRecord& record) { return record.call == failing ? fault : Fault::none; });
      (void)ledger->write(steps);
      files->fail_when(nullptr);
    }
    for (const char* identity : {"a", "b", "c"}) {
      ASSERT_EQ(text_in(file_system_, identity), text_in(other_files, identity)) << identity << " in round " << round;
    }
  }
}

TEST_F(FailingDisk, LastHandledNeverMovesBack) {
  ASSERT_TRUE(ledger_->write(std::vector{end_of_backup()})[0].is_done());
  LedgerStep back = end_of_backup();
  back.now.periods.last_handled = utc("2026-03-01T00:00:00Z");
  EXPECT_EQ(ledger_->write(std::vector{back})[0].why.code, Code::conflict);
  back.now.periods.last_handled.reset();
  EXPECT_EQ(ledger_->write(std::vector{back})[0].why.code, Code::conflict);
  EXPECT_EQ(ledger_->read(kBackup).value().periods.last_handled, utc("2026-03-02T00:00:00Z"));
}

TEST(StateNames, AreTakenApartAsTheyWereBuilt) {
  const Sha256 hash = sha256({kBackup});
  EXPECT_EQ(state_file_name(hash), kBackupFile);
  EXPECT_EQ(parse_state_name(kBackupFile)->identity_hash, hash);
  EXPECT_FALSE(parse_state_name(kBackupFile)->corrupt);
  const std::string aside = corrupt_file_name(kBackupFile, kNow);
  EXPECT_EQ(aside, std::string(kBackupFile) + ".corrupt.2026-03-02T01:02:03Z");
  EXPECT_TRUE(parse_state_name(aside)->corrupt);
  EXPECT_EQ(parse_state_name(aside)->identity_hash, hash);
  for (const char* other : {"", "lock", "first-seen.json", "first-seen.json.corrupt.x", "runs", ".tmp-x"}) {
    EXPECT_FALSE(parse_state_name(other)) << other;
  }
  EXPECT_FALSE(parse_state_name(std::string(kBackupFile) + "x"));
  EXPECT_FALSE(parse_state_name("A" + std::string(kBackupFile).substr(1))) << "lower case only";
}

}  // namespace
}  // namespace kron
