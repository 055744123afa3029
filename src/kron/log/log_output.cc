#include "kron/log/log_output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kron {
namespace {

constexpr std::size_t kMostAtOnce = 16 << 10;  // fits into an empty pipe

bool must_wait() { return errno == EAGAIN || errno == EWOULDBLOCK; }

std::optional<std::size_t> taken(ssize_t size) {
  if (size >= 0) return static_cast<std::size_t>(size);
  if (must_wait()) return 0;
  return std::nullopt;
}

// A descriptor for the same terminal with flags of its own.
Descriptor opened_again(int descriptor) {
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  return Descriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

}  // namespace

LogOutput::LogOutput(int descriptor) : descriptor_(descriptor), kind_(kind_of_descriptor()) {}

LogOutput::Kind LogOutput::kind_of_descriptor() {
  struct stat about {};
  if (::fstat(descriptor_, &about) != 0) return Kind::plain;
  if (S_ISSOCK(about.st_mode)) return Kind::socket;
  if (::isatty(descriptor_) != 0) {
    own_ = opened_again(descriptor_);
    if (!own_) return Kind::polled;
    descriptor_ = own_.get();
    return Kind::plain;
  }
  if (!S_ISFIFO(about.st_mode)) return Kind::plain;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return Kind::polled;
  ends_[0] = Descriptor(ends[0]);
  ends_[1] = Descriptor(ends[1]);
  return Kind::pipe;
}

std::optional<std::size_t> LogOutput::write(std::string_view bytes) {
  switch (kind_) {
    case Kind::socket:
      return taken(
          uninterrupted([&] { return ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL); }));
    case Kind::pipe:
      return write_by_splice(bytes);
    case Kind::polled:
      return write_when_polled(bytes);
    case Kind::plain:
      break;
  }
  return taken(uninterrupted([&] { return ::write(descriptor_, bytes.data(), bytes.size()); }));
}

// A write to a pipe waits when it is full, unless a flag says otherwise that all who share it would see. Moving bytes
// from one pipe to another can be asked not to wait each time.
std::optional<std::size_t> LogOutput::write_by_splice(std::string_view bytes) {
  const ssize_t in =
      uninterrupted([&] { return ::write(ends_[1].get(), bytes.data(), std::min(bytes.size(), kMostAtOnce)); });
  if (in <= 0) return taken(in);
  std::size_t left = static_cast<std::size_t>(in);
  int error = 0;
  while (left > 0 && error == 0) {
    const ssize_t moved =
        uninterrupted([&] { return ::splice(ends_[0].get(), nullptr, descriptor_, nullptr, left, SPLICE_F_NONBLOCK); });
    error = moved < 0 ? errno : 0;
    if (moved > 0) left -= static_cast<std::size_t>(moved);
    if (moved == 0) break;
  }
  const std::size_t out = static_cast<std::size_t>(in) - left;
  // What was not moved is the caller's again.
  std::array<char, kMostAtOnce> unmoved;
  if (left > 0) (void)!::read(ends_[0].get(), unmoved.data(), left);
  if (out > 0 || error == EAGAIN) return out;
  if (error == EINVAL || error == ENOSYS) {
    kind_ = Kind::polled;
    return write_when_polled(bytes);
  }
  errno = error;
  return std::nullopt;
}

// For what cannot be asked not to wait: a pipe that can be written to takes so much at once, if nobody else fills it in
// between.
std::optional<std::size_t> LogOutput::write_when_polled(std::string_view bytes) {
  if (!wait(Nanoseconds(0))) return 0;
  const std::size_t size = std::min<std::size_t>(bytes.size(), PIPE_BUF);
  return taken(uninterrupted([&] { return ::write(descriptor_, bytes.data(), size); }));
}

bool LogOutput::wait(Nanoseconds longest) const {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
  pollfd event{descriptor_, POLLOUT, 0};
  return ::poll(&event, 1, static_cast<int>(std::clamp<std::int64_t>(milliseconds, 0, INT_MAX))) > 0;
}

}  // namespace kron
