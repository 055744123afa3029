#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kron/base/text.h"
#include "kron/env/deadline.h"
#include "kron/env/descriptor.h"
#include "kron/kube/exec_plugin.h"

namespace kron::kube {
namespace {

constexpr std::size_t kMostPrinted = std::size_t{1} << 20;

// Our environment with the plug-in's own variables in place of ours.
class Environment {
 public:
  Environment(const ExecPlugin& plugin, const std::string& info) {
    set("KUBERNETES_EXEC_INFO", info);
    for (const auto& [name, value] : plugin.environment) set(name, value);
    for (char** ours = environ; ours != nullptr && *ours != nullptr; ++ours) {
      const std::string_view variable = *ours;
      if (!is_set(variable.substr(0, variable.find('=')))) texts_.emplace_back(variable);
    }
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }

  char** get() { return pointers_.data(); }

 private:
  void set(const std::string& name, const std::string& value) {
    names_.push_back(name);
    texts_.push_back(name + "=" + value);
  }
  [[nodiscard]] bool is_set(std::string_view name) const {
    for (const std::string& one : names_) {
      if (one == name) return true;
    }
    return false;
  }

  std::vector<std::string> names_;
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

struct Attributes {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  explicit Attributes(int output) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    // A group of its own, so that what it starts can be ended with it; and signals as a program expects them.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t set;
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attributes, &set);
    sigaddset(&set, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &set);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
};

enum class Ending : std::uint8_t { whole, late, too_large };

Ending read_all(int output, int stop, Deadline deadline, std::string& printed) {
  char bytes[16384];
  while (true) {
    pollfd waited[] = {{.fd = output, .events = POLLIN, .revents = 0}, {.fd = stop, .events = POLLIN, .revents = 0}};
    if (uninterrupted([&] { return ::poll(waited, 2, milliseconds_left(deadline)); }) <= 0) return Ending::late;
    if (waited[1].revents != 0) return Ending::late;
    const ssize_t size = uninterrupted([&] { return ::read(output, bytes, sizeof bytes); });
    if (size <= 0) return Ending::whole;
    printed.append(bytes, static_cast<std::size_t>(size));
    if (printed.size() > kMostPrinted) return Ending::too_large;
  }
}

// Its exit code, 128 and more for a signal; -1: it has not ended in time.
int wait_for(pid_t process, int stop, Deadline deadline) {
  int status = 0;
  while (uninterrupted([&] { return ::waitpid(process, &status, WNOHANG); }) == 0) {
    pollfd waited{.fd = stop, .events = POLLIN, .revents = 0};
    if (time_left(deadline) == Nanoseconds(0) || ::poll(&waited, 1, 5) > 0) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<std::string> run_exec_plugin(const ExecPlugin& plugin, const std::string& info, Nanoseconds limit, int stop) {
  const std::string name = "the exec plug-in " + quoted(plugin.command, 80);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Code::io, name + " cannot be started: no pipe is left", "exec");
  const Descriptor output(ends[0]);
  Descriptor input(ends[1]);
  std::vector<std::string> texts = {plugin.command};
  texts.insert(texts.end(), plugin.arguments.begin(), plugin.arguments.end());
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  Environment environment(plugin, info);
  pid_t process = 0;
  {
    const Attributes how(input.get());
    const int error = ::posix_spawnp(&process, plugin.command.c_str(), &how.files, &how.attributes, arguments.data(),
                                     environment.get());
    if (error != 0) {
      const std::string hint = plugin.install_hint.empty() ? "" : "; " + plugin.install_hint;
      return fail(error == ENOENT ? Code::not_found : Code::io, name + " cannot be started" + hint, "exec");
    }
  }
  input = Descriptor();
  const Deadline deadline = deadline_after(limit);
  std::string printed;
  const Ending ending = read_all(output.get(), stop, deadline, printed);
  const int code = ending == Ending::whole ? wait_for(process, stop, deadline) : -1;
  if (code < 0) {
    ::kill(-process, SIGKILL);
    int status = 0;
    uninterrupted([&] { return ::waitpid(process, &status, 0); });
    if (ending == Ending::too_large) return fail(Code::invalid, name + " prints more than 1 MiB", "exec");
    return fail(Code::unreachable, name + " took too long and was ended", "exec");
  }
  if (code > 0) return fail(Code::unreachable, name + " ended with status " + std::to_string(code), "exec");
  return printed;
}

}  // namespace kron::kube
