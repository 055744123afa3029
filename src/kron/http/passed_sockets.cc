#include "kron/http/passed_sockets.h"

#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <unistd.h>

namespace kron::http {
namespace {

constexpr int kFirstPassed = 3;
constexpr int kMostPassed = 1024;

std::optional<int> number_in_variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  const std::string_view text(value);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::vector<Descriptor> take_passed_sockets() {
  std::vector<Descriptor> sockets;
  const std::optional<int> process = number_in_variable("LISTEN_PID");
  const std::optional<int> count = number_in_variable("LISTEN_FDS");
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
  // Those of another process are not ours, though its environment is.
  if (process != ::getpid() || !count || *count > kMostPassed) return sockets;
  for (int socket = kFirstPassed; socket < kFirstPassed + *count; ++socket) {
    if (::fcntl(socket, F_SETFD, FD_CLOEXEC) == 0) sockets.emplace_back(socket);
  }
  return sockets;
}

}  // namespace kron::http
