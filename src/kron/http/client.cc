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
using Deadline = std::optional<SteadyClock::time_point>;  // none: for ever

constexpr std::size_t kMostBody = std::size_t{256} << 20;
constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;

// Until the socket is ready for `events`; false when the deadline passes first.
bool wait_for(int socket, short events, const Deadline& deadline) {
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
  explicit Connection(Descriptor socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.get(); }
  bool is_kept() const { return answers_ > 0; }
  bool is_busy() const { return reader_ != nullptr; }
  ResponseReader& reader() { return *reader_; }

  // Between two answers a server has nothing to say: what can be read is its farewell.
  bool is_stale() const {
    pollfd look{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&look, 1, 0) != 0;
  }

  enum class Sent : std::uint8_t { all, broken, late };
  Sent send(std::string_view message, bool has_body, const Deadline& deadline) {
    reader_ = std::make_unique<ResponseReader>(has_body, kMostBody);
    while (!message.empty()) {
      const ssize_t sent = ::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        message.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (!wait_for(socket_.get(), POLLOUT, deadline)) return Sent::late;
      } else if (errno != EINTR) {
        return Sent::broken;
      }
    }
    return Sent::all;
  }

  // What can be read without waiting.
  Status receive() {
    std::array<char, kReadAtOnce> bytes;
    const ssize_t size = uninterrupted([&] { return ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT); });
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (size <= 0) return reader_->closed();
    return reader_->received({bytes.data(), static_cast<std::size_t>(size)});
  }

  // The answer is taken; the connection is free for the next.
  Response take() {
    Response response = std::move(reader_->response());
    reader_.reset();
    ++answers_;
    return response;
  }

 private:
  Descriptor socket_;
  std::size_t answers_ = 0;
  std::unique_ptr<ResponseReader> reader_;  // while an answer is awaited
};

Client::Client(std::string socket_path) : Client(std::move(socket_path), Options()) {}
Client::Client(std::string socket_path, Options options)
    : socket_path_(std::move(socket_path)), options_(std::move(options)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Error Client::unreachable(const std::string& what) const {
  return Error{Code::unreachable, what + "; " + options_.cure};
}

Error Client::lost(const std::string& what) const {
  return unreachable(what + " from " + socket_path_ + ": the request may or may not have been obeyed");
}

Status Client::connect() {
  Result<Descriptor> socket = connect_unix(socket_path_, options_.timeout);
  if (socket) {
    connection_ = std::make_unique<Connection>(*std::move(socket));
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
  const Deadline deadline = SteadyClock::now() + options_.timeout;
  switch (connection_->send(message, has_body, deadline)) {
    case Connection::Sent::all:
      return {};
    case Connection::Sent::late:
      connection_.reset();
      return fail(unreachable(socket_path_ + " does not take the request"));
    case Connection::Sent::broken:
      // The server may have said why before it hung up.
      if (connection_->receive() && connection_->reader().has_begun()) return {};
      connection_.reset();
      // It cannot have obeyed a request that it did not get in full.
      if (is_kept) return start(message, has_body);
      return fail(unreachable(socket_path_ + " hung up before it had the whole request"));
  }
  return {};
}

Status Client::begin(std::string_view method, std::string_view target, std::string_view body, const Fields& headers) {
  const Result<std::string> message = request_message(method, target, body, headers);
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
  const Deadline deadline = SteadyClock::now() + options_.timeout;
  while (true) {
    if (auto answer = poll()) return *std::move(answer);
    if (!wait_for(connection_->descriptor(), POLLIN, deadline)) {
      connection_.reset();
      return fail(lost("no answer within " + duration_text(options_.timeout)));
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
  const Deadline deadline = SteadyClock::now() + options_.timeout;
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
