#pragma once

#include <poll.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

// A descriptor that stands for one process, whoever gets its PID later. By system call: glibc 2.36 declares its own
// functions for this in a way that C++ cannot link.
namespace kron::runner {

// Close-on-exec; readable when the process has ended. -1 and errno: there is none, or no descriptor is left.
inline int open_pidfd(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

inline bool signal_pidfd(int pidfd, int signal) {
  return ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) == 0;
}

// Whether nothing but its exit status is left of it, if that: none of its threads lives.
inline bool has_ended(int pidfd) {
  pollfd event{pidfd, POLLIN, 0};
  return ::poll(&event, 1, 0) == 1;
}

}  // namespace kron::runner
