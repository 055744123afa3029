#include "kron/http/wire.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace kron::http {
namespace {

using WireSocket = boost::asio::generic::stream_protocol::socket;
using WireError = boost::system::error_code;

constexpr std::size_t kReceivedAtOnce = std::size_t{16} << 10;
constexpr std::size_t kEncryptedAtOnce = std::size_t{64} << 10;

int family_of(int socket) {
  int family = AF_UNSPEC;
  socklen_t size = sizeof(family);
  ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

bool must_wait(int error_number) {
  return error_number == EAGAIN || error_number == EWOULDBLOCK || error_number == EINTR;
}

// What both kinds do with the socket itself.
class SocketWire : public Wire {
 public:
  SocketWire(boost::asio::io_context& loop, Descriptor descriptor)
      : family_(family_of(descriptor.get())), socket_(loop) {
    WireError error;  // of registering with epoll; the first read meets it again
    socket_.assign(boost::asio::generic::stream_protocol(family_, 0), descriptor.get(), error);
    if (!error) (void)descriptor.release();
  }

  void watch(std::function<void()> gone) override {
    on_gone_ = std::move(gone);
    look_for_hangup();
  }
  void stop_watching() override { on_gone_ = {}; }

  bool has_hung_up() override {
    const short closing = tells_hangup() ? 0 : POLLRDHUP;
    pollfd look{.fd = socket_.native_handle(), .events = closing, .revents = 0};
    return ::poll(&look, 1, 0) > 0 && (look.revents & (POLLHUP | POLLERR | closing)) != 0;
  }

  void drain(std::function<void(std::size_t size)> done) override {
    socket_.async_wait(WireSocket::wait_read,
                       [this, self = shared_from_this(), done = std::move(done)](const WireError& error) mutable {
                         if (error) return done(0);
                         std::array<char, 4096> bytes;
                         const ssize_t size = ::recv(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT);
                         if (size < 0 && must_wait(errno)) return drain(std::move(done));
                         done(size > 0 ? static_cast<std::size_t>(size) : 0);
                       });
  }

  // Of one who does not take what is being sent, the kernel would keep it for minutes; he sees that it is not whole.
  void close() override {
    on_gone_ = {};
    WireError ignored;
    if (is_sending_ && family_ != AF_UNIX) socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
    socket_.close(ignored);
  }

 protected:
  // Whether a client that hangs up is told from one that has only shut down its sending side, and still waits for the
  // answer. Over TCP both say the same, and no browser does the latter.
  bool tells_hangup() const { return family_ == AF_UNIX; }

  virtual void look_for_hangup() = 0;

  void wait_for_error() {
    if (std::exchange(waits_for_error_, true)) return;
    socket_.async_wait(WireSocket::wait_error, [this, self = shared_from_this()](const WireError& error) {
      waits_for_error_ = false;
      if (!error) tell_gone();
    });
  }
  void tell_gone() {
    if (const auto gone = std::exchange(on_gone_, {})) gone();
  }
  void post(std::function<void()> task) { boost::asio::post(socket_.get_executor(), std::move(task)); }
  void shut_down_socket() {
    WireError ignored;  // a client that is gone is found by the read
    socket_.shutdown(WireSocket::shutdown_send, ignored);
  }

  int family_;
  WireSocket socket_;
  std::function<void()> on_gone_;
  bool waits_for_error_ = false;
  bool is_sending_ = false;
};

class PlainWire : public SocketWire {
 public:
  using SocketWire::SocketWire;

  bool needs_handshake() const override { return false; }
  void shake_hands(std::function<void(bool, const std::string&)> done) override {
    post([done = std::move(done)] { done(true, {}); });
  }

  void read(std::span<char> room, std::function<void(std::size_t size)> done) override {
    has_next_ = false;
    socket_.async_read_some(boost::asio::buffer(room.data(), room.size()),
                            [self = shared_from_this(), done = std::move(done)](
                                const WireError& error, std::size_t size) { done(error ? 0 : size); });
  }
  void stop_reading() override {
    WireError ignored;
    socket_.cancel(ignored);
  }

  void write(std::string_view head, std::string_view body, std::function<void(bool is_sent)> done) override {
    const std::array buffers{boost::asio::buffer(head), boost::asio::buffer(body)};
    is_sending_ = true;
    boost::asio::async_write(
        socket_, buffers,
        [this, self = shared_from_this(), done = std::move(done)](const WireError& error, std::size_t) {
          is_sending_ = false;
          done(!error);
        });
  }

  void shut_down() override { shut_down_socket(); }
  void say_farewell() override {}

 private:
  // Not by reading: the client may have sent its next request already, which then hides its end.
  void look_for_hangup() override {
    if (tells_hangup() || has_next_) return wait_for_error();
    if (std::exchange(waits_, true)) return;
    socket_.async_wait(WireSocket::wait_read, [this, self = shared_from_this()](const WireError& error) {
      waits_ = false;
      if (error || !on_gone_) return;
      char next = 0;
      const ssize_t size = ::recv(socket_.native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
      if (size == 0 || (size < 0 && !must_wait(errno))) return tell_gone();
      has_next_ = size > 0;
      look_for_hangup();
    });
  }

  bool waits_ = false;     // for something to read
  bool has_next_ = false;  // the client sent its next request while this one is answered
};

class TlsWire : public SocketWire {
 public:
  TlsWire(boost::asio::io_context& loop, Descriptor descriptor, TlsSession session)
      : SocketWire(loop, std::move(descriptor)), session_(std::move(session)) {}

  bool needs_handshake() const override { return true; }
  void shake_hands(std::function<void(bool, const std::string&)> done) override {
    on_shaken_ = std::move(done);
    wait();
  }

  // What came with earlier bytes is in the session, and the socket would not tell of it again.
  void read(std::span<char> room, std::function<void(std::size_t size)> done) override {
    room_ = room;
    on_read_ = std::move(done);
    post([this, self = shared_from_this()] { deliver(); });
  }
  void stop_reading() override { on_read_ = {}; }

  void write(std::string_view head, std::string_view body, std::function<void(bool is_sent)> done) override {
    plain_ = {head, body};
    on_written_ = std::move(done);
    send();
  }

  void shut_down() override {
    session_.close();
    shuts_down_ = true;
    send();
  }

  void say_farewell() override {
    if (is_sending_ || is_closed_) return;
    session_.close();
    const std::string bytes = session_.take_outgoing();
    (void)::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void close() override {
    is_closed_ = true;
    // What they hold may be what holds this.
    const auto shaken = std::exchange(on_shaken_, {});
    const auto read = std::exchange(on_read_, {});
    const auto written = std::exchange(on_written_, {});
    SocketWire::close();
  }

 private:
  // For more bytes, whoever they are for: at most one waits for the socket.
  void wait() {
    if (std::exchange(waits_, true)) return;
    socket_.async_wait(WireSocket::wait_read, [this, self = shared_from_this()](const WireError& error) {
      waits_ = false;
      if (is_closed_) return;
      // Nobody wants to know now: the bytes stay where they are, and slow the client down.
      if (!on_shaken_ && !on_read_ && !on_gone_) return;
      error ? ended() : receive();
    });
  }

  void receive() {
    std::array<char, kReceivedAtOnce> bytes;
    const ssize_t size = ::recv(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size < 0 && must_wait(errno)) return wait();
    if (size <= 0) return ended();
    has_received_ = true;
    const Status received = session_.received({bytes.data(), static_cast<std::size_t>(size)});
    send();  // of a handshake, and why it failed
    if (!received) {
      why_ = received.error().message;
      return ended();
    }
    proceed();
  }

  void ended() {
    has_ended_ = true;
    proceed();
  }

  void proceed() {
    if (on_shaken_) {
      if (!session_.is_established() && !has_ended_) return wait();
      if (has_ended_ && has_received_ && why_.empty()) why_ = "the client left during the handshake";
      const auto done = std::exchange(on_shaken_, {});
      return done(session_.is_established(), why_);
    }
    if (on_read_) return deliver();
    if (on_gone_) look_for_hangup();
  }

  void deliver() {
    if (!on_read_) return;
    const Result<std::size_t> size = session_.read(room_);
    send();  // what came may want an answer of its own
    const bool is_over = !size || session_.peer_closed() || has_ended_;
    if (size && *size == 0 && !is_over) return wait();
    const auto done = std::exchange(on_read_, {});
    done(size ? *size : 0);
  }

  void look_for_hangup() override {
    const Result<bool> has_next = session_.has_something();
    send();
    if (!has_next || session_.peer_closed() || has_ended_) {
      return post([this, self = shared_from_this()] { tell_gone(); });
    }
    *has_next ? wait_for_error() : wait();
  }

  // Encrypts as much as goes at once, sends it, and again.
  void send() {
    if (is_sending_ || is_closed_) return;
    std::size_t encrypted = 0;
    for (std::string_view& part : plain_) {
      const std::string_view piece = part.substr(0, kEncryptedAtOnce - encrypted);
      if (piece.empty()) continue;
      if (!session_.write(piece)) return written(false);
      part.remove_prefix(piece.size());
      encrypted += piece.size();
    }
    sending_ = session_.take_outgoing();
    if (sending_.empty()) {
      if (on_written_) return written(true);
      if (shuts_down_) shut_down_socket();
      return;
    }
    is_sending_ = true;
    boost::asio::async_write(socket_, boost::asio::buffer(sending_),
                             [this, self = shared_from_this()](const WireError& error, std::size_t) {
                               is_sending_ = false;
                               sending_ = {};
                               error ? written(false) : send();
                             });
  }

  void written(bool is_sent) {
    plain_ = {};
    post([self = shared_from_this(), is_sent, done = std::exchange(on_written_, {})] {
      if (done) done(is_sent);
    });
  }

  TlsSession session_;
  std::function<void(bool, const std::string&)> on_shaken_;
  std::function<void(std::size_t)> on_read_;
  std::function<void(bool)> on_written_;
  std::span<char> room_;
  std::array<std::string_view, 2> plain_;  // what is still to be encrypted
  std::string sending_;
  std::string why_;  // the handshake failed
  bool waits_ = false;
  bool has_received_ = false;
  bool has_ended_ = false;  // nothing comes any more
  bool shuts_down_ = false;
  bool is_closed_ = false;
};

}  // namespace

std::shared_ptr<Wire> Wire::open(boost::asio::io_context& loop, Descriptor socket, std::optional<TlsSession> session) {
  if (!session) return std::make_shared<PlainWire>(loop, std::move(socket));
  return std::make_shared<TlsWire>(loop, std::move(socket), *std::move(session));
}

}  // namespace kron::http
