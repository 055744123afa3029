#include "kron/runner/exec/helper_fork.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kron/runner/protocol.h"

namespace kron::exec {
namespace {

struct Received {
  Request request;
  int gate = -1;
  int file = -1;  // -1: the instructions are in the message
};

char message[runner::kMostInRequest];

// False: krond has ended.
bool receive(Received& received) {
  iovec part{message, sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
  msghdr head{};
  head.msg_iov = &part;
  head.msg_iovlen = 1;
  head.msg_control = control;
  head.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(runner::kRequestsDescriptor, &head, MSG_CMSG_CLOEXEC);
  if (size <= 0) return false;
  const cmsghdr* rights = CMSG_FIRSTHDR(&head);
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS) return true;
  int descriptors[2] = {-1, -1};
  std::memcpy(descriptors, CMSG_DATA(rights), rights->cmsg_len - CMSG_LEN(0));
  received = {{}, descriptors[0], descriptors[1]};
  if (received.file < 0) received.request = {message, static_cast<std::size_t>(size)};
  return true;
}

// Where the kernel is to write the PID of each process it makes for us. krond reads it if we are killed before we can
// tell.
pid_t* map_forked() {
  void* place =
      ::mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, runner::kForkedDescriptor, 0);
  ::close(runner::kForkedDescriptor);
  return place == MAP_FAILED ? nullptr : static_cast<pid_t*>(place);
}

// Our memory is small, so a copy of it costs little. What is made has our parent, so krond learns how it ended, and
// loses none of them with us. By system call: fork() cannot say that.
long fork_sibling(pid_t* forked) {
  return ::syscall(SYS_clone, CLONE_PARENT | CLONE_PARENT_SETTID | SIGCHLD, nullptr, forked, nullptr, nullptr);
}

void move_to(int from, int to) {
  if (from == to) return;
  ::dup3(from, to, O_CLOEXEC);
  ::close(from);
}

void become_helper(Received& received) {
  ::setpgid(0, 0);
  // Only if a standard descriptor is closed are the new ones not where they belong or above.
  if (received.gate != runner::kGateDescriptor && received.file == runner::kGateDescriptor) {
    received.file = ::fcntl(received.file, F_DUPFD, runner::kRunsDescriptor + 1);
  }
  move_to(received.gate, runner::kGateDescriptor);
  if (received.file >= 0) {
    move_to(received.file, runner::kInstructionsDescriptor);
  } else {
    ::close(runner::kRequestsDescriptor);
  }
}

void answer(std::int32_t number) {
  (void)!::send(runner::kRequestsDescriptor, &number, sizeof number, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

bool is_server(int count, char** arguments) {
  return count == 3 && std::strcmp(arguments[1], runner::kServeArgument) == 0;
}

Request serve() {
  pid_t* const forked = map_forked();
  Received received;
  while (forked != nullptr && receive(received)) {
    if (received.gate < 0) {
      answer(-EMFILE);  // the system lets us have no more
      continue;
    }
    const long pid = fork_sibling(forked);
    if (pid == 0) {
      ::munmap(forked, sizeof *forked);
      become_helper(received);
      return received.request;
    }
    answer(static_cast<std::int32_t>(pid > 0 ? pid : -errno));
    ::close(received.gate);
    if (received.file >= 0) ::close(received.file);
    received = {};
  }
  ::_exit(0);
}

void set_title(char** arguments, const char* run_id) {
  char* const begin = arguments[1];
  char* const end = arguments[2] + std::strlen(arguments[2]);
  const std::size_t room = static_cast<std::size_t>(end - begin);
  std::memset(begin, 0, room);
  std::memcpy(begin, run_id, ::strnlen(run_id, room - 1));
}

}  // namespace kron::exec
