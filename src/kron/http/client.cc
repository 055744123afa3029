#include "kron/http/client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/env/descriptor.h"
#include "kron/http/request_message.h"
#include "kron/http/response_reader.h"
#include "kron/http/unix_socket.h"

namespace kron::http {
namespace {

using SteadyClock = std::chrono::steady_clock;
using TimeLimit = std::optional<kron::Deadline>;  // none: for ever

constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;
constexpr std::size_t kEncryptAtOnce = std::size_t{256} << 10;
constexpr Seconds kOwnWords(10);

// Until the socket is ready for `events`; false when the deadline passes first.
bool wait_for(int socket, short events, const TimeLimit& deadline) {
  while (true) {
    int milliseconds = -1;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - SteadyClock::now()).count();
      milliseconds = static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
    }
    pollfd waited{.fd = socket, .events = events, .revents = 0};
    const int ready = ::poll(&waited, 1, milliseconds);
    if (ready > 0) return true;
    if (ready == 0 && deadline && SteadyClock::now() >= *deadline) return false;
    if (ready < 0 && errno != EINTR) return true;  // the call that follows says what is wrong
  }
}

}  // namespace

class Client::Connection {
 public:
  Connection(Descriptor socket, std::size_t most_body) : socket_(std::move(socket)), most_body_(most_body) {}

  int descriptor() const { return socket_.get(); }
  bool is_kept() const { return answers_ > 0; }
  bool is_busy() const { return reader_ != nullptr; }
  ResponseReader& reader() { return *reader_; }

  Status shake_hands(TlsSession session, const TimeLimit& deadline) {
    tls_ = std::move(session);
    Status going = tls_->received({});
    while (true) {
      // Also what says why we do not go on.
      const Sent sent = send_as_is(tls_->take_outgoing(), deadline);
      if (!going) return going;
      if (sent != Sent::all) return fail(Code::unreachable, "it hung up during the TLS handshake");
      if (tls_->is_established()) return {};
      if (!wait_for(socket_.get(), POLLIN, deadline)) {
        return fail(Code::unreachable, "no answer to the TLS handshake in time; does it speak TLS?");
      }
      std::array<char, kReadAtOnce> bytes;
      const ssize_t size = take_from_socket(bytes);
      if (size == 0) return fail(Code::unreachable, "it hung up during the TLS handshake; does it speak TLS?");
      if (size > 0) going = tls_->received({bytes.data(), static_cast<std::size_t>(size)});
    }
  }
  std::optional<TlsPeer> peer() const { return tls_ ? tls_->peer() : std::nullopt; }

