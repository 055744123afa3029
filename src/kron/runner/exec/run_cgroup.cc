#include "kron/runner/exec/run_cgroup.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kron/runner/exec/small_steps.h"
#include "kron/runner/protocol.h"

namespace kron::exec {
namespace {

// More than a run can have used, and as much as who reads its record takes.
constexpr std::uint64_t kMostUsed = INT64_MAX;

// The child runs on our stack, below this frame, until it has executed the command or ended. So the system call must
// not be made by a function that returns: the child would return from it first, and overwrite what we return by.
[[gnu::noinline]] long clone_below(clone_args& arguments, void (*child)(void*), void* context) {
  long result = 0;
#if defined(__x86_64__)
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_clone3), "D"(&arguments), "S"(sizeof arguments)
               : "rcx", "r11", "memory");
#elif defined(__aarch64__)
  register long number asm("x8") = SYS_clone3;
  register long first asm("x0") = reinterpret_cast<long>(&arguments);
  register long second asm("x1") = sizeof arguments;
  asm volatile("svc 0" : "+r"(first) : "r"(number), "r"(second) : "memory");
  result = first;
#else
  result = -ENOSYS;
#endif
  if (result == 0) child(context);
  return result;
}

}  // namespace

RunCgroup::RunCgroup(const char* parent, const char* run_id) {
  if (parent == nullptr) return;
  // With our PID, no other krond's run of the same id has it; and one that is there already is not ours.
  RecordText path;
  path.text(parent).text("/").text(runner::kCgroupPrefix).text(run_id).text("-");
  path.number(static_cast<std::uint64_t>(::getpid()));
  const std::string_view all = path.all();
  if (all.size() >= sizeof path_) return;
  std::memcpy(path_, all.data(), all.size());
  path_[all.size()] = 0;
  if (::mkdir(path_, 0755) == 0) {
    fd_ = ::open(path_, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
}

RunCgroup::~RunCgroup() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::rmdir(path_);
}

pid_t RunCgroup::vfork_into(void (*child)(void*), void* context) const {
  if (fd_ < 0) {
    errno = ENOENT;
    return -1;
  }
  clone_args arguments = {};
  arguments.flags = CLONE_VM | CLONE_VFORK | CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<std::uint64_t>(fd_);
  const long result = clone_below(arguments, child, context);
  if (result < 0) errno = static_cast<int>(-result);
  return result < 0 ? -1 : static_cast<pid_t>(result);
}

void RunCgroup::add_to(RunUsage& used) const {
  if (fd_ >= 0) add_usage_of(fd_, used);
}

const char* RunCgroup::set_limits(const ProcessSettings& settings) const {
  if (!settings.limits_run()) return nullptr;
  if (fd_ >= 0) return write_run_limits(fd_, settings);
  errno = ENOENT;
  return "a cgroup";
}

std::uint64_t RunCgroup::killed_for_memory() const {
  return fd_ < 0 ? 0 : number_after(fd_, "memory.events", "oom_kill ");
}

const char* write_run_limits(int directory, const ProcessSettings& settings) {
  constexpr std::uint64_t kCpuPeriod = 100'000;  // microseconds, as the kernel and systemd have it
  const auto write = [&](const char* name, std::string_view value) {
    const int file = ::openat(directory, name, O_WRONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool is_taken = ::write(file, value.data(), value.size()) == static_cast<ssize_t>(value.size());
    const int error = errno;
    ::close(file);
    errno = error;
    return is_taken;
  };
  if (settings.memory_max) {
    if (!write("memory.max", RecordText().number(*settings.memory_max).all())) return "memory_max";
    // All of the run ends, not the process that happened to ask last; where the kernel cannot do that, that one alone.
    (void)write("memory.oom.group", "1");
  }
  if (settings.tasks_max && !write("pids.max", RecordText().number(*settings.tasks_max).all())) return "tasks_max";
  if (settings.cpu_max) {
    RecordText text;
    text.number(*settings.cpu_max * kCpuPeriod / 100).text(" ").number(kCpuPeriod);
    if (!write("cpu.max", text.all())) return "cpu_max";
  }
  return nullptr;
}

std::uint64_t number_after(int directory, const char* name, const char* word) {
  const int file = ::openat(directory, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[512];
  const ssize_t size = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (size <= 0) return 0;
  text[size] = 0;
  const std::size_t length = std::strlen(word);
  for (const char* line = text; line != nullptr; line = std::strchr(line, '\n')) {
    if (*line == '\n') ++line;
    if (std::strncmp(line, word, length) == 0) return std::strtoull(line + length, nullptr, 10);
    if (*line == 0) break;
  }
  return 0;
}

void add_usage_of(int directory, RunUsage& used) {
  const auto time_of = [&](const char* word) {
    const std::uint64_t microseconds = number_after(directory, "cpu.stat", word);
    return std::chrono::microseconds(static_cast<std::int64_t>(std::min(microseconds, kMostUsed)));
  };
  used.user = std::max(used.user, time_of("user_usec "));
  used.system = std::max(used.system, time_of("system_usec "));
  used.memory = std::max(used.memory, number_in(directory, "memory.peak"));
  used.read = std::max(used.read, sum_of(directory, "io.stat", " rbytes="));
  used.written = std::max(used.written, sum_of(directory, "io.stat", " wbytes="));
}

std::uint64_t sum_of(int directory, const char* name, const char* word) {
  const int file = ::openat(directory, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[8192];
  std::size_t size = 0;
  for (ssize_t more = 1; more > 0 && size < sizeof text - 1;) {
    more = ::read(file, text + size, sizeof text - 1 - size);
    if (more > 0) size += static_cast<std::size_t>(more);
  }
  ::close(file);
  text[size] = 0;
  std::uint64_t sum = 0;
  const std::size_t length = std::strlen(word);
  for (const char* at = std::strstr(text, word); at != nullptr; at = std::strstr(at + length, word)) {
    if (__builtin_add_overflow(sum, std::strtoull(at + length, nullptr, 10), &sum) || sum > kMostUsed) return kMostUsed;
  }
  return sum;
}

std::uint64_t number_in(int directory, const char* name) {
  const int file = ::openat(directory, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[24];
  const ssize_t size = ::read(file, text, sizeof text);
  ::close(file);
  std::uint64_t number = 0;
  for (ssize_t i = 0; i < size && text[i] >= '0' && text[i] <= '9'; ++i) {
    const std::uint64_t digit = static_cast<std::uint64_t>(text[i] - '0');
    if (__builtin_mul_overflow(number, std::uint64_t{10}, &number) || __builtin_add_overflow(number, digit, &number)) {
      return 0;
    }
  }
  return number;
}

}  // namespace kron::exec
