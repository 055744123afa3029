#include "kron/daemon/service_manager.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include "kron/env/descriptor.h"

namespace kron::daemon {
namespace {

std::optional<std::int64_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  std::int64_t number = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

std::int64_t microseconds(Nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

}  // namespace

ServiceManager ServiceManager::from_environment() {
  const char* socket = std::getenv("NOTIFY_SOCKET");
  std::optional<Nanoseconds> watchdog;
  const std::optional<std::int64_t> limit = number_in("WATCHDOG_USEC");
  // The limit may be for another process that passed its environment on.
  if (limit && *limit > 0 && number_in("WATCHDOG_PID").value_or(::getpid()) == ::getpid()) {
    watchdog = std::chrono::microseconds(*limit);
  }
  return {socket == nullptr ? "" : socket, watchdog};
}

ServiceManager::ServiceManager(std::string socket, std::optional<Nanoseconds> watchdog) : socket_(std::move(socket)) {
  const bool is_address = socket_.starts_with('/') || socket_.starts_with('@');
  if (!is_address || socket_.size() >= sizeof(sockaddr_un::sun_path)) socket_.clear();
  if (!socket_.empty() && watchdog) alive_every_ = *watchdog / 2;
}

void ServiceManager::tell(std::string_view lines) const {
  if (socket_.empty()) return;
  const Descriptor descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  // A manager that does not listen is its own problem; the daemon goes on.
  (void)::sendto(descriptor.get(), lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&address), size);
}

void ServiceManager::ready(std::string_view status) const { tell("READY=1\nSTATUS=" + std::string(status)); }

void ServiceManager::reloading(Nanoseconds monotonic) const {
  tell("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds(monotonic)));
}

void ServiceManager::stopping() const { tell("STOPPING=1"); }

void ServiceManager::alive() const { tell("WATCHDOG=1"); }

void ServiceManager::status(const std::string& sentence) {
  if (sentence == std::exchange(last_status_, sentence)) return;
  tell("STATUS=" + sentence);
}

}  // namespace kron::daemon