  // Between two answers a server has nothing to say: what can be read is its farewell.
  bool is_stale() {
    pollfd look{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    while (::poll(&look, 1, 0) != 0) {
      if (!tls_) return true;
      // But TLS may have, for itself.
      std::array<char, kReadAtOnce> bytes;
      const ssize_t size = take_from_socket(bytes);
      if (size <= 0 || !tls_->received({bytes.data(), static_cast<std::size_t>(size)})) return true;
      if (tls_->has_something() != false || tls_->peer_closed()) return true;
    }
    return false;
  }

  enum class Sent : std::uint8_t { all, broken, late };
  Sent send(std::string_view message, bool has_body, const TimeLimit& deadline) {
    reader_ = std::make_unique<ResponseReader>(has_body, most_body_);
    if (!tls_) return send_as_is(message, deadline);
    Sent sent = Sent::all;
    while (sent == Sent::all && !message.empty()) {
      const std::string_view piece = message.substr(0, kEncryptAtOnce);
      if (!tls_->write(piece)) return Sent::broken;
      message.remove_prefix(piece.size());
      sent = send_as_is(tls_->take_outgoing(), deadline);
    }
    return sent;
  }

  // What can be read without waiting; nothing of it stays behind in TLS.
  Status receive() {
    std::array<char, kReadAtOnce> bytes;
    const ssize_t size = take_from_socket(bytes);
    if (size < 0) return {};
    const std::string_view came(bytes.data(), static_cast<std::size_t>(size));
    if (!tls_) return came.empty() ? reader_->closed() : reader_->received(came);
    // An end that nobody has announced may be somebody else's doing.
    if (came.empty()) return fail(Code::unreachable, "the connection broke off");
    return decrypt(came, bytes);
  }

  // The answer is taken; the connection is free for the next.
  Response take() {
    Response response = std::move(reader_->response());
    reader_.reset();
    ++answers_;
    return response;
  }

 private:
  Sent send_as_is(std::string_view bytes, const TimeLimit& deadline) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (!wait_for(socket_.get(), POLLOUT, deadline)) return Sent::late;
      } else if (errno != EINTR) {
        return Sent::broken;
      }
    }
    return Sent::all;
  }

  // 0: the server has hung up; less: nothing has come.
  ssize_t take_from_socket(std::span<char> room) const {
    const ssize_t size = uninterrupted([&] { return ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT); });
    return size < 0 && errno != EAGAIN && errno != EWOULDBLOCK ? 0 : size;
  }

  // `room` may be where the bytes are.
  Status decrypt(std::string_view came, std::span<char> room) {
    if (Status received = tls_->received(came); !received) return received;
    while (true) {
      const Result<std::size_t> size = tls_->read(room);
      if (!size) return fail(size.error());
      if (*size == 0) break;
      if (Status received = reader_->received({room.data(), *size}); !received) return received;
    }
    // What TLS has to say for itself is little, and can wait if it must.
    const std::string own = tls_->take_outgoing();
    if (send_as_is(own, SteadyClock::now() + kOwnWords) != Sent::all) {
      return fail(Code::unreachable, "the connection broke off");
    }
    return tls_->peer_closed() ? reader_->closed() : Status();
  }

  Descriptor socket_;
  std::size_t most_body_;
  std::optional<TlsSession> tls_;
  std::size_t answers_ = 0;
  std::unique_ptr<ResponseReader> reader_;  // while an answer is awaited
};

