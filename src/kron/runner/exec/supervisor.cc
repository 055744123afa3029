#include "kron/runner/exec/supervisor.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "kron/runner/exec/deadline.h"
#include "kron/runner/exec/small_steps.h"
#include "kron/runner/protocol.h"

namespace kron::exec {
namespace {

constexpr std::int64_t kAfterKill = 2 * kSecond;
constexpr std::size_t kReadAtOnce = 64 << 10;
constexpr char kSyslogSocket[] = "/dev/log";

}  // namespace

Supervisor::Supervisor(Instructions& instructions, RunDirectory& directory)
    : instructions_(instructions),
      directory_(directory),
      cgroup_(instructions.cgroup, instructions.run_id),
      output_(directory, instructions.capture),
      retries_(instructions.process.retry.value_or(0)) {}

Supervisor::~Supervisor() {
  if (secrets_ == nullptr) return;
  secrets_->~RunSecrets();
  std::free(secrets_);
}

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

  const bool complete =
      open_descriptors() && signals_ >= 0 && null_ >= 0 && (!instructions_.has_lease || lease_.open());
  if (complete) return;
  refusal_ = {"open what is needed for", "the command", errno};
  retries_ = 0;
}

// Of one attempt.
bool Supervisor::open_descriptors() {
  descriptors_.in = input_descriptor();
  descriptors_.out = open_sink(instructions_.out, sinks_[0], STDOUT_FILENO, LOG_INFO);
  const bool shared = instructions_.out.kind == OutputKind::capture && instructions_.err.kind == OutputKind::capture &&
                      !counts_errors();
  descriptors_.err = shared ? descriptors_.out : open_sink(instructions_.err, sinks_[1], STDERR_FILENO, LOG_WARNING);
  return descriptors_.in >= 0 && descriptors_.out >= 0 && descriptors_.err >= 0;
}

int Supervisor::input_descriptor() {
  if (!instructions_.input) return null_;
  const int fd = ::memfd_create("kron-stdin", MFD_CLOEXEC);
  const std::size_t size = instructions_.input->size();
  if (fd < 0 || ::write(fd, instructions_.input->data(), size) != static_cast<ssize_t>(size)) return -1;
  return ::lseek(fd, 0, SEEK_SET) == 0 ? fd : -1;
}

int Supervisor::open_sink(const Stream& stream, Sink& sink, int inherited, int priority) {
  if (stream.kind == OutputKind::inherit) return inherit(sink, inherited);
  if (stream.kind == OutputKind::file) return null_;
  const bool is_heard = &sink == &sinks_[1] && counts_errors();
  if (stream.kind == OutputKind::discard) return is_heard ? open_pipe(sink) : null_;
  sink.captured = stream.kind == OutputKind::capture;
  if (!sink.captured && !sink.lines.is_open()) {
    sink.lines.open(kSyslogSocket, instructions_.run_id, LOG_CRON | priority);
  }
  return open_pipe(sink);
}

int Supervisor::open_pipe(Sink& sink) const {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  sink.fd = ends[0];
  return ends[1];
}

