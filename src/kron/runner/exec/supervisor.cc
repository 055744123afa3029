#include "kron/runner/exec/supervisor.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "kron/runner/exec/small_steps.h"
#include "kron/runner/protocol.h"

namespace kron::exec {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kAfterKill = 2 * kSecond;
constexpr std::size_t kReadAtOnce = 64 << 10;
constexpr char kSyslogSocket[] = "/dev/log";

std::int64_t monotonic_now() {
  const timespec now = time_now(CLOCK_MONOTONIC);
  return now.tv_sec * kSecond + now.tv_nsec;
}

// Far away rather than in the past when the duration is absurd.
std::int64_t deadline_after(std::int64_t duration) {
  std::int64_t deadline = 0;
  return __builtin_add_overflow(monotonic_now(), duration, &deadline) ? INT64_MAX : deadline;
}

}  // namespace

Supervisor::Supervisor(const Instructions& instructions, RunDirectory& directory)
    : instructions_(instructions),
      directory_(directory),
      cgroup_(instructions.cgroup, instructions.run_id),
      output_(directory, instructions.capture) {}

void Supervisor::prepare() {
  sigset_t handled;
  ::sigemptyset(&handled);
  ::sigaddset(&handled, runner::kTerminateSignal);
  ::sigaddset(&handled, runner::kKillSignal);
  ::sigaddset(&handled, SIGCHLD);
  // The standard descriptors may be closed: none of ours must take their numbers.
  do {
    null_ = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (null_ >= 0 && null_ <= 2);
  signals_ = ::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
  // What the command leaves behind comes to us when its parent dies, so that we learn when the group is gone.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);

  descriptors_.in = input_descriptor();
  descriptors_.out = open_sink(instructions_.out, sinks_[0], STDOUT_FILENO, LOG_INFO);
  const bool shared = instructions_.out.kind == OutputKind::capture && instructions_.err.kind == OutputKind::capture;
  descriptors_.err = shared ? descriptors_.out : open_sink(instructions_.err, sinks_[1], STDERR_FILENO, LOG_WARNING);
  const bool complete = signals_ >= 0 && null_ >= 0 && descriptors_.in >= 0 && descriptors_.out >= 0 &&
                        descriptors_.err >= 0 && (!instructions_.has_lease || lease_.open());
  if (!complete) refusal_ = {"open what is needed for", "the command", errno};
}

int Supervisor::input_descriptor() {
  if (!instructions_.input) return null_;
  const int fd = ::memfd_create("kron-stdin", MFD_CLOEXEC);
  const std::size_t size = instructions_.input->size();
  if (fd < 0 || ::write(fd, instructions_.input->data(), size) != static_cast<ssize_t>(size)) return -1;
  return ::lseek(fd, 0, SEEK_SET) == 0 ? fd : -1;
}

int Supervisor::open_sink(const Stream& stream, Sink& sink, int inherited, int priority) {
  if (stream.kind == OutputKind::inherit) return inherited;
  if (stream.kind == OutputKind::discard || stream.kind == OutputKind::file) return null_;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  sink.fd = ends[0];
  sink.captured = stream.kind == OutputKind::capture;
  if (!sink.captured) sink.lines.open(kSyslogSocket, instructions_.run_id, LOG_CRON | priority);
  return ends[1];
}

Ending Supervisor::run() {
  ending_.started = time_now(CLOCK_REALTIME);
  if (start()) {
    while (!is_over()) turn();
    drain();
    describe_end();
  }
  ending_.ended = time_now(CLOCK_REALTIME);
  ending_.output_bytes = output_.written();
  ending_.output_lost = output_.lost();
  ending_.output_error = output_.error();
  return ending_;
}

bool Supervisor::start() {
  if (refusal_.verb == nullptr && lease_.has_run_out()) {
    // Another host may hold the lock by now. Without a code the record says that nothing was executed.
    add_reason(runner::kLeaseOverBefore);
    return false;
  }
  if (refusal_.verb == nullptr) {
    if (instructions_.timeout > 0) deadline_ = deadline_after(instructions_.timeout);
    command_ = start_command(instructions_, descriptors_, cgroup_, directory_.started(), refusal_);
  }
  if (refusal_.verb != nullptr) {
    if (command_ > 0) ::waitpid(command_, nullptr, 0);
    refuse(refusal_);
    return false;
  }
  // Only the command holds what is the command's: a reader of the daemon's output must not wait for us, and the pipes
  // must end with their last writer.
  for (const int own : {descriptors_.in, descriptors_.out, descriptors_.err}) {
    if (own > STDERR_FILENO && own != null_) ::close(own);
  }
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null_, standard);
  return true;
}

void Supervisor::refuse(const Refusal& refusal) {
  const bool is_missing =
      std::strcmp(refusal.verb, "execute") == 0 && (refusal.error == ENOENT || refusal.error == ENOTDIR);
  ending_.code = is_missing ? runner::kNotFound : runner::kCannotExecute;
  std::snprintf(ending_.reason, sizeof ending_.reason, "cannot %s %.300s: %s", refusal.verb, refusal.object,
                strerrordesc_np(refusal.error));
}

