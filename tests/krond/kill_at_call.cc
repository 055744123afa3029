#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// kron-kill-at-call K -- PROGRAM ARGS…: runs a program and kills it, as kill -9 does, when it is about to make its K-th
// changing system call; 0 lets it live. All its threads are watched, its children are not. Tells on standard output how
// many of these calls it saw and how the program ended; what the program prints goes to standard error. With the name
// of a file in KRON_COUNT_AFTER, calls count from when that file is there.
namespace {

struct NamedCall {
  std::uint64_t number;
  const char* name;
};

// Whatever their arguments are, they change something outside the program's own memory.
constexpr NamedCall kAlwaysChanging[] = {
#ifdef SYS_rename  // the older calls, which newer machines do without
    {SYS_creat, "creat"},
    {SYS_rename, "rename"},
    {SYS_link, "link"},
    {SYS_symlink, "symlink"},
    {SYS_unlink, "unlink"},
    {SYS_mkdir, "mkdir"},
    {SYS_rmdir, "rmdir"},
    {SYS_chmod, "chmod"},
    {SYS_fork, "fork"},
    {SYS_vfork, "vfork"},
#endif
    {SYS_openat2, "openat2"},
    {SYS_pwrite64, "pwrite64"},
    {SYS_pwritev, "pwritev"},
    {SYS_pwritev2, "pwritev2"},
    {SYS_sendto, "sendto"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_sendmmsg, "sendmmsg"},
    {SYS_renameat, "renameat"},
    {SYS_renameat2, "renameat2"},
    {SYS_linkat, "linkat"},
    {SYS_symlinkat, "symlinkat"},
    {SYS_unlinkat, "unlinkat"},
    {SYS_mkdirat, "mkdirat"},
    {SYS_fsync, "fsync"},
    {SYS_fdatasync, "fdatasync"},
    {SYS_sync_file_range, "sync_file_range"},
    {SYS_truncate, "truncate"},
    {SYS_ftruncate, "ftruncate"},
    {SYS_fchmod, "fchmod"},
    {SYS_fchmodat, "fchmodat"},
    {SYS_flock, "flock"},
    {SYS_kill, "kill"},
    {SYS_pidfd_send_signal, "pidfd_send_signal"},
    {SYS_io_uring_enter, "io_uring_enter"},
};

bool creates(std::uint64_t flags) { return (flags & (O_CREAT | O_TRUNC)) != 0; }
bool makes_process(std::uint64_t flags) { return (flags & CLONE_THREAD) == 0; }
bool is_for_people(std::uint64_t fd) { return fd == STDOUT_FILENO || fd == STDERR_FILENO; }

// The name of the call if it changes something, or nothing.
const char* changing(std::uint64_t number, const std::uint64_t (&arguments)[6]) {
  switch (number) {
#ifdef SYS_open
    case SYS_open:
      return creates(arguments[1]) ? "open" : nullptr;
#endif
    case SYS_openat:
      return creates(arguments[2]) ? "openat" : nullptr;
    case SYS_write:
      return is_for_people(arguments[0]) ? nullptr : "write";
    case SYS_writev:
      return is_for_people(arguments[0]) ? nullptr : "writev";
    case SYS_clone:
      return makes_process(arguments[0]) ? "clone" : nullptr;
    default:
      break;
  }
  const auto* const known = std::ranges::find(kAlwaysChanging, number, &NamedCall::number);
  return known != std::ranges::end(kAlwaysChanging) ? known->name : nullptr;
}

class Tracer {
 public:
  Tracer(pid_t program, std::uint64_t last, const char* after) : program_(program), last_(last), after_(after) {}

  bool seize() {
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    return ::ptrace(PTRACE_SEIZE, program_, nullptr, options) == 0;
  }

  // The wait status of the program when it has ended.
  int run() {
    while (true) {
      int status = 0;
      const pid_t thread = ::waitpid(-1, &status, __WALL);
      if (thread < 0 && errno == EINTR) continue;
      if (thread < 0) return 0;
      if (WIFSTOPPED(status)) {
        stopped(thread, status);
      } else if (thread == program_) {
        return status;
      }
    }
  }

