#include "kron/http/passed_sockets.h"

#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kron::http {
namespace {

// In a process of its own, whose descriptors from 3 on are its own to arrange: what it exits with.
template <class Work>
int in_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void pass(const std::string& process, const char* count) {
  ::setenv("LISTEN_PID", process.c_str(), 1);
  ::setenv("LISTEN_FDS", count, 1);
  ::setenv("LISTEN_FDNAMES", "a:b", 1);
}

TEST(PassedSockets, AreTakenInOrderAndOnce) {
  const int status = in_child([] {
    const int first = ::socket(AF_INET, SOCK_STREAM, 0);
    const int second = ::fcntl(::socket(AF_INET, SOCK_STREAM, 0), F_DUPFD, 100);
    if (::dup2(second, 4) != 4 || (first != 3 && ::dup2(first, 3) != 3)) return 1;
    pass(std::to_string(::getpid()), "2");
    const std::vector<Descriptor> sockets = take_passed_sockets();
    if (sockets.size() != 2 || sockets[0].get() != 3 || sockets[1].get() != 4) return 2;
    if ((::fcntl(3, F_GETFD) & FD_CLOEXEC) == 0) return 3;
    if (std::getenv("LISTEN_FDS") != nullptr || std::getenv("LISTEN_PID") != nullptr) return 4;
    return take_passed_sockets().empty() ? 0 : 5;
  });
  EXPECT_EQ(status, 0);
}

TEST(PassedSockets, ThoseOfAnotherProcessAreNot) {
  for (const char* count : {"1", "-1", "two", "", "99999999999", "2000"}) {
    EXPECT_EQ(in_child([&] {
                pass(std::to_string(std::string_view(count) == "1" ? ::getppid() : ::getpid()), count);
                return take_passed_sockets().empty() && std::getenv("LISTEN_FDS") == nullptr ? 0 : 1;
              }),
              0)
        << count;
  }
  EXPECT_EQ(in_child([] { return take_passed_sockets().empty() ? 0 : 1; }), 0);
}

}  // namespace
}  // namespace kron::http
