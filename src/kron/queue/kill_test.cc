#include <filesystem>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kron/env/real_file_system.h"
#include "kron/queue/queue_rig.h"

// Real processes on the real disk: one is killed before its n-th changing call, for every n; the next recovers.
namespace kron::testing {
namespace {

// Ends the process, as kill -9 does, when as many changes have been made as it may live to see.
class Countdown {
 public:
  explicit Countdown(int changes) : left_(changes) {}
  void before_change() {
    if (left_-- == 0) ::kill(::getpid(), SIGKILL);
  }

 private:
  int left_;
};

class MortalFile : public File {
 public:
  MortalFile(Countdown& countdown, std::unique_ptr<File> file) : countdown_(countdown), file_(std::move(file)) {}
  Result<std::size_t> write(std::string_view bytes) override {
    countdown_.before_change();
    return file_->write(bytes);
  }
  File* real() { return file_.get(); }

 private:
  Countdown& countdown_;
  std::unique_ptr<File> file_;
};

class MortalDirectory : public Directory {
 public:
  MortalDirectory(Countdown& countdown, std::unique_ptr<Directory> directory)
      : countdown_(countdown), real_(std::move(directory)) {}

  const std::string& path() const override { return real_->path(); }
  Result<std::unique_ptr<File>> create(std::string_view name, mode_t mode) override {
    countdown_.before_change();
    auto file = real_->create(name, mode);
    if (!file) return file;
    return std::make_unique<MortalFile>(countdown_, *std::move(file));
  }
  Result<std::unique_ptr<File>> append(std::string_view name, mode_t mode) override {
    countdown_.before_change();
    auto file = real_->append(name, mode);
    if (!file) return file;
    return std::make_unique<MortalFile>(countdown_, *std::move(file));
  }
  Result<FileContents> read(std::string_view name, std::size_t most) override { return real_->read(name, most); }
  Result<std::string> read_part(std::string_view name, std::uint64_t from, std::size_t most) override {
    return real_->read_part(name, from, most);
  }
  Result<FileInfo> info(std::string_view name) override { return real_->info(name); }
  Status list(const std::function<void(std::string_view, FileType)>& visit) override { return real_->list(visit); }
  Status rename(std::string_view name, Directory& to, std::string_view to_name, IfTaken if_taken) override {
    countdown_.before_change();
    return real_->rename(name, *dynamic_cast<MortalDirectory&>(to).real_, to_name, if_taken);
  }
  Status remove(std::string_view name) override {
    countdown_.before_change();
    return real_->remove(name);
  }
  Status make_directory(std::string_view name, mode_t mode) override {
    countdown_.before_change();
    return real_->make_directory(name, mode);
  }
  Status remove_directory(std::string_view name) override {
    countdown_.before_change();
    return real_->remove_directory(name);
  }
  Result<std::unique_ptr<Directory>> open_directory(std::string_view name) override {
    auto opened = real_->open_directory(name);
    if (!opened) return opened;
    return std::make_unique<MortalDirectory>(countdown_, *std::move(opened));
  }
  Status sync() override {
    countdown_.before_change();
    return real_->sync();
  }
  Result<std::unique_ptr<Lock>> lock(std::string_view name) override { return real_->lock(name); }

 private:
  Countdown& countdown_;
  std::unique_ptr<Directory> real_;
};

class MortalFileSystem : public FileSystem {
 public:
  explicit MortalFileSystem(int changes) : countdown_(changes) {}
  Result<std::unique_ptr<Directory>> open_directory(std::string_view path) override {
    auto opened = real_.open_directory(path);
    if (!opened) return opened;
    return std::make_unique<MortalDirectory>(countdown_, *std::move(opened));
  }
  std::vector<Status> sync_together(std::span<File* const> files) override {
    countdown_.before_change();
    std::vector<File*> real;
    for (File* file : files) real.push_back(dynamic_cast<MortalFile&>(*file).real());
    return real_.sync_together(real);
  }
  uid_t user() const override { return real_.user(); }

 private:
  Countdown countdown_;
  RealFileSystem real_;
};

// What the process told the outside before it died, one letter each.
constexpr char kSubmitted = 's';
constexpr char kCommitted = 'c';
constexpr char kFinished = '.';

void live(const std::string& path, int changes, int outside) {
  const auto tell = [&](char what) { static_cast<void>(::write(outside, &what, 1) == 1); };
  MortalFileSystem files(changes);
  FakeClock clock(kQueueStart);
  CapturingLog log;
  const auto queue = FileQueue::open(files, clock, log, path).value();
  if (queue->submit(task_named("a"))) tell(kSubmitted);
  const auto leases = queue->lease({.worker = "w", .starts = true}).value();
  const auto answer = queue->commit({.key = leases.at(0).key,
                                     .result = "r",
                                     .follow_ups = {task_named("f")},
                                     .files = {{"out", "bytes"}, {"sub/out", "more"}}});
  if (answer && answer->outcome == LeaseOutcome::accepted) tell(kCommitted);
  tell(kFinished);
}

// Lets a process live that long, and returns what it told.
std::string life(const std::string& path, int changes) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    live(path, changes, ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string told;
  char letter = 0;
  while (::read(ends[0], &letter, 1) == 1) told += letter;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return told;
}

void expect_whole(const std::string& path, const std::string& told) {
  RealFileSystem files;
  FakeClock clock(kQueueStart);
  CapturingLog log;
  const auto queue = FileQueue::open(files, clock, log, path).value();
  EXPECT_EQ(queue->recovery().set_aside, 0U);
  const auto task = queue->get("a");
  const auto was_told = [&](char what) { return told.find(what) != std::string::npos; };
  EXPECT_TRUE(task || !was_told(kSubmitted));
  const bool is_done = task && state_of(*task) == TaskState::succeeded;
  EXPECT_TRUE(is_done || !was_told(kCommitted));
  EXPECT_EQ(std::filesystem::exists(path + "/effects/a/out"), is_done);
  EXPECT_EQ(std::filesystem::exists(path + "/effects/a/sub/out"), is_done);
  EXPECT_EQ(queue->get("f").has_value(), is_done);
  EXPECT_EQ(queue->lease({.worker = "w", .types = {"MAIL"}, .count = 9}).value().size(),
            task && queue->recovery().kept == 0 ? 1U : 0U);
}

TEST(QueueKill, EveryChangeOfSubmitAndCommitMayBeTheLast) {
  // What a process that dies has written is in the page cache; no disk is needed to find it there.
  const bool has_memory_disk = std::filesystem::is_directory("/dev/shm");
  std::string pattern = (has_memory_disk ? "/dev/shm/" : ::testing::TempDir()) + std::string("kron-kill-XXXXXX");
  const std::string root = ::mkdtemp(pattern.data());
  int deaths = 0;
  for (;; ++deaths) {
    SCOPED_TRACE("killed before change " + std::to_string(deaths));
    const std::string path = root + "/" + std::to_string(deaths);
    const std::string told = life(path, deaths);
    expect_whole(path, told);
    if (HasFailure() || told.find(kFinished) != std::string::npos) break;
  }
  EXPECT_GT(deaths, 50);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace kron::testing
