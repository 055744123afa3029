// How many records a second become durable, next to a bare loop of the same system calls in the same run; and how long
// it takes to load a host's state.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <malloc.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "kron/env/descriptor.h"
#include "kron/env/fake/silent_log.h"
#include "kron/env/real_file_system.h"
#include "kron/ledger/file_ledger.h"
#include "kron/state/names.h"

namespace {

using kron::Descriptor;
using kron::FileLedger;
using kron::LedgerStep;
using BenchClock = std::chrono::steady_clock;

constexpr std::size_t kSyncThreads = 8;  // as many as the real file system uses
constexpr std::size_t kOpenAtOnce = 256;

void require(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::exit(70);
}

template <class Work>
double seconds_of(Work&& work) {
  const auto start = BenchClock::now();
  work();
  return std::chrono::duration<double>(BenchClock::now() - start).count();
}

std::string identity_of(std::size_t i) { return "bench/job-" + std::to_string(i); }

// A run that has started, of a job with some history.
LedgerStep step_of(std::size_t i, std::int64_t round) {
  LedgerStep step;
  const kron::Instant period = kron::instant_of(1'772'323'200 + 3600 * round);
  step.identity = identity_of(i);
  step.now.periods.last_handled = period;
  step.now.periods.first_seen = kron::instant_of(1'772'000'000);
  step.now.active.push_back({.period = period,
                             .chosen = period,
                             .started_at = period,
                             .pid = 4711,
                             .process_start = 98765,
                             .boot_id = "3a1c7f0e-58f2-4b6e-9f43-27f1a2d0c9aa",
                             .run_id = std::string(32, 'a'),
                             .trigger = kron::Trigger::schedule});
  step.last_outcome = kron::Outcome::executed;
  step.last_chosen = period;
  step.history.push_back({.period = period - std::chrono::hours(1),
                          .outcome = kron::Outcome::executed,
                          .chosen = period,
                          .completed_at = period,
                          .exit_code = 0,
                          .run_id = std::string(32, 'b')});
  return step;
}

// The system calls of a batch, and nothing else: read the old record, write the new one aside, sync, rename, sync.
class BareDirectory {
 public:
  explicit BareDirectory(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    require(static_cast<bool>(fd_), "open");
  }

  void write_batch(const std::vector<std::string>& names, const std::string& text) {
    for (const std::string& name : names) read(name, text.size());
    for (std::size_t first = 0; first < names.size(); first += kOpenAtOnce) {
      write_temporaries(names, first, std::min(first + kOpenAtOnce, names.size()), text);
    }
    for (const std::string& name : names) {
      require(::renameat(fd_.get(), (".tmp-" + name).c_str(), fd_.get(), name.c_str()) == 0, "rename");
    }
    require(::fsync(fd_.get()) == 0, "fsync");
  }

  void read(const std::string& name, std::size_t size) {
    const Descriptor file(::openat(fd_.get(), name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    if (!file) return;
    struct stat status {};
    require(::fstat(file.get(), &status) == 0, "fstat");
    buffer_.resize(std::max(size, static_cast<std::size_t>(status.st_size)));
    require(::read(file.get(), buffer_.data(), static_cast<std::size_t>(status.st_size)) >= 0, "read");
  }

 private:
  void write_temporaries(const std::vector<std::string>& names, std::size_t first, std::size_t last,
                         const std::string& text) {
    std::vector<Descriptor> files;
    for (std::size_t i = first; i < last; ++i) {
      files.emplace_back(
          ::openat(fd_.get(), (".tmp-" + names[i]).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
      require(::write(files.back().get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()), "write");
    }
    if (files.size() > 1) {
      for (const Descriptor& file : files) ::sync_file_range(file.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
    }
    std::atomic<std::size_t> next{0};
    const auto sync_some = [&] {
      for (std::size_t i = next++; i < files.size(); i = next++) require(::fsync(files[i].get()) == 0, "fsync");
    };
    std::vector<std::jthread> threads;
    if (files.size() >= kSyncThreads) {
      for (std::size_t i = 1; i < kSyncThreads; ++i) threads.emplace_back(sync_some);
    }
    sync_some();
  }

  Descriptor fd_;
  std::string buffer_;
};

// Both sides in turn, so that a busy machine is busy for both.
void bench_batches(const std::string& root, bool brief) {
  kron::RealFileSystem file_system;
  kron::testing::SilentLog log;
  const auto ledger = FileLedger::open(file_system, root + "/ledger", log).value();
  std::filesystem::create_directory(root + "/bare");
  BareDirectory bare(root + "/bare");
  std::int64_t round = 0;
  const char* comma = "";
  for (const std::size_t batch : {1, 10, 100, 1000}) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < batch; ++i) names.push_back(kron::state_file_name(kron::sha256({identity_of(i)})));
    double ours = 0;
    double limit = 0;
    std::size_t records = 0;
    const double enough = brief ? 0.02 : 3;
    std::string text;
    for (int i = 0; i < (brief ? 1 : 3) || ours < enough; ++i) {
      std::vector<LedgerStep> steps;
      ++round;
      for (std::size_t k = 0; k < batch; ++k) steps.push_back(step_of(k, round));
      ours += seconds_of([&] {
        for (const kron::Written& written : ledger->write(steps)) require(written.is_done(), "ledger");
      });
      text = kron::state::print(ledger->read(identity_of(0)).value());
      limit += seconds_of([&] { bare.write_batch(names, text); });
      records += batch;
    }
    const double count = static_cast<double>(records);
    std::printf(
        "%s{\"batch\":%zu,\"records\":%zu,\"records_per_second\":%.0f,\"bare_per_second\":%.0f,\"share_of_bare\":%.3f,"
        "\"bytes_per_record\":%zu,\"fsyncs_per_record\":%.3f}",
        comma, batch, records, count / ours, count / limit, limit / ours, text.size(),
        1 + 1 / static_cast<double>(batch));
    comma = ",";
  }
}

// Not through the ledger: a million synced files would take an hour.
void make_records(const std::string& path, std::size_t count) {
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (std::size_t i = 0; i < count; ++i) {
    kron::StateRecord record;
    LedgerStep step = step_of(i, 1);
    step.now.active.clear();
    require(kron::apply(record, step).has_value(), "apply");
    const std::string text = kron::state::print(record);
    const std::string name = kron::state_file_name(kron::sha256({record.identity}));
    const Descriptor file(::openat(directory.get(), name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    require(::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()), "write");
  }
}

void bench_load(const std::string& root, std::size_t count, const char* comma) {
  const std::string path = root + "/load-" + std::to_string(count);
  kron::RealFileSystem file_system;
  kron::testing::SilentLog log;
  const auto ledger = FileLedger::open(file_system, path, log).value();
  make_records(path, count);
  std::vector<std::string> identities;
  for (std::size_t i = 0; i < count; ++i) identities.push_back(identity_of(i));
  BareDirectory bare(path);
  const double limit = seconds_of([&] {
    for (const std::string& identity : identities) bare.read(kron::state_file_name(kron::sha256({identity})), 0);
  });
  const std::size_t before = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
  std::vector<kron::KnownJob> known;
  const double ours = seconds_of([&] { known = ledger->load(identities, kron::instant_of(1'772'400'000)).value(); });
  const std::size_t after = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
  require(known.size() == count && known.back().periods.last_handled.has_value(), "load");
  const double jobs = static_cast<double>(count);
  std::printf(
      "%s{\"jobs\":%zu,\"seconds\":%.3f,\"microseconds_per_job\":%.2f,\"bare_seconds\":%.3f,\"bytes_per_job\":%.0f}",
      comma, count, ours, ours * 1e6 / jobs, limit, static_cast<double>(after - before) / jobs);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // a run takes minutes: each figure shows when it is there
  const bool brief = std::getenv("BRIEF") != nullptr;
  std::string pattern = (std::filesystem::temp_directory_path() / "kron-ledger-bench-XXXXXX").string();
  require(::mkdtemp(pattern.data()) != nullptr, "mkdtemp");
  std::printf("{\"bench\":\"ledger\",\"writes\":[");
  bench_batches(pattern, brief);
  std::printf("],\"loads\":[");
  bench_load(pattern, brief ? 1'000 : 100'000, "");
  if (!brief) bench_load(pattern, 1'000'000, ",");
  std::printf("]}\n");
  std::filesystem::remove_all(pattern);
  return 0;
}
