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

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "krond_bench: %s\n", why.c_str());
  std::exit(1);
}

void pause_briefly() {
  const timespec time{0, 5'000'000};
  ::nanosleep(&time, nullptr);
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::int64_t wall_nanoseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

double seconds_since(std::int64_t wall_start) { return static_cast<double>(wall_nanoseconds() - wall_start) / 1e9; }

Host::Host() {
  char directory[] = "/tmp/kron-krond-bench-XXXXXX";
  if (::mkdtemp(directory) == nullptr) give_up("cannot make a directory in /tmp");
  directory_ = directory;
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
  const std::string log = directory_ + "/log";
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

Activity activity_of(pid_t pid) {
  const std::string directory = "/proc/" + std::to_string(pid);
  Activity activity;
  const std::string stat = contents(directory + "/stat");
  std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 2, stat.size())));
  std::vector<std::string> words{std::istream_iterator<std::string>(fields), {}};
  if (words.size() > 12) {
    const double ticks = std::stod(words[11]) + std::stod(words[12]);
    activity.cpu_seconds = ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  const std::string status = contents(directory + "/status");
  constexpr std::string_view kKey = "\nvoluntary_ctxt_switches:";
  if (const auto at = status.find(kKey); at != std::string::npos) {
    activity.wakeups = std::stoull(status.substr(at + kKey.size()));
  }
  return activity;
}

}  // namespace kron::bench