// Our own standard descriptors are the daemon's until the command has started (release_descriptors).
int Supervisor::inherit(Sink& sink, int standard) const {
  if (retries_ == 0) return standard;
  if (sink.inherited < 0) sink.inherited = ::fcntl(standard, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  return sink.inherited;
}

Ending Supervisor::run() {
  ending_.started = time_now(CLOCK_REALTIME);
  name_helper();
  if (may_start() && take_secrets()) {
    do {
      attempt();
    } while (is_to_try_again() && wait_for_next());
  }
  // Before the end is recorded: who knows of it finds nothing of them.
  if (secrets_ != nullptr) secrets_->remove();
  ending_.ended = time_now(CLOCK_REALTIME);
  ending_.output_bytes = output_.written();
  ending_.output_lost = output_.lost();
  ending_.output_error = output_.error();
  if (ending_.code && ending_.attempts > 0) {
    cgroup_.add_to(used_);
    ending_.used = used_;
  }
  return ending_;
}

// By this, whoever ends what a killed kron-exec has left tells it from a run of another krond.
void Supervisor::name_helper() {
  std::snprintf(helper_variable_, sizeof helper_variable_, "%s=%d", runner::kHelperVariable, ::getpid());
  *instructions_.more++ = helper_variable_;
}

bool Supervisor::may_start() {
  if (refusal_.verb == nullptr && lease_.has_run_out()) {
    // Another host may hold the lock by now. Without a code the record says that nothing was executed.
    add_reason(runner::kLeaseOverBefore);
    return false;
  }
  if (instructions_.timeout > 0) deadline_ = deadline_after(instructions_.timeout);
  return true;
}

// As late as can be: what the files say now is what the run gets. There is no second attempt at reading them.
bool Supervisor::take_secrets() {
  if (refusal_.verb != nullptr) return true;
  if (const char* limit = cgroup_.set_limits(instructions_.process)) {
    char reason[192];
    std::snprintf(reason, sizeof reason, "cannot set %s of the run: %s; it needs cgroup v2 that krond may divide",
                  limit, strerrordesc_np(errno));
    refuse_with(reason);
    return false;
  }
  if (instructions_.env_file_count == 0 && instructions_.credential_count == 0) return true;
  void* place = std::malloc(sizeof(RunSecrets));
  secrets_ = place != nullptr ? ::new (place) RunSecrets : nullptr;
  const char* const problem =
      secrets_ != nullptr ? secrets_->take(instructions_) : "there is no memory for its secrets";
  if (problem == nullptr) return true;
  refuse_with(problem);
  return false;
}

// In its output as well, where whoever looks for what the command said finds it.
void Supervisor::refuse_with(const char* reason) {
  char line[sizeof ending_.reason + 16];
  const int size = std::snprintf(line, sizeof line, "[kron: %s]\n", reason);
  const bool is_captured =
      instructions_.out.kind == OutputKind::capture || instructions_.err.kind == OutputKind::capture;
  if (is_captured) output_.append(line, static_cast<std::size_t>(size));
  ending_.code = runner::kCannotExecute;
  add_reason(reason);
  judge(true);
}

void Supervisor::attempt() {
  ++ending_.attempts;
  ending_.code.reset();
  ending_.signal = 0;
  ending_.reason[0] = 0;
  has_ended_ = false;
  wrote_errors_ = false;
  command_ = -1;
  if (!start()) return;
  while (!is_over()) turn();
  drain();
  describe_end();
}

bool Supervisor::start() {
  if (instructions_.process.retry) {
    std::snprintf(attempt_variable_, sizeof attempt_variable_, "%s=%u", runner::kAttemptVariable, ending_.attempts);
    *instructions_.more = attempt_variable_;
  }
  if (refusal_.verb == nullptr) {
    command_ = start_command(instructions_, descriptors_, cgroup_, directory_.started(), refusal_);
  }
  release_descriptors();
  if (refusal_.verb == nullptr) return true;
  rusage used{};
  if (command_ > 0 && ::wait4(command_, nullptr, 0, &used) == command_) count(used);
  refuse(refusal_);
  refusal_ = {};
  return false;
}

// Only the command holds what is the command's: a reader of the daemon's output must not wait for us, unless there may
// be another attempt, and the pipes must end with their last writer.
void Supervisor::release_descriptors() {
  for (const int own : {descriptors_.in, descriptors_.out, descriptors_.err}) {
    const bool is_kept = own == null_ || own == sinks_[0].inherited || own == sinks_[1].inherited;
    if (own > STDERR_FILENO && !is_kept) ::close(own);
  }
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null_, standard);
}

