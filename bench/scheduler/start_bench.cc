#include <charconv>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <malloc.h>
#include <optional>
#include <string>
#include <unistd.h>

#include "kron/env/fake/silent_log.h"
#include "kron/env/real_file_system.h"
#include "kron/jobs/load.h"
#include "kron/json/writer.h"
#include "kron/ledger/file_ledger.h"
#include "kron/scheduler/scheduler.h"

// What it takes to hold many jobs: reading their lines, a first start on an empty state directory, a second one on what
// the first has left, and the memory they occupy then. The number of jobs is the only argument. The limit that reading
// compares itself with is a look at every byte of the text.
namespace {

using BenchClock = std::chrono::steady_clock;

// No job is due while this runs.
class NoRunner : public kron::ProcessRunner {
 public:
  kron::Result<kron::ProcessIdentity> start(const kron::RunSpec&) override {
    return kron::fail(kron::Code::internal, "nothing is started here");
  }
  kron::Status open_gate(std::string_view) override { return {}; }
  void abandon(std::string_view) override {}
  std::optional<kron::RunExit> adopt(std::string_view, const kron::ProcessIdentity&) override { return std::nullopt; }
  void terminate(std::string_view) override {}
  void kill(std::string_view) override {}
  std::vector<kron::RunExit> drain_exits() override { return {}; }
};

// Processor and elapsed seconds, and the memory that a stretch of work has left occupied.
class Meter {
 public:
  [[nodiscard]] double cpu() const { return static_cast<double>(std::clock() - clock_) / CLOCKS_PER_SEC; }
  [[nodiscard]] double elapsed() const { return std::chrono::duration<double>(BenchClock::now() - start_).count(); }
  [[nodiscard]] double heap_bytes() const { return static_cast<double>(heap() - heap_); }
  [[nodiscard]] double resident_bytes() const { return static_cast<double>(resident() - resident_); }

 private:
  static std::int64_t heap() {
    const auto now = ::mallinfo2();
    return static_cast<std::int64_t>(now.uordblks + now.hblkhd);
  }
  static std::int64_t resident() {
    std::ifstream pages("/proc/self/statm");
    std::int64_t size = 0;
    std::int64_t in_memory = 0;
    pages >> size >> in_memory;
    return in_memory * ::sysconf(_SC_PAGESIZE);
  }

  std::int64_t heap_ = heap();
  std::int64_t resident_ = resident();
  BenchClock::time_point start_ = BenchClock::now();
  std::clock_t clock_ = std::clock();
};

template <std::size_t N>
std::string_view pick(const std::string_view (&choices)[N], std::size_t i) {
  return choices[i % N];
}

// Jobs of many teams: spread over the day, most with a window, some with constraints, a zone or a user of their own.
// All of them have a time to run at: those that have none cost 64 attempts each.
std::string job_lines(std::size_t count) {
  static constexpr std::string_view kZones[] = {"", "", "@tz(Europe/Paris) ", "@tz(America/New_York) ",
                                                "@tz(Asia/Tokyo) "};
  static constexpr std::string_view kWindows[] = {"", "@win(after,15m) ", "@win(after,3h) @dist(skewLate,shape=2.5) ",
                                                  "@win(around,1h) @dist(normal,sigma=10m) "};
  static constexpr std::string_view kClauses[] = {"", "", "", "@avoid(dates=2026-12-24..2026-12-26) ",
                                                  "@avoid(between=12:00-12:30) "};
  static constexpr std::string_view kPolicies[] = {"", "@policy(concurrency=forbid,deadline=30m) "};
  static constexpr std::string_view kUsers[] = {"", " user=backup", " user=www-data timeout=2h"};
  std::string text;
  std::uint64_t random = 0x9E3779B97F4A7C15;
  for (std::size_t i = 0; i < count; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    const auto r = static_cast<std::size_t>(random >> 33);
    const std::string n = std::to_string(i);
    text += std::to_string(r % 60) + " " + std::to_string(r / 60 % 24) + (r % 7 == 0 ? " * * MON-FRI " : " * * * ");
    text.append(pick(kZones, r / 7)).append(pick(kWindows, r / 11)).append(pick(kClauses, r / 13));
    text.append(pick(kPolicies, r / 17)).append("name=team-" + std::to_string(r % 97) + "/report-" + n);
    text.append(" command=\"/usr/bin/report --site " + std::to_string(r % 1000) + " --id " + n + "\"");
    text.append(pick(kUsers, r / 19)).append("\n");
  }
  return text;
}

kron::jobs::FileAccess access_to(const std::string& text) {
  return {.look = [](const std::string&) { return kron::jobs::FileAccess::Facts{}; },
          .list = [](const std::string&) { return std::vector<std::string>{}; },
          .read = [&text](const std::string&) { return text; }};
}

kron::jobs::LoadedJobs load(std::size_t count, kron::ZoneDatabase& zones, kron::JsonWriter& json) {
  const std::string text = job_lines(count);
  const Meter looking;
  std::size_t lines = 0;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  json.key("look_at_bytes_cpu_seconds").real(looking.cpu()).key("lines").integer(static_cast<std::int64_t>(lines));
  const Meter reading;
  const std::string path = "bench.kron";
  kron::jobs::LoadedJobs jobs = kron::jobs::load_paths({&path, 1}, access_to(text), zones);
  json.key("text_bytes_per_line").real(static_cast<double>(text.size()) / static_cast<double>(count));
  json.key("parse_cpu_seconds").real(reading.cpu()).key("parse_seconds").real(reading.elapsed());
  return jobs;
}

struct Host {
  explicit Host(const std::string& directory) : ledger(*kron::FileLedger::open(file_system, directory, log)) {}