  std::uint64_t calls() const { return calls_; }
  const char* killed_at() const { return killed_at_; }

 private:
  void stopped(pid_t thread, int status) {
    const int signal = WSTOPSIG(status);
    const int event = status >> 16;
    if (event == PTRACE_EVENT_EXEC) has_executed_ = true;
    if (signal == (SIGTRAP | 0x80)) at_call(thread);
    // A thread that begins stops once with SIGTRAP; a stop for all, by SIGSTOP and its like, lasts until SIGCONT.
    const bool is_job_control = event == PTRACE_EVENT_STOP && signal != SIGTRAP;
    const bool is_delivery = event == 0 && signal != (SIGTRAP | 0x80);
    ::ptrace(is_job_control ? PTRACE_LISTEN : PTRACE_SYSCALL, thread, nullptr,
             static_cast<long>(is_delivery ? signal : 0));
  }

  void at_call(pid_t thread) {
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0) return;
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !has_executed_ || killed_at_ != nullptr) return;
    const char* name =
        info.entry.nr == SYS_clone3 ? clone3_name(thread, info) : changing(info.entry.nr, info.entry.args);
    if (name == nullptr || !counts() || ++calls_ != last_) return;
    killed_at_ = name;
    // A call whose process has a KILL pending at its entry is not carried out.
    ::kill(program_, SIGKILL);
  }

  bool counts() {
    if (after_ != nullptr && ::access(after_, F_OK) == 0) after_ = nullptr;
    return after_ == nullptr;
  }

  // The flags of clone3 are in the program's memory.
  static const char* clone3_name(pid_t thread, const __ptrace_syscall_info& info) {
    errno = 0;
    const long flags = ::ptrace(PTRACE_PEEKDATA, thread, info.entry.args[0], nullptr);
    return errno == 0 && makes_process(static_cast<std::uint64_t>(flags)) ? "clone3" : nullptr;
  }

  pid_t program_;
  std::uint64_t last_;
  const char* after_;  // the file that is still waited for, or nothing
  std::uint64_t calls_ = 0;
  const char* killed_at_ = nullptr;
  bool has_executed_ = false;
};

// Waits at `gate` until it is watched; the descriptor is gone with the exec.
[[noreturn]] void become(char** arguments, int gate) {
  char byte = 0;
  if (::read(gate, &byte, 1) != 1) ::_exit(126);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  // The leak checker stops its own process by ptrace, which has one seat only.
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  ::execvp(arguments[0], arguments);
  std::fprintf(stderr, "kron-kill-at-call: cannot execute %s: %s\n", arguments[0], std::strerror(errno));
  ::_exit(127);
}

int fail(const char* what) {
  std::fprintf(stderr, "kron-kill-at-call: %s: %s\n", what, std::strerror(errno));
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  char* rest = nullptr;
  const std::uint64_t last = count > 1 ? std::strtoull(arguments[1], &rest, 10) : 0;
  if (count < 4 || rest == arguments[1] || *rest != 0 || std::strcmp(arguments[2], "--") != 0) {
    std::fprintf(stderr, "usage: kron-kill-at-call K -- PROGRAM [ARGUMENT…]\n");
    return 2;
  }
  int gate[2];
  if (::pipe2(gate, O_CLOEXEC) != 0) return fail("cannot create a pipe");
  const pid_t program = ::fork();
  if (program < 0) return fail("cannot fork");
  if (program == 0) become(arguments + 3, gate[0]);
  Tracer tracer(program, last, std::getenv("KRON_COUNT_AFTER"));
  if (!tracer.seize()) return fail("cannot trace");
  if (::write(gate[1], "g", 1) != 1) return fail("cannot start the program");
  const int status = tracer.run();
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  const char* quote = tracer.killed_at() != nullptr ? "\"" : "";
  std::printf("{\"calls\":%llu,\"killed_at\":%s%s%s,\"status\":%d}\n", static_cast<unsigned long long>(tracer.calls()),
              quote, tracer.killed_at() != nullptr ? tracer.killed_at() : "null", quote, code);
  return 0;
}
