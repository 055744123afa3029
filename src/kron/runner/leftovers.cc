#include "kron/runner/leftovers.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <sys/epoll.h>
#include <unistd.h>

#include "kron/runner/cgroups.h"
#include "kron/runner/pidfd.h"
#include "kron/runner/process_identity.h"
#include "kron/runner/protocol.h"

namespace kron::runner {
namespace {

constexpr std::size_t kMostEnvironment = 1 << 20;

struct CloseProc {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

std::vector<pid_t> all_processes() {
  std::vector<pid_t> all;
  const std::unique_ptr<DIR, CloseProc> stream(::opendir("/proc"));
  while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) all.push_back(pid);
  }
  return all;
}

// What it was started with. Empty when we may not see it, as that of another user's process.
std::string environment_of(pid_t pid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/environ", pid);
  const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  std::string all(1, '\0');
  char part[4096];
  while (file && all.size() < kMostEnvironment) {
    const ssize_t size = uninterrupted([&] { return ::read(file.get(), part, sizeof part); });
    if (size <= 0) break;
    all.append(part, static_cast<std::size_t>(size));
  }
  return all;
}

class Members {
 public:
  explicit Members(const Leftovers& leftovers)
      : session_(leftovers.session),
        run_('\0' + ("KRON_RUN_ID=" + leftovers.run_id) + '\0'),
        helper_('\0' + (std::string(kHelperVariable) + "=" + std::to_string(leftovers.helper)) + '\0') {
    if (!session_) return;
    // The leader's PID is given to no other process while the session has members. If another has it now, one that
    // was started later, the session is over.
    const std::optional<std::uint64_t> leader_began = start_time_of(session_->id);
    const bool is_another = leader_began && *leader_began > session_->tick;
    if (is_another || (!leader_began && leftovers.is_long_ago)) session_.reset();
  }

  bool is_leader(pid_t pid) const { return session_ && pid == session_->id; }

  bool has(pid_t pid) const {
    if (session_ && ::getsid(pid) == session_->id) return true;
    const std::string environment = environment_of(pid);
    return environment.find(run_) != std::string::npos && environment.find(helper_) != std::string::npos;
  }

 private:
  std::optional<Session> session_;
  // Both: another krond of this machine may have the same job, and with it a run of the same id.
  std::string run_;
  std::string helper_;
};

void end_once(const Members& members, Dying& dying) {
  const pid_t own = ::getpid();
  for (const pid_t pid : all_processes()) {
    if (pid == own || !members.has(pid)) continue;
    // The descriptor first, then the question again: it is this very process that the answer is about.
    Descriptor process(open_pidfd(pid));
    if (!process && errno == ESRCH) continue;
    if (!members.has(pid) || (process && has_ended(process.get()))) continue;
    ++dying.count;
    dying.has_others = dying.has_others || !members.is_leader(pid);
    if (!process) {
      ::kill(pid, SIGKILL);
      continue;
    }
    (void)signal_pidfd(process.get(), SIGKILL);
    dying.awaited.push_back({std::move(process), EPOLLIN});
  }
}

// The path is from a file; only that of this run's own cgroup is believed.
bool is_cgroup_of(std::string_view run_id, std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return path.starts_with('/') && name.starts_with(kCgroupPrefix + std::string(run_id) + '-');
}

// Nothing: there is no such cgroup to be seen.
std::optional<Dying> end_by_cgroup(const Session& session) {
  DyingCgroup cgroup;
  Dying dying;
  switch (end_cgroup(session.cgroup, cgroup)) {
    case CgroupEnd::unknown:
      return std::nullopt;
    case CgroupEnd::empty:
      return dying;
    case CgroupEnd::dying:
      break;
  }
  dying.count = std::max<std::size_t>(cgroup.processes.size(), 1);
  dying.has_others = cgroup.processes != std::vector<pid_t>{session.id};
  dying.awaited.push_back({std::move(cgroup.changed), EPOLLPRI});
  return dying;
}

}  // namespace

// A process that forks and ends while the list is read may be missed together with its child: so an empty answer is
// asked for twice.
Dying end_leftovers(const Leftovers& leftovers) {
  const std::optional<Session>& session = leftovers.session;
  Dying dying;
  if (leftovers.is_long_ago && session && parent_of(session->id) == leftovers.helper) return dying;  // it is not dead
  if (session && is_cgroup_of(leftovers.run_id, session->cgroup)) {
    if (std::optional<Dying> by_cgroup = end_by_cgroup(*session)) return *std::move(by_cgroup);
  }
  const Members members(leftovers);
  end_once(members, dying);
  if (dying.count == 0) end_once(members, dying);
  return dying;
}

}  // namespace kron::runner
