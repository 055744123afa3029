#include "host.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace kron::bench {
namespace {

void pause_briefly() {
  const timespec time{0, 5'000'000};
  ::nanosleep(&time, nullptr);
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

void give_up(const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", ::program_invocation_short_name, why.c_str());
  std::exit(1);
}

std::int64_t wall_nanoseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

double seconds_since(std::int64_t wall_start) { return static_cast<double>(wall_nanoseconds() - wall_start) / 1e9; }

std::string idle_jobs(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    text += "30 " + std::to_string(i % 24) + " 29 2 * @win(after,3h) name=idle/job-" + number +
            " command=\"/usr/local/bin/report --for customer-" + number + "\"\n";
  }
  return text;
}

std::string cron_at(std::int64_t second) {
  const time_t time = static_cast<time_t>(second);
  tm civil{};
  ::gmtime_r(&time, &civil);
  char text[64];
  std::snprintf(text, sizeof text, "%d %d %d %d %d *", civil.tm_sec, civil.tm_min, civil.tm_hour, civil.tm_mday,
                civil.tm_mon + 1);
  return text;
}

double at_share(const std::vector<double>& sorted, double share) {
  return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
}

Host::Host() {
  directory_ = std::filesystem::temp_directory_path().string() + "/kron-bench-XXXXXX";
  if (::mkdtemp(directory_.data()) == nullptr) give_up("cannot make a directory " + directory_);
}

// A file system may shun the places of files that were removed a moment ago, and the next part of a benchmark would pay
// for it: what is left of a host is removed when all are done.
Host::~Host() {
  stop();
  static const struct Leavings {
    ~Leavings() {
      std::error_code ignored;
      for (const std::string& directory : directories) std::filesystem::remove_all(directory, ignored);
    }
    mutable std::vector<std::string> directories;
  } leavings;
  leavings.directories.push_back(directory_);
}

std::string Host::stamp_command() const { return std::string(KRON_STAMP) + " " + stamps_file(); }

void Host::write_jobs(const std::string& text) const { std::ofstream(directory_ + "/jobs.kron") << text; }

double Host::start() {
  const std::string log = log_file();
  std::vector<std::string> words{KRON_KROND, "--config", directory_ + "/jobs.kron", "--state-dir",
                                 directory_ + "/state"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const std::int64_t begin = wall_nanoseconds();
  if (::posix_spawn(&pid_, KRON_KROND, &actions, nullptr, arguments.data(), environ) != 0)
    give_up("cannot start krond");
  posix_spawn_file_actions_destroy(&actions);
  while (contents(log).find("daemon_started") == std::string::npos) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) give_up("krond ended: " + contents(log));
    pause_briefly();
  }
  return seconds_since(begin);
}

void Host::stop() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::vector<std::int64_t> Host::stamps() const {
  const std::string bytes = contents(stamps_file());
  std::vector<std::int64_t> stamps(bytes.size() / sizeof(std::int64_t));
  bytes.copy(reinterpret_cast<char*>(stamps.data()), stamps.size() * sizeof(std::int64_t));
  std::ranges::sort(stamps);
  return stamps;
}

std::vector<std::int64_t> Host::wait_for_stamps(std::size_t count, double seconds) const {
  const std::int64_t begin = wall_nanoseconds();
  std::error_code error;
  while (seconds_since(begin) < seconds) {
    const auto size = std::filesystem::file_size(stamps_file(), error);
    if (!error && size >= count * sizeof(std::int64_t)) break;
    pause_briefly();
  }
  return stamps();
}

std::uint64_t resident_bytes(pid_t pid) {
  std::istringstream status(contents("/proc/" + std::to_string(pid) + "/statm"));
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  status >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

double cpu_seconds_of(pid_t pid) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) give_up("the process has ended");
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

std::uint64_t wakeups_of(pid_t pid) {
  const std::string status = contents("/proc/" + std::to_string(pid) + "/status");
  constexpr std::string_view kKey = "\nvoluntary_ctxt_switches:";
  const auto at = status.find(kKey);
  return at == std::string::npos ? 0 : std::stoull(status.substr(at + kKey.size()));
}

}  // namespace kron::bench
