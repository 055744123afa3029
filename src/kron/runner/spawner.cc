#include "kron/runner/spawner.h"

#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "kron/env/system_error.h"
#include "kron/runner/protocol.h"

namespace kron::runner {
namespace {

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void give(int own, int theirs) { ::posix_spawn_file_actions_adddup2(&actions_, own, theirs); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

Result<Descriptor> memory_file(const std::string& bytes) {
  Descriptor file(::memfd_create("kron-instructions", MFD_CLOEXEC));
  if (!file) return fail(system_error("create", "a memory file for kron-exec", errno));
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t taken = uninterrupted([&] { return ::write(file.get(), bytes.data() + at, bytes.size() - at); });
    if (taken < 0) return fail(system_error("write", "a memory file for kron-exec", errno));
    at += static_cast<std::size_t>(taken);
  }
  return file;
}

// kron-exec's numbers must not be among ours, or giving one would close another that is still to be given.
Descriptor out_of_the_way(Descriptor own) {
  if (own.get() > kRunsDescriptor) return own;
  return Descriptor(::fcntl(own.get(), F_DUPFD_CLOEXEC, kRunsDescriptor + 1));
}

}  // namespace

Spawner::Spawner(std::string helper, int runs)
    : helper_(std::move(helper)), runs_(::fcntl(runs, F_DUPFD_CLOEXEC, kRunsDescriptor + 1)) {
  sigset_t all;
  ::sigfillset(&all);
  ::posix_spawnattr_init(&attributes_);
  ::posix_spawnattr_setsigmask(&attributes_, &all);
  ::posix_spawnattr_setsigdefault(&attributes_, &all);
  // A group of its own keeps it from what is sent to ours. A session would too, but starting one costs a scheduling
  // group in the kernel, while we wait.
  ::posix_spawnattr_setpgroup(&attributes_, 0);
  ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

Spawner::~Spawner() { ::posix_spawnattr_destroy(&attributes_); }

Result<Spawned> Spawner::spawn(const std::string& instructions) {
  Result<Descriptor> file = memory_file(instructions);
  if (!file) return fail(std::move(file.error()));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(system_error("create", "a gate for kron-exec", errno));
  }
  Spawned spawned{0, Descriptor(ends[0])};
  const Descriptor read_end = out_of_the_way(*std::move(file));
  const Descriptor gate_end = out_of_the_way(Descriptor(ends[1]));
  if (!read_end || !gate_end || !runs_) return fail(system_error("open", "the descriptors of kron-exec", errno));
  FileActions actions;
  actions.give(read_end.get(), kInstructionsDescriptor);
  actions.give(gate_end.get(), kGateDescriptor);
  actions.give(runs_.get(), kRunsDescriptor);
  char* const arguments[] = {helper_.data(), nullptr};
  char* const environment[] = {nullptr};
  const int error = ::posix_spawn(&spawned.pid, helper_.c_str(), actions.get(), &attributes_, arguments, environment);
  if (error != 0) return fail(system_error("start", helper_, error));
  return spawned;
}

}  // namespace kron::runner