void Supervisor::turn() {
  pollfd polled[4] = {
      {signals_, POLLIN, 0}, {sinks_[0].fd, POLLIN, 0}, {sinks_[1].fd, POLLIN, 0}, {lease_.timer(), POLLIN, 0}};
  timespec wait{};
  const std::int64_t deadline = next_deadline();
  if (deadline != 0) {
    const std::int64_t left = std::max<std::int64_t>(deadline - monotonic_now(), 0);
    wait = {left / kSecond, left % kSecond};
  }
  if (::ppoll(polled, 4, deadline != 0 ? &wait : nullptr, nullptr) > 0) {
    if (polled[3].revents != 0 && lease_.has_run_out()) end_lease();
    if (polled[1].revents != 0) read_sink(sinks_[0], kReadAtOnce);
    if (polled[2].revents != 0) read_sink(sinks_[1], kReadAtOnce);
    if (polled[0].revents != 0) read_signals();
  }
  act_on_time();
}

void Supervisor::read_signals() {
  signalfd_siginfo signal;
  while (::read(signals_, &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
    if (signal.ssi_signo == runner::kTerminateSignal) {
      terminate("terminated");
    } else if (signal.ssi_signo == runner::kKillSignal) {
      // krond sends this, too, when it has learnt that the lock is lost, and has put that into the file before.
      if (lease_.has_run_out()) {
        end_lease();
        continue;
      }
      if (ending_.reason[0] == 0) add_reason("killed");
      kill_group();
    } else {
      reap();
    }
  }
}

void Supervisor::reap() {
  int status = 0;
  for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0; pid = ::waitpid(-1, &status, WNOHANG)) {
    if (pid != command_) continue;
    has_ended_ = true;
    status_ = status;
  }
}

void Supervisor::read_sink(Sink& sink, std::size_t most) {
  static char buffer[kReadAtOnce];
  const ssize_t got = ::read(sink.fd, buffer, std::min(most, sizeof buffer));
  if (got > 0) {
    const std::size_t size = static_cast<std::size_t>(got);
    if (sink.captured) {
      output_.append(buffer, size);
    } else {
      sink.lines.append(buffer, size);
    }
  } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
    ::close(sink.fd);
    sink.fd = -1;
  }
}

// A daemon the command left behind may hold the pipe open for ever, and write to it: what is in it now is the
// command's.
void Supervisor::drain() {
  for (Sink& sink : sinks_) {
    int left = 0;
    if (sink.fd >= 0 && ::ioctl(sink.fd, FIONREAD, &left) != 0) left = 0;
    while (sink.fd >= 0 && left > 0) {
      const std::size_t part = std::min(static_cast<std::size_t>(left), kReadAtOnce);
      read_sink(sink, part);
      left -= static_cast<int>(part);
    }
    if (sink.lines.is_open()) sink.lines.finish();
  }
}

std::int64_t Supervisor::next_deadline() const {
  // A command that KILL does not end sits in the kernel, and only its end ends the run.
  return phase_ == Phase::killed && !has_ended_ ? 0 : deadline_;
}

void Supervisor::act_on_time() {
  if (deadline_ == 0 || monotonic_now() < deadline_) return;
  if (phase_ == Phase::running) {
    char reason[64];
    std::snprintf(reason, sizeof reason, "%s %gs", runner::kTimedOut,
                  static_cast<double>(instructions_.timeout) / kSecond);
    terminate(reason);
  } else if (phase_ == Phase::terminating) {
    const std::size_t used = std::strlen(ending_.reason);
    std::snprintf(ending_.reason + used, sizeof ending_.reason - used, ", killed after %gs of grace",
                  static_cast<double>(instructions_.grace) / kSecond);
    kill_group();
  }
}

void Supervisor::terminate(const char* reason) {
  if (phase_ != Phase::running) return;
  phase_ = Phase::terminating;
  deadline_ = deadline_after(instructions_.grace);
  std::snprintf(ending_.reason, sizeof ending_.reason, "%s", reason);
  ::kill(-command_, SIGTERM);
  ::kill(-command_, SIGCONT);  // a stopped process would not hear the TERM
}

void Supervisor::kill_group() {
  phase_ = Phase::killed;
  deadline_ = deadline_after(kAfterKill);
  ::kill(-command_, SIGKILL);
}

void Supervisor::add_reason(const char* reason) {
  const std::size_t used = std::strlen(ending_.reason);
  std::snprintf(ending_.reason + used, sizeof ending_.reason - used, "%s%s", used == 0 ? "" : ", ", reason);
}

// At once: at the end of its time another host may start, and grace would overlap with it.
void Supervisor::end_lease() {
  if (phase_ == Phase::killed) return;
  add_reason(runner::kLeaseOver);
  kill_group();
}

bool Supervisor::is_over() {
  if (!has_ended_) return false;
  if (phase_ == Phase::running || group_is_empty()) return true;
  return phase_ == Phase::killed && monotonic_now() >= deadline_;
}

// Members that died are ours to reap, as their parents are gone; until we do, the number of the group stays taken.
bool Supervisor::group_is_empty() const { return ::kill(-command_, 0) != 0 && errno == ESRCH; }

void Supervisor::describe_end() {
  if (!WIFSIGNALED(status_)) {
    ending_.code = WEXITSTATUS(status_);
    return;
  }
  ending_.signal = WTERMSIG(status_);
  ending_.code = 128 + ending_.signal;
  if (ending_.reason[0] != 0) return;
  const char* description = sigdescr_np(ending_.signal);
  std::snprintf(ending_.reason, sizeof ending_.reason, "ended by signal %d (%s)", ending_.signal,
                description != nullptr ? description : "real-time");
}

}  // namespace kron::exec