Client::Client(Endpoint server) : Client(std::move(server), Options()) {}
Client::Client(Endpoint server, Options options) : server_(std::move(server)), options_(std::move(options)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Error Client::unreachable(const std::string& what) const {
  return Error{Code::unreachable, what + "; " + options_.cure};
}

Error Client::lost(const std::string& what) const {
  return unreachable(what + " from " + server_.text() + ": the request may or may not have been obeyed");
}

Deadline Client::limit() const {
  const Deadline usual = deadline_after(options_.timeout);
  return give_up_at_ ? std::min(usual, *give_up_at_) : usual;
}

Status Client::connect_over_tcp() {
  const Deadline deadline = limit();
  Result<Descriptor> socket = connect_tcp(server_, deadline);
  if (!socket)
    return fail(socket.error().code == Code::unreachable ? unreachable(socket.error().message) : socket.error());
  auto connection = std::make_unique<Connection>(*std::move(socket), options_.most_body);
  if (server_.tls) {
    Result<TlsSession> session = TlsSession::for_client(server_.tls, server_.host);
    if (!session) return fail(session.error());
    if (Status shaken = connection->shake_hands(*std::move(session), deadline); !shaken) {
      if (shaken.error().code != Code::unreachable) return shaken;
      return fail(unreachable("cannot talk to " + server_.text() + ": " + shaken.error().message));
    }
    peer_ = connection->peer();
  }
  connection_ = std::move(connection);
  return {};
}

Status Client::connect() {
  if (server_.is_remote()) return connect_over_tcp();
  Result<Descriptor> socket = connect_unix(server_.socket_path, time_left(limit()));
  if (socket) {
    connection_ = std::make_unique<Connection>(*std::move(socket), options_.most_body);
    return {};
  }
  if (socket.error().code == Code::refused || socket.error().code == Code::invalid) return fail(socket.error());
  const std::string& message = socket.error().message;
  return fail(unreachable(message.substr(0, message.rfind("; "))));
}

Status Client::start(const std::string& message, bool has_body) {
  if (connection_ && (connection_->is_busy() || connection_->is_stale())) connection_.reset();
  if (!connection_) {
    if (Status status = connect(); !status) return status;
  }
  hung_up_ = false;
  const bool is_kept = connection_->is_kept();
  const TimeLimit deadline = limit();
  switch (connection_->send(message, has_body, deadline)) {
    case Connection::Sent::all:
      return {};
    case Connection::Sent::late:
      connection_.reset();
      return fail(unreachable(server_.text() + " does not take the request"));
    case Connection::Sent::broken:
      // The server may have said why before it hung up.
      if (connection_->receive() && connection_->reader().has_begun()) return {};
      connection_.reset();
      // It cannot have obeyed a request that it did not get in full.
      if (is_kept) return start(message, has_body);
      return fail(unreachable(server_.text() + " hung up before it had the whole request"));
  }
  return {};
}

Status Client::begin(std::string_view method, std::string_view target, std::string_view body, const Fields& headers) {
  Fields sent = headers;
  if (!server_.token.empty()) sent.emplace_back("Authorization", "Bearer " + server_.token);
  const Result<std::string> message = request_message(method, target, body, sent, server_.host_header());
  if (!message) return fail(message.error());
  return start(*message, method != "HEAD");
}

int Client::descriptor() const { return connection_ && connection_->is_busy() ? connection_->descriptor() : -1; }

Error Client::broken(const Error& error) {
  hung_up_ = connection_->is_kept() && !connection_->reader().has_begun();
  connection_.reset();
  return error.code == Code::unreachable ? lost("no whole answer") : error;
}

std::optional<Result<Response>> Client::poll() {
  if (descriptor() < 0) return fail(Code::conflict, "no request is under way");
  ResponseReader& reader = connection_->reader();
  if (!reader.is_complete()) {
    if (const Status status = connection_->receive(); !status) return fail(broken(status.error()));
    if (!reader.is_complete()) return std::nullopt;
  }
  const bool is_last = reader.is_last();
  Response response = connection_->take();
  if (is_last) connection_.reset();
  return response;
}

Result<Response> Client::await_answer() {
  const TimeLimit deadline = limit();
  while (true) {
    if (auto answer = poll()) return *std::move(answer);
    if (!wait_for(connection_->descriptor(), POLLIN, deadline)) {
      connection_.reset();
      return fail(lost(give_up_at_ ? "no answer in time" : "no answer within " + duration_text(options_.timeout)));
    }
  }
}

Result<Response> Client::request(std::string_view method, std::string_view target, std::string_view body,
                                 const Fields& headers) {
  if (Status status = begin(method, target, body, headers); !status) return fail(status.error());
  Result<Response> answer = await_answer();
  // The server may have closed a kept connection just when we wrote; to ask again changes nothing for these methods.
  const bool is_safe = method == "GET" || method == "HEAD";
  if (answer || !hung_up_ || !is_safe) return answer;
  if (Status status = begin(method, target, body, headers); !status) return fail(status.error());
  return await_answer();
}

Status Client::stream(std::string_view target, const Fields& headers,
                      const std::function<bool(std::string_view bytes)>& on_bytes,
                      const std::function<void(const Response& head)>& on_head) {
  if (Status status = begin("GET", target, {}, headers); !status) return status;
  const TimeLimit deadline = SteadyClock::now() + options_.timeout;
  ResponseReader& reader = connection_->reader();
  bool told_head = !on_head;
  while (true) {
    const bool flows = reader.has_head() && reader.response().status == 200;
    if (flows && !std::exchange(told_head, true)) on_head(reader.response());
    if (flows && !reader.response().body.empty()) {
      if (!on_bytes(std::exchange(reader.response().body, {}))) {
        connection_.reset();
        return {};
      }
    }
    if (reader.is_complete()) break;
    if (!wait_for(connection_->descriptor(), POLLIN, flows ? std::nullopt : deadline)) {
      connection_.reset();
      return fail(lost("no answer within " + duration_text(options_.timeout)));
    }
    if (const Status status = connection_->receive(); !status) return fail(broken(status.error()));
  }
  const Result<Response> answer = *poll();
  if (answer->status != 200) return fail(error_in(*answer));
  return {};
}

}  // namespace kron::http
