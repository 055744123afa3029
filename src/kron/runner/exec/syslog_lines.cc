#include "kron/runner/exec/syslog_lines.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>

namespace kron::exec {

void SyslogLines::open(const char* path, const char* tag, int priority) {
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  // Without a logger every send fails, and the command goes on as if it were heard.
  (void)::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  head_ = static_cast<std::size_t>(std::snprintf(line_, sizeof line_ - kMostLine, "<%d>kron[%.128s]: ", priority, tag));
  used_ = head_;
}

void SyslogLines::append(const char* bytes, std::size_t size) {
  for (const char* const end = bytes + size; bytes != end;) {
    const std::size_t left = static_cast<std::size_t>(end - bytes);
    const void* newline = std::memchr(bytes, '\n', left);
    const std::size_t line =
        newline == nullptr ? left : static_cast<std::size_t>(static_cast<const char*>(newline) - bytes);
    const std::size_t part = std::min(line, head_ + kMostLine - used_);
    std::memcpy(line_ + used_, bytes, part);
    used_ += part;
    bytes += part;
    if (part < line || used_ == head_ + kMostLine) send();
    if (part == line && newline != nullptr) {
      send();
      ++bytes;
    }
  }
}

void SyslogLines::finish() { send(); }

void SyslogLines::send() {
  if (used_ > head_) (void)::send(socket_, line_, used_, MSG_NOSIGNAL);
  used_ = head_;
}

}  // namespace kron::exec
