#include "kron/runner/exec/command.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kron/runner/exec/small_steps.h"
#include "kron/runner/protocol.h"

namespace kron::exec {
namespace {

// Says which processes are the run's. No sync is paid for: it is of use while the processes live.
void write_started(int file, pid_t session, const char* cgroup) {
  constexpr long kTick = 1'000'000'000 / runner::kTicksPerSecond;
  const timespec now = time_now(CLOCK_BOOTTIME);
  RecordText text;
  text.line(runner::kStartedFirstLine);
  text.line("session=", static_cast<std::uint64_t>(session));
  text.line("tick=", static_cast<std::uint64_t>(now.tv_sec * runner::kTicksPerSecond + now.tv_nsec / kTick));
  if (cgroup != nullptr) text.line("cgroup=", cgroup);
  text.line(runner::kRecordLastLine);
  (void)!::write(file, text.all().data(), text.all().size());
}

// Lives in the child of a vfork: it shares our memory, which is how a refusal reaches us, and must not return.
class Child {
 public:
  Child(const Instructions& instructions, const Descriptors& descriptors, int started, Refusal& refusal)
      : instructions_(instructions), descriptors_(descriptors), started_(started), refusal_(refusal) {}

  // `cgroup`: the one it is in already, or null.
  [[noreturn]] void execute(const char* cgroup) const {
    Descriptors descriptors = descriptors_;
    if (::setsid() < 0) refuse("start a session for", "the command");
    if (started_ >= 0) write_started(started_, ::getpid(), cgroup);
    set_limits();
    set_user();
    if (instructions_.process.umask) ::umask(*instructions_.process.umask);
    enter_directory();
    open_file(instructions_.out, descriptors.out);
    open_file(instructions_.err, descriptors.err);
    if (::dup2(descriptors.in, 0) < 0 || ::dup2(descriptors.out, 1) < 0 || ::dup2(descriptors.err, 2) < 0) {
      refuse("set", "the standard descriptors");
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    environ = instructions_.variables;  // the PATH searched is the command's own
    ::execvp(instructions_.arguments[0], instructions_.arguments);
    refuse("execute", instructions_.arguments[0]);
  }

 private:
  [[noreturn]] void refuse(const char* verb, const char* object) const {
    refusal_ = {verb, object, errno};
    ::_exit(0);
  }

  void set_limits() const {
    if (instructions_.process.nice && ::setpriority(PRIO_PROCESS, 0, *instructions_.process.nice) != 0) {
      refuse("set the priority of", "the command");
    }
    for (std::size_t i = 0; i < instructions_.limit_count; ++i) {
      const Limit& limit = instructions_.limits[i];
      if (::setrlimit(static_cast<__rlimit_resource_t>(limit.resource), &limit.values) != 0 && !keep_stricter(limit)) {
        refuse("set a resource limit of", "the command");
      }
    }
  }

  // Only root may raise a hard limit; a user's own hard limit is then the stricter one, and holds.
  static bool keep_stricter(const Limit& limit) {
    const auto resource = static_cast<__rlimit_resource_t>(limit.resource);
    rlimit now{};
    if (errno != EPERM || ::getrlimit(resource, &now) != 0) return false;
    now.rlim_cur = limit.values.rlim_cur < now.rlim_max ? limit.values.rlim_cur : now.rlim_max;
    return ::setrlimit(resource, &now) == 0;
  }

  void set_user() const {
    if (instructions_.group_count && ::setgroups(*instructions_.group_count, instructions_.groups) != 0) {
      refuse("set the groups of", "the command");
    }
    if (instructions_.group) {
      const gid_t group = *instructions_.group;
      if (::setresgid(group, group, group) != 0) refuse("set the group of", "the command");
    }
    if (instructions_.user) {
      const uid_t user = *instructions_.user;
      if (::setresuid(user, user, user) != 0) refuse("set the user of", "the command");
    }
    // After the change of user, which clears it: if kron-exec is killed, nobody would watch the command any more.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // If it was killed before that, no signal will come any more.
    if (::getppid() != parent_) ::_exit(0);
  }

  void enter_directory() const {
    if (::chdir(instructions_.directory) == 0) return;
    if (!instructions_.directory_may_fail || ::chdir("/") != 0) refuse("enter the directory", instructions_.directory);
  }

  // Not blocking while opening: a FIFO that nobody reads is refused instead of holding the run for ever.
  void open_file(const Stream& stream, int& descriptor) const {
    if (stream.kind != OutputKind::file) return;
    descriptor = ::open(stream.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (descriptor < 0 || ::fcntl(descriptor, F_SETFL, O_APPEND) != 0) refuse("write to", stream.path);
  }

  const Instructions& instructions_;
  const Descriptors descriptors_;
  const int started_;
  const pid_t parent_ = ::getpid();  // made by the parent
  Refusal& refusal_;
};

}  // namespace

pid_t start_command(const Instructions& instructions, const Descriptors& descriptors, const RunCgroup& cgroup,
                    int started, Refusal& refusal) {
  // A fork would copy our page tables to throw them away at once, a third of the whole cost of a run. The price: a
  // directory or program on a file system that hangs holds us too, until that file system answers.
  struct InCgroup {
    const Child child;
    const char* path;
  } in_cgroup{Child(instructions, descriptors, started, refusal), cgroup.path()};
  pid_t pid = cgroup.vfork_into(
      [](void* context) {
        const auto& it = *static_cast<const InCgroup*>(context);
        it.child.execute(it.path);
      },
      &in_cgroup);
  // Out of its cgroup nothing would hold it to its limits.
  const bool may_be_outside = !instructions.process.limits_run();
  if (pid < 0 && may_be_outside) pid = ::vfork();
  if (pid == 0) in_cgroup.child.execute(nullptr);
  if (pid < 0) refusal = {"create", may_be_outside ? "a process" : "a process in a cgroup", errno};
  return pid;
}

}  // namespace kron::exec
