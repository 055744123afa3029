#include "kron/env/redis_socket.h"

#include <array>
#include <cstring>
#include <poll.h>
#include <sys/un.h>
#include <utility>

namespace kron {
namespace {

constexpr std::size_t kTlsPiece = 16 * 1024;  // a record of TLS holds no more

tl::unexpected<Error> stream_broken(int error_number) {
  return fail(Code::unreachable, std::string("the connection broke: ") + std::strerror(error_number));
}

bool would_block(int error_number) { return error_number == EAGAIN || error_number == EWOULDBLOCK; }

Result<std::vector<SocketAddress>> places_of(const RedisAddress& address, Deadline deadline) {
  if (!address.is_path()) return look_up_host(address.host, address.port, deadline);
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  if (address.host.size() >= sizeof path.sun_path) return fail(Code::unreachable, "the path of the socket is too long");
  std::memcpy(path.sun_path, address.host.data(), address.host.size());
  std::vector<SocketAddress> places(1);
  std::memcpy(&places[0].storage, &path, sizeof path);
  places[0].size = sizeof path;
  return places;
}

}  // namespace

Result<RedisSocket> RedisSocket::open(const RedisAddress& address, const std::optional<RedisTls>& tls,
                                      Deadline deadline) {
  const Result<std::vector<SocketAddress>> places = places_of(address, deadline);
  if (!places) return fail(places.error());
  Error why;
  for (std::size_t i = 0; i < places->size(); ++i) {
    Result<RedisSocket> socket = open_one((*places)[i], share_of(deadline, places->size() - i));
    if (!socket) {
      why = socket.error();
      continue;
    }
    if (tls) {
      if (Status safe = socket->start_tls(*tls, address.host, deadline); !safe) return fail(safe.error());
    }
    return socket;
  }
  return fail(why);
}

Result<RedisSocket> RedisSocket::open_one(const SocketAddress& address, Deadline deadline) {
  Result<Descriptor> descriptor = connect_to(address, deadline);
  if (!descriptor) return fail(descriptor.error());
  return RedisSocket(*std::move(descriptor));
}

Status RedisSocket::start_tls(const RedisTls& tls, const std::string& host, Deadline deadline) {
  Result<RedisTlsSession> session = RedisTlsSession::make(tls, host);
  if (!session) return fail(session.error());
  tls_.emplace(std::move(*session));
  std::array<char, kTlsPiece> room;
  while (true) {
    const Result<bool> done = tls_->shake_hands();
    // Also what says why we do not go on.
    Status sent = flush();
    if (!done) return fail(done.error());
    if (!sent) return sent;
    if (*done) return {};
    const Result<std::size_t> size = receive_plain(room);
    if (!size) {
      return fail(Code::unreachable, size.error().message + " during the TLS handshake; does the server speak TLS?");
    }
    if (*size > 0) {
      tls_->received(std::string_view(room.data(), *size));
    } else if (!wait(false, deadline)) {
      return fail(Code::unreachable, "no answer to the TLS handshake in time; does the server speak TLS?");
    }
  }
}

Result<std::size_t> RedisSocket::send_plain(std::string_view bytes) {
  const ssize_t size =
      uninterrupted([&] { return ::send(descriptor_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); });
  if (size >= 0) return static_cast<std::size_t>(size);
  if (would_block(errno)) return std::size_t{0};
  return stream_broken(errno);
}

Result<std::size_t> RedisSocket::receive_plain(std::span<char> room) {
  const ssize_t size = uninterrupted([&] { return ::recv(descriptor_.get(), room.data(), room.size(), 0); });
  if (size > 0) return static_cast<std::size_t>(size);
  if (size == 0) return fail(Code::unreachable, "the server has closed the connection");
  if (would_block(errno)) return std::size_t{0};
  return stream_broken(errno);
}

Status RedisSocket::flush() {
  tls_->take_output(encrypted_);
  std::size_t sent = 0;
  while (sent < encrypted_.size()) {
    const Result<std::size_t> size = send_plain(std::string_view(encrypted_).substr(sent));
    if (!size) return fail(size.error());
    if (*size == 0) break;
    sent += *size;
  }
  encrypted_.erase(0, sent);
  return {};
}

Result<std::size_t> RedisSocket::send(std::string_view bytes) {
  if (!tls_) return send_plain(bytes);
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    if (Status sent = flush(); !sent) {
      if (taken > 0) break;  // the next call says it
      return fail(sent.error());
    }
    if (!encrypted_.empty()) break;
    const Result<std::size_t> size = tls_->write(bytes.substr(taken, kTlsPiece));
    if (!size && taken == 0) return size;
    if (!size || *size == 0) break;
    taken += *size;
  }
  (void)flush();  // what cannot be sent now goes later; an error comes again
  return taken;
}

Result<std::size_t> RedisSocket::receive(std::span<char> room) {
  if (!tls_) return receive_plain(room);
  (void)flush();  // the socket's own error says more than this one
  std::array<char, kTlsPiece> encrypted;
  while (true) {
    const Result<std::size_t> size = tls_->read(room);
    if (!size || *size > 0) return size;
    const Result<std::size_t> arrived = receive_plain(encrypted);
    if (!arrived || *arrived == 0) return arrived;
    tls_->received(std::string_view(encrypted.data(), *arrived));
  }
}

bool RedisSocket::wait(bool to_send, Deadline deadline) {
  const bool wants_out = to_send || !encrypted_.empty();
  pollfd poll{descriptor_.get(), static_cast<short>(wants_out ? POLLIN | POLLOUT : POLLIN), 0};
  while (true) {
    const int ready = ::poll(&poll, 1, milliseconds_left(deadline));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return true;  // the next call on the socket says what it is
  }
}

}  // namespace kron
