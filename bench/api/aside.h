#pragma once

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>

namespace kron::bench {

// Work in a process of its own, so that what it takes is not counted with what is measured. Made while the present
// process has one thread.
template <class News>
class Aside {
  static_assert(std::is_trivially_copyable_v<News>);

 public:
  // `work` is given a function that sends News to this process; when it returns, its process ends.
  Aside(int niceness, auto&& work) {
    int ends[2];
    if (::pipe(ends) != 0 || (pid_ = ::fork()) < 0) std::abort();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::nice(niceness) == -1) std::perror("nice");
      work([&](const News& news) {
        if (::write(ends[1], &news, sizeof news) != sizeof news) ::_exit(1);
      });
      ::_exit(0);
    }
    ::close(ends[1]);
    from_ = ends[0];
  }
  ~Aside() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(from_);
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  pid_t pid() const { return pid_; }

  // Waits for news; nothing when the process has ended without any.
  std::optional<News> next() {
    News news;
    if (::read(from_, &news, sizeof news) != sizeof news) return std::nullopt;
    return news;
  }

 private:
  pid_t pid_ = -1;
  int from_ = -1;
};

}  // namespace kron::bench
