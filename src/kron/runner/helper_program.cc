#include "kron/runner/helper_program.h"

#include <csignal>
#include <fcntl.h>
#include <vector>

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

}  // namespace

HelperProgram::HelperProgram(std::string path) : path_(std::move(path)) {
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

HelperProgram::~HelperProgram() { ::posix_spawnattr_destroy(&attributes_); }

Result<pid_t> HelperProgram::execute(int third, int fourth, int fifth, int sixth,
                                     std::initializer_list<std::string> arguments) const {
  FileActions actions;
  actions.give(third, kInstructionsDescriptor);
  actions.give(fourth, kGateDescriptor);
  actions.give(fifth, kRunsDescriptor);
  if (sixth >= 0) actions.give(sixth, kLeaseDescriptor);
  std::vector<char*> words = {const_cast<char*>(path_.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  char* const environment[] = {nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, path_.c_str(), actions.get(), &attributes_, words.data(), environment);
  if (error != 0) return fail(system_error("start", path_, error));
  return pid;
}

Descriptor out_of_the_way(Descriptor own) {
  if (own.get() > kLastDescriptor) return own;
  return Descriptor(::fcntl(own.get(), F_DUPFD_CLOEXEC, kLastDescriptor + 1));
}

}  // namespace kron::runner
