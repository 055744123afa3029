#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "kron/base/duration.h"
#include "kron/env/descriptor.h"
#include "kron/env/system_error.h"
#include "notify_verbs.h"

namespace kron::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A program of ours, and what it has left to read.
struct FedProgram {
  pid_t pid;
  Descriptor process;  // a pidfd
  Descriptor input;    // until it has all, or reads no more
  std::string_view rest;
};

// Until it has ended: none. Else the signal that interrupts us, or 0 when the time is up.
std::optional<int> wait_for_program(FedProgram& fed, int signals, std::optional<SteadyClock::time_point> deadline) {
  while (true) {
    std::chrono::milliseconds left{-1};
    if (deadline) {
      left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - SteadyClock::now());
      if (left.count() <= 0) return 0;
    }
    pollfd watched[3] = {{fed.process.get(), POLLIN, 0}, {fed.input.get(), POLLOUT, 0}, {signals, POLLIN, 0}};
    if (::poll(watched, 3, static_cast<int>(left.count())) < 0) continue;
    if (watched[0].revents != 0) return std::nullopt;
    if (signalfd_siginfo signal{}; watched[2].revents != 0) {
      if (::read(signals, &signal, sizeof signal) == sizeof signal) return static_cast<int>(signal.ssi_signo);
    }
    if (watched[1].revents == 0) continue;
    const ssize_t written = ::write(fed.input.get(), fed.rest.data(), fed.rest.size());
    if (written > 0) fed.rest.remove_prefix(static_cast<std::size_t>(written));
    // What it does not read does not matter: its exit status tells.
    const bool reads_no_more = written < 0 && errno != EAGAIN && errno != EINTR;
    if (fed.rest.empty() || reads_no_more) fed.input = Descriptor();
  }
}

Status status_of_program(const std::string& program, int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    return fail(Code::unreachable, "cannot execute " + program + ", or it ended with status 127");
  }
  return fail(Code::unreachable,
              program + (WIFEXITED(status) ? " ended with status " + std::to_string(WEXITSTATUS(status))
                                           : " was ended by signal " + std::to_string(WTERMSIG(status))));
}

}  // namespace

Status run_program(const std::vector<std::string>& words, std::string_view input, std::optional<Seconds> limit) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(system_error("make a pipe for", words[0], errno));
  Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // With a limit it has a process group of its own, which is killed as a whole. The terminal does not reach it there,
  // so what would end us is taken by us, and ends it first.
  sigset_t ours;
  sigset_t before;
  sigemptyset(&ours);
  if (limit) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ours, signal);
  }
  ::sigprocmask(SIG_BLOCK, &ours, &before);
  const Descriptor signals(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
  const pid_t child = ::fork();
  if (child == 0) {
    if (limit) ::setpgid(0, 0);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::dup2(out.get(), STDIN_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  const int error = errno;
  if (child < 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return fail(system_error("start", words[0], error));
  }
  if (limit) ::setpgid(child, child);  // whoever of the two is first
  out = Descriptor();
  ::signal(SIGPIPE, SIG_IGN);
  ::fcntl(in.get(), F_SETFL, O_NONBLOCK);
  FedProgram fed{child, Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, child, 0))), std::move(in), input};
  const std::optional<int> cut =
      wait_for_program(fed, signals.get(), limit ? std::optional(SteadyClock::now() + *limit) : std::nullopt);
  if (cut) ::kill(-child, SIGKILL);
  int status = 0;
  uninterrupted([&] { return ::waitpid(child, &status, 0); });
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (!cut) return status_of_program(words[0], status);
  if (*cut != 0) {
    ::raise(*cut);
    return fail(Code::unreachable, words[0] + " was ended with kron");
  }
  return fail(Code::unreachable, words[0] + " has not ended within " + duration_text(*limit) +
                                     " and was killed; does it wait for something, or for somebody to answer?");
}

}  // namespace kron::cli