void Supervisor::refuse(const Refusal& refusal) {
  const bool is_missing =
      std::strcmp(refusal.verb, "execute") == 0 && (refusal.error == ENOENT || refusal.error == ENOTDIR);
  ending_.code = is_missing ? runner::kNotFound : runner::kCannotExecute;
  std::snprintf(ending_.reason, sizeof ending_.reason, "cannot %s %.300s: %s", refusal.verb, refusal.object,
                strerrordesc_np(refusal.error));
  judge(true);
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
      kill_now();
    } else {
      reap();
    }
  }
}

void Supervisor::reap() {
  int status = 0;
  rusage used{};
  for (pid_t pid = ::wait4(-1, &status, WNOHANG, &used); pid > 0; pid = ::wait4(-1, &status, WNOHANG, &used)) {
    count(used);
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
    if (&sink == &sinks_[1]) wrote_errors_ = true;
    store(sink, buffer, size);
  } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
    ::close(sink.fd);
    sink.fd = -1;
  }
}

void Supervisor::store(Sink& sink, const char* bytes, std::size_t size) {
  struct Place {
    Supervisor& supervisor;
    Sink& sink;
  } place{*this, sink};
  const auto keep = [](void* context, const char* part, std::size_t length) {
    auto& [supervisor, to] = *static_cast<Place*>(context);
    if (to.captured) {
      supervisor.output_.append(part, length);
    } else if (to.lines.is_open()) {
      to.lines.append(part, length);
    }
  };
  if (!masks()) return keep(&place, bytes, size);
  if (bytes != nullptr) return sink.mask.append(secrets_->masked(), bytes, size, keep, &place);
  sink.mask.finish(secrets_->masked(), keep, &place);
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
    if (masks()) store(sink, nullptr, 0);
    if (sink.lines.is_open()) sink.lines.finish();
  }
}

std::int64_t Supervisor::next_deadline() const {
  if (phase_ == Phase::waiting) return next_attempt_;
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
  if (phase_ == Phase::waiting) give_up("terminated before");
  if (phase_ != Phase::running) return;
  phase_ = Phase::terminating;
  deadline_ = deadline_after(instructions_.grace);
  std::snprintf(ending_.reason, sizeof ending_.reason, "%s", reason);
  ::kill(-command_, SIGTERM);
  ::kill(-command_, SIGCONT);  // a stopped process would not hear the TERM
}

void Supervisor::kill_now() {
  if (phase_ == Phase::waiting) give_up("killed before");
  if (phase_ == Phase::given_up) return;
  if (ending_.reason[0] == 0) add_reason("killed");
  kill_group();
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
  if (phase_ == Phase::killed || phase_ == Phase::given_up) return;
  add_reason(runner::kLeaseOver);
  if (phase_ == Phase::waiting) {
    phase_ = Phase::given_up;
  } else {
    kill_group();
  }
}

bool Supervisor::is_over() {
  if (!has_ended_) return false;
  if (phase_ == Phase::running || group_is_empty()) return true;
  return phase_ == Phase::killed && monotonic_now() >= deadline_;
}

// Members that died are ours to reap, as their parents are gone; until we do, the number of the group stays taken.
bool Supervisor::group_is_empty() const { return ::kill(-command_, 0) != 0 && errno == ESRCH; }

void Supervisor::describe_end() {
  const std::uint64_t killed = cgroup_.killed_for_memory();
  if (killed > killed_for_memory_) add_reason(runner::kOutOfMemory);
  killed_for_memory_ = killed;
  if (!WIFSIGNALED(status_)) {
    ending_.code = WEXITSTATUS(status_);
    return judge(phase_ != Phase::running);
  }
  ending_.signal = WTERMSIG(status_);
  ending_.code = 128 + ending_.signal;
  judge(phase_ != Phase::running);
  if (ending_.reason[0] != 0) return;
  const char* description = sigdescr_np(ending_.signal);
  std::snprintf(ending_.reason, sizeof ending_.reason, "ended by signal %d (%s)", ending_.signal,
                description != nullptr ? description : "real-time");
}

}  // namespace kron::exec