  kron::RealFileSystem file_system;
  kron::testing::SilentLog log;
  kron::RealClock clock;
  NoRunner runner;
  std::unique_ptr<kron::FileLedger> ledger;
  kron::Scheduler scheduler{{clock, *ledger, runner, log},
                            [](const kron::jobs::JobDefinition&, const kron::RunCause&) { return kron::RunSpec{}; }};
};

// False when the jobs were refused.
bool bench_start(const std::string& directory, std::size_t count, std::string_view which, kron::JsonWriter& json) {
  kron::ZoneDatabase zones;
  json.key(which).begin_map();
  const Meter whole;
  kron::jobs::LoadedJobs jobs = load(count, zones, json);
  if (jobs.definitions.size() != count) return false;
  double text = 0;
  for (const auto& job : jobs.definitions)
    text += static_cast<double>(job.job.identity.size() + command_of(job).size());
  Host host(directory);
  const Meter starting;
  if (!host.scheduler.start(std::move(jobs.definitions))) return false;
  json.key("start_cpu_seconds").real(starting.cpu()).key("start_seconds").real(starting.elapsed());
  if (which == "first") {  // the second has the first one's memory to use again
    const auto per_job = [&](double bytes) { return bytes / static_cast<double>(count); };
    json.key("identity_and_command_bytes_per_job").real(per_job(text));
    json.key("heap_bytes_per_job_beyond_text").real(per_job(whole.heap_bytes() - text));
    json.key("resident_bytes_per_job_beyond_text").real(per_job(whole.resident_bytes() - text));
  }
  const Meter idle;
  static_cast<void>(host.scheduler.tick());
  json.key("tick_cpu_seconds").real(idle.cpu());
  json.end_map();
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = std::getenv("BRIEF") != nullptr ? 2'000 : 100'000;
  if (argc > 1) {
    const std::string_view given = argv[1];
    if (std::from_chars(given.data(), given.data() + given.size(), count).ec != std::errc() || count == 0) return 2;
  }
  std::string directory = (std::filesystem::temp_directory_path() / "kron-start-bench-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr) return 70;
  kron::JsonWriter json;
  json.begin_map().member("bench", "scheduler/start").key("jobs").integer(static_cast<std::int64_t>(count));
  const bool started = bench_start(directory, count, "first", json) && bench_start(directory, count, "second", json);
  std::filesystem::remove_all(directory);
  if (!started) return 70;
  std::cout << json.end_map().take() << "\n";
  return 0;
}
