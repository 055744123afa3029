#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <unistd.h>

#include "kron/runner/exec/deadline.h"
#include "kron/runner/exec/supervisor.h"
#include "kron/runner/protocol.h"

// Whether an attempt has failed, what it used, and what comes after it.
namespace kron::exec {

void Supervisor::judge(bool was_ended) {
  const ProcessSettings& job = instructions_.process;
  const CommandEnd end{*ending_.code, was_ended, counts_errors() && wrote_errors_};
  ending_.failed = has_failed(end, job.fails_on, job.success_exit);
  const bool by_code = has_failed({end.code, was_ended, false}, job.fails_on, job.success_exit);
  if (*ending_.failed && !by_code) add_reason(runner::kWroteErrors);
}

// Of a process that has ended and of those that it has waited for; the others come to us (prepare).
void Supervisor::count(const rusage& used) {
  constexpr std::uint64_t kBlock = 512;
  constexpr std::uint64_t kKibibyte = 1024;
  const auto time_of = [](const timeval& time) {
    return std::chrono::microseconds(std::int64_t{time.tv_sec} * 1'000'000 + time.tv_usec);
  };
  used_.user += time_of(used.ru_utime);
  used_.system += time_of(used.ru_stime);
  used_.memory = std::max(used_.memory, static_cast<std::uint64_t>(used.ru_maxrss) * kKibibyte);
  used_.read += static_cast<std::uint64_t>(used.ru_inblock) * kBlock;
  used_.written += static_cast<std::uint64_t>(used.ru_oublock) * kBlock;
}

bool Supervisor::is_to_try_again() const {
  return phase_ == Phase::running && ending_.attempts <= retries_ && ending_.failed.value_or(false);
}

// False: there is no further attempt, and the reason says why.
bool Supervisor::wait_for_next() {
  backoff_ = backoff_after(ending_.attempts, instructions_.process.backoff.value_or(kUsualBackoff));
  next_attempt_ = deadline_after(backoff_ * kSecond);
  if (deadline_ != 0 && next_attempt_ >= deadline_) {
    give_up("no time left in its timeout for");
    return false;
  }
  // If we are killed from here on, nothing is left to be ended but what the command itself has left.
  directory_.forget_processes();
  phase_ = Phase::waiting;
  do {
    turn();
  } while (phase_ == Phase::waiting && monotonic_now() < next_attempt_);
  if (phase_ != Phase::waiting) return false;
  phase_ = Phase::running;
  mark_attempt();
  // What an earlier attempt has left behind and goes on writing is not heard any more, as after the end of a run.
  for (Sink& sink : sinks_) {
    if (sink.fd >= 0) ::close(sink.fd);
    sink.fd = -1;
  }
  if (!open_descriptors()) refusal_ = {"open what is needed for", "the command", errno};
  return true;
}

void Supervisor::give_up(const char* reason) {
  char text[96];
  std::snprintf(text, sizeof text, "%s attempt %u", reason, ending_.attempts + 1);
  add_reason(text);
  phase_ = Phase::given_up;
}

// A line between the outputs of two attempts.
void Supervisor::mark_attempt() {
  if (instructions_.out.kind != OutputKind::capture && instructions_.err.kind != OutputKind::capture) return;
  char line[96];
  const int size = std::snprintf(line, sizeof line, "%s[kron: attempt %u of %u, %us after exit %d]\n",
                                 output_.ends_a_line() ? "" : "\n", ending_.attempts + 1, retries_ + 1, backoff_,
                                 ending_.code.value_or(0));
  output_.append(line, static_cast<std::size_t>(size));
}

}  // namespace kron::exec
