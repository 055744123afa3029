#include "kron/daemon/web_front.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kron/base/duration.h"
#include "kron/env/system_error.h"

namespace kron::daemon {
namespace {

// Between fork and exec nothing but system calls: krond has threads, whose locks nobody gives back here.
[[noreturn]] void become_front(const WebFront::Options& options, const std::vector<char*>& words, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  sigset_t blocked;
  sigemptyset(&blocked);
  // reload() may come before the front listens to it.
  if (!options.is_deliverer) sigaddset(&blocked, SIGHUP);
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
  // By their numbers: the functions of the C library would tell all threads, of which there are none here.
  bool ok = true;
  if (options.user) {
    const gid_t group = options.group.value_or(static_cast<gid_t>(*options.user));
    ok = ::syscall(SYS_setgroups, 0, nullptr) == 0 && ::syscall(SYS_setresgid, group, group, group) == 0 &&
         ::syscall(SYS_setresuid, *options.user, *options.user, *options.user) == 0;
  }
  ok = ok && (options.is_deliverer || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  // A change of user clears it.
  ok = ok && ::prctl(PR_SET_PDEATHSIG, SIGTERM) == 0;
  if (ok) ::execv(words[0], words.data());
  ::_exit(127);
}

}  // namespace

Result<std::string> find_kron(std::string_view program) {
  const std::string directory(program.substr(0, program.rfind('/')));
  for (const char* place : {"/kron", "/../bin/kron", "/../kron/kron"}) {
    std::string path = directory + place;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return fail(Code::not_found, "the program kron is needed in " + directory + " or in " + directory + "/../bin");
}

bool may_change_user(std::string_view status) {
  constexpr std::string_view kEffective = "CapEff:\t";
  const std::size_t at = status.find(kEffective);
  if (at == std::string_view::npos) return false;
  const std::string_view digits = status.substr(at + kEffective.size(), 16);
  std::uint64_t capabilities = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), capabilities, 16);
  constexpr std::uint64_t kBoth = (1U << 6U) | (1U << 7U);  // CAP_SETGID, CAP_SETUID
  return (capabilities & kBoth) == kBoth;
}

Nanoseconds WebFront::step() {
  constexpr Nanoseconds kNothingToDo = std::chrono::hours(1);
  const Nanoseconds present = clock_.monotonic();
  if (process_ && has_ended()) {
    process_ = Descriptor();
    const bool has_lasted = present - started_ >= kLasted;
    pause_ = has_lasted ? kFirstPause : std::min(2 * pause_, kLongestPause);
    trouble_ = has_lasted
                   ? std::string()
                   : options_.command[0] + " ended " + duration_text(std::chrono::floor<Seconds>(present - started_)) +
                         " after its start, and is started again; krond's log has what it says";
    next_ = present + pause_;
    const LogField pid{"pid", std::int64_t{pid_}};
    const LogField again{"againInSeconds", std::chrono::duration_cast<Seconds>(pause_).count()};
    if (options_.is_deliverer) {
      log_.warning("deliverer_ended", {pid, again});
    } else {
      log_.warning("web_front_ended", {pid, again});
    }
  }
  if (!process_ && !is_stopped_ && present >= next_) start();
  return process_ || is_stopped_ ? present + kNothingToDo : next_;
}

std::string WebFront::trouble() const {
  const bool has_lasted = process_ && clock_.monotonic() - started_ >= kLasted;
  return has_lasted || is_stopped_ ? std::string() : trouble_;
}

bool WebFront::has_ended() {
  siginfo_t how{};
  // Somebody else may have reaped it, as PID 1 does.
  const int result = ::waitid(P_PIDFD, static_cast<id_t>(process_.get()), &how, WEXITED | WNOHANG);
  return result != 0 || how.si_pid != 0;
}

void WebFront::start() {
  std::vector<char*> words;
  for (std::string& word : options_.command) words.push_back(word.data());
  words.push_back(nullptr);
  started_ = clock_.monotonic();
  next_ = started_ + pause_;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become_front(options_, words, parent);
  if (child < 0) {
    const std::string why = system_error("start", options_.command[0], errno).message;
    trouble_ = why;
    if (options_.is_deliverer) return log_.warning("deliverer_failed", {{"reason", why}});
    return log_.warning("web_front_failed", {{"reason", why}});
  }
  pid_ = child;
  process_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  const std::int64_t user = options_.user ? std::int64_t{*options_.user} : std::int64_t{::geteuid()};
  if (options_.is_deliverer) return log_.info("deliverer_started", {{"pid", std::int64_t{child}}});
  log_.info("web_front_started",
            {{"pid", std::int64_t{child}},
             {"user", user},
             {"reason", options_.user ? "a user of its own" : "krond's own user: it may not change it"}});
}

void WebFront::reload() const {
  if (process_) ::syscall(SYS_pidfd_send_signal, process_.get(), SIGHUP, nullptr, 0);
}

void WebFront::stop() {
  is_stopped_ = true;
  if (!process_) return;
  ::syscall(SYS_pidfd_send_signal, process_.get(), SIGTERM, nullptr, 0);
  siginfo_t how{};
  ::waitid(P_PIDFD, static_cast<id_t>(process_.get()), &how, WEXITED | WNOHANG);
  process_ = Descriptor();
}

}  // namespace kron::daemon
