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
  int file = -1;   // -1: the instructions are in the message
  int lease = -1;  // -1: there is none
};

char message[runner::kMostInRequest];

void close_if_open(int descriptor) {
  if (descriptor >= 0) ::close(descriptor);
}

// False: krond has ended. Without a gate: the system lets us have no more descriptors.
bool receive(Received& received) {
  iovec part{message, sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(runner::kMostPassed * sizeof(int))];
  msghdr head{};
  head.msg_iov = &part;
  head.msg_iovlen = 1;
  head.msg_control = control;
  head.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(runner::kRequestsDescriptor, &head, MSG_CMSG_CLOEXEC);
  if (size <= 0) return false;
  const cmsghdr* rights = CMSG_FIRSTHDR(&head);
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS) return true;
  int descriptors[runner::kMostPassed] = {-1, -1, -1};
  std::memcpy(descriptors, CMSG_DATA(rights), rights->cmsg_len - CMSG_LEN(0));
  if ((head.msg_flags & MSG_CTRUNC) != 0) {
    for (const int descriptor : descriptors) close_if_open(descriptor);
    return true;
  }
  const bool is_in_file = size == 1 && message[0] == runner::kInFile[0];
  received = {{}, descriptors[0], is_in_file ? descriptors[1] : -1, descriptors[is_in_file ? 2 : 1]};
  if (!is_in_file) received.request = {message, static_cast<std::size_t>(size)};
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

// The same descriptor with a number that none of ours has: moving another there would close it.
int out_of_the_way(int descriptor) {
  if (descriptor < 0 || descriptor > runner::kLastDescriptor) return descriptor;
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, runner::kLastDescriptor + 1);
  ::close(descriptor);
  return moved;
}

void become_helper(Received& received) {
  ::setpgid(0, 0);
  // One that comes to stand where it belongs stays there.
  if (received.gate != runner::kGateDescriptor) received.gate = out_of_the_way(received.gate);
  received.file = out_of_the_way(received.file);
  if (received.lease != runner::kLeaseDescriptor) received.lease = out_of_the_way(received.lease);
  move_to(received.gate, runner::kGateDescriptor);
  if (received.lease >= 0) move_to(received.lease, runner::kLeaseDescriptor);
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
  ::close(runner::kLeaseDescriptor);  // of no run
  Received received;
  while (forked != nullptr && receive(received)) {
    if (received.gate < 0) {
      answer(-EMFILE);
      continue;
    }
    const long pid = fork_sibling(forked);
    if (pid == 0) {
      ::munmap(forked, sizeof *forked);
      become_helper(received);
      return received.request;
    }
    const auto told = static_cast<std::int32_t>(pid > 0 ? pid : -errno);
    // Before the answer: as long as we have the gate open, the death of the helper does not close it.
    ::close(received.gate);
    close_if_open(received.file);
    close_if_open(received.lease);
    received = {};
    answer(told);
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
