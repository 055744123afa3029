#include "systemctl.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "kron/base/text.h"

extern char** environ;

namespace kron::cli {
namespace {

constexpr std::size_t kMostSystemctlBytes = std::size_t{64} << 20;

// All that comes, until the other end is closed. False when it is more than that, or cannot be read.
bool read_to_end(int descriptor, std::string& text) {
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > kMostSystemctlBytes) return false;
  }
}

}  // namespace

Result<std::string> shown_by_systemctl(std::span<const std::string> units) {
  std::vector<std::string> words{"systemctl", "show", "--no-pager", "--"};
  words.insert(words.end(), units.begin(), units.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(Code::io, "no pipe could be made");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv.front(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  const bool is_read = error == 0 && read_to_end(ends[0], text);
  ::close(ends[0]);
  if (error != 0) {
    return fail(Code::unreachable,
                "there is no systemctl here; give --from FILE with what `systemctl show '*.timer' "
                "'*.service'` prints on the machine with the timers");
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!is_read) return fail(Code::io, "systemctl printed more than 64 MiB, or could not be read");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fail(Code::unreachable,
                "systemctl could not show the timers (see above); give --from FILE with what it shows "
                "on the machine with the timers");
  }
  return text;
}

}  // namespace kron::cli
