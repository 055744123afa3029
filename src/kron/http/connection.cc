#include "kron/http/connection.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

#include "kron/http/exchange.h"
#include "kron/http/response_head.h"

namespace kron::http {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kDrainAtOnce = 4096;

int family_of(int socket) {
  int family = AF_UNSPEC;
  socklen_t size = sizeof(family);
  ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

Response too_many_requests() {
  Response response = problem(503, "too many requests at a time, of all or of this user; try again");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

struct Connection::Wire {
  Wire(asio::io_context& loop, Descriptor descriptor) : family(family_of(descriptor.get())), socket(loop), timer(loop) {
    ErrorCode error;  // of registering with epoll; the first read meets it again
    socket.assign(asio::generic::stream_protocol(family, 0), descriptor.get(), error);
    if (!error) (void)descriptor.release();
  }

  // Whether a client that hangs up is told from one that has only shut down its sending side, and still waits for the
  // answer. Over TCP both say the same, and no browser does the latter.
  bool tells_hangup() const { return family == AF_UNIX; }

  int family;
  asio::generic::stream_protocol::socket socket;
  asio::steady_timer timer;
};

Connection::Connection(asio::io_context& loop, Descriptor socket, const Service& service, const Listener& listener,
                       Principal connected, std::unique_ptr<Share> place)
    : wire_(std::make_unique<Wire>(loop, std::move(socket))),
      service_(service),
      place_(std::move(place)),
      reader_(
          service.limits, service.body_limit, std::move(connected),
          [&listener](const Request& head) { return listener.identify(head); }, service.bodies) {}

Connection::~Connection() = default;

void Connection::start() {
  set_deadline(service_.limits.idle);
  read();
}

void Connection::read() {
  const std::span<char> room = reader_.room();
  wire_->socket.async_read_some(asio::buffer(room.data(), room.size()),
                                [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
                                  if (self->state_ != State::reading) return;
                                  if (error) return self->close();
                                  self->reader_.received(size);
                                  self->advance();
                                });
}

void Connection::advance() {
  switch (reader_.stage()) {
    case RequestReader::Stage::head:
      if (!reader_.is_idle() && !std::exchange(reads_head_, true)) set_deadline(service_.limits.header_time);
      return read();
    case RequestReader::Stage::body:
      if (!std::exchange(reads_body_, true)) {
        set_deadline(service_.limits.body_time);
        if (reader_.expects_continue()) return say_continue();
      }
      return read();
    case RequestReader::Stage::complete:
      return handle(reader_.take());
    case RequestReader::Stage::refused:
      return refuse(reader_.refusal());
  }
}

void Connection::say_continue() {
  out_head_ = "HTTP/1.1 100 Continue\r\n\r\n";
  write(&Connection::read);
}

void Connection::handle(Request request) {
  is_head_request_ = request.method == "HEAD";
  is_known_ = is_known_ || request.principal.is_preferred;
  closes_ = reader_.is_last();
  state_ = State::working;
  set_deadline(std::nullopt);
  principal_ = request.principal;
  request_place_ = std::make_unique<Share>(service_.requests, user_of(principal_));
  if (!request_place_->grow(1)) return answer(too_many_requests());
  auto exchange = std::make_unique<Exchange>(service_.thread, weak_from_this(), service_.limits.stream_backlog,
                                             std::make_shared<Share>(service_.streams, user_of(request.principal)));
  service_.handler(std::move(request), Reply(std::move(exchange)));
  if (state_ == State::working) watch_for_hangup();
}

void Connection::refuse(Response response) {
  is_head_request_ = false;
  closes_ = true;
  state_ = State::working;
  answer(std::move(response));
}

void Connection::watch_for_hangup() {
  if (std::exchange(watches_, true)) return;
  // Not by reading: the client may have sent its next request already, which then hides its end.
  const bool by_error = wire_->tells_hangup() || has_next_;
  const auto kind = by_error ? asio::socket_base::wait_error : asio::socket_base::wait_read;
  wire_->socket.async_wait(kind, [self = shared_from_this(), by_error](const ErrorCode& error) {
    self->watches_ = false;
    if (error || (self->state_ != State::working && self->state_ != State::streaming)) return;
    if (by_error) return self->close();
    char next = 0;
    const ssize_t size = ::recv(self->wire_->socket.native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
    const bool is_open = size > 0 || (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
    if (!is_open) return self->close();
    self->has_next_ = size > 0;
    self->watch_for_hangup();
  });
}

std::string Connection::head_of(Response& response, bool is_stream) const {
  response.headers.insert(response.headers.end(), service_.headers.begin(), service_.headers.end());
  const BodyEnd of_stream = is_chunked_ ? BodyEnd::by_chunks : BodyEnd::by_close;
  return response_head(response, is_stream ? of_stream : BodyEnd::by_length, closes_);
}

void Connection::answer(Response response) {
  if (state_ != State::working) return;
  on_gone_ = {};
  request_place_.reset();
  state_ = State::writing;
  out_head_ = head_of(response, false);
  if (has_body(response.status) && !is_head_request_) out_body_ = std::move(response.body);
  const auto mebibytes = static_cast<std::int64_t>(out_body_.size() >> 20U);
  set_deadline(service_.limits.write_time * (mebibytes + 1));
  write(&Connection::answered);
}

void Connection::write(void (Connection::*then)()) {
  is_writing_ = true;
  const std::array<asio::const_buffer, 2> buffers{asio::buffer(out_head_), asio::buffer(out_body_)};
  asio::async_write(wire_->socket, buffers, [self = shared_from_this(), then](const ErrorCode& error, std::size_t) {
    self->is_writing_ = false;
    if (self->state_ == State::closed) return;
    if (error) return self->close();
    self->out_head_ = {};
    self->out_body_ = {};
    (*self.*then)();
  });
}

void Connection::answered() {
  if (stops_) return close();
  if (closes_) return linger();
  state_ = State::reading;
  reads_head_ = reads_body_ = has_next_ = false;
  set_deadline(service_.limits.idle);
  reader_.next();
  advance();
}

void Connection::stream(Response head, std::shared_ptr<Backlog> backlog, std::shared_ptr<Share> place) {
  if (state_ != State::working) return backlog->close();
  is_chunked_ = reader_.allows_chunks();
  closes_ = closes_ || !is_chunked_;
  out_head_ = head_of(head, true);
  if (is_head_request_) {
    backlog->close();
    on_gone_ = {};
    state_ = State::writing;
    set_deadline(service_.limits.write_time);
    return write(&Connection::answered);
  }
  state_ = State::streaming;
  stream_place_ = std::move(place);
  place_->release();
  request_place_.reset();
  backlog_ = std::move(backlog);
  out_body_ = is_chunked_ ? chunk_of(head.body, false) : std::move(head.body);
  watch_for_hangup();
  write(&Connection::streamed);
}

void Connection::pump() {
  if (state_ != State::streaming) return;
  if (backlog_->is_cut()) return close();
  // A stream may stand still for as long as it likes; the rest of one that has ended is an answer like any other.
  if (!deadline_ && backlog_->has_ended()) set_deadline(service_.limits.write_time);
  if (is_writing_) return;
  Backlog::Batch batch = backlog_->take();
  ends_ = batch.is_last;
  out_body_ = is_chunked_ ? chunk_of(batch.bytes, batch.is_last) : std::move(batch.bytes);
  if (!out_body_.empty()) return write(&Connection::streamed);
  if (ends_) return streamed();
  const std::shared_ptr<Backlog> backlog = backlog_;  // what it calls may let go of it
  backlog->sent();
}

void Connection::streamed() {
  // May call back, and that may write, end the stream or even close.
  const std::shared_ptr<Backlog> backlog = backlog_;
  const bool has_ended = std::exchange(ends_, false);
  backlog->sent();
  if (state_ != State::streaming) return;
  if (!has_ended) return pump();
  backlog->close();
  backlog_.reset();
  on_gone_ = {};
  state_ = State::writing;
  stream_place_.reset();
  // It is a connection like others again, if there is a place for it.
  if (!place_->grow(1)) closes_ = true;
  answered();
}

// One who sent his request and hung up is gone before it is handled: to find that out later, behind requests that came
// meanwhile, would give him what those ask for.
void Connection::on_gone(std::function<void()> call) {
  const bool is_open = state_ == State::working || state_ == State::streaming;
  if (state_ == State::closed || (is_open && has_hung_up())) {
    call();
  } else if (is_open) {
    on_gone_ = std::move(call);
  }
}

bool Connection::has_hung_up() {
  const short closing = wire_->tells_hangup() ? 0 : POLLRDHUP;
  pollfd look{.fd = wire_->socket.native_handle(), .events = closing, .revents = 0};
  return ::poll(&look, 1, 0) > 0 && (look.revents & (POLLHUP | POLLERR | closing)) != 0;
}

void Connection::linger() {
  ErrorCode ignored;  // a client that is gone is found by the read
  wire_->socket.shutdown(asio::socket_base::shutdown_send, ignored);
  state_ = State::lingering;
  set_deadline(service_.limits.linger);
  out_body_.resize(kDrainAtOnce);
  drain();
}

void Connection::drain() {
  wire_->socket.async_read_some(asio::buffer(out_body_),
                                [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
                                  if (self->state_ == State::closed) return;
                                  self->drained_ += size;
                                  if (error || self->drained_ > self->service_.limits.drained) return self->close();
                                  self->drain();
                                });
}

void Connection::stop() {
  stops_ = true;
  on_gone_ = {};
  if (state_ == State::streaming) {
    const std::shared_ptr<Backlog> backlog = backlog_;  // what it wakes may let go of it
    return backlog->server_ends();
  }
  if (state_ != State::writing) close();
}

void Connection::close_behind_answer() {
  if (state_ != State::writing && state_ != State::lingering) return close();
  closes_ = true;
}

void Connection::close() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  deadline_.reset();
  wire_->timer.cancel();
  ErrorCode ignored;
  wire_->socket.close(ignored);
  place_->release();
  stream_place_.reset();
  request_place_.reset();
  if (const auto backlog = std::exchange(backlog_, nullptr)) backlog->close();
  if (const auto call = std::exchange(on_gone_, {})) call();
  service_.closed(shared_from_this());
}

void Connection::set_deadline(std::optional<Nanoseconds> from_now) {
  deadline_.reset();
  if (!from_now) return;
  deadline_ = Clock::now() + *from_now;
  // A timer that goes off too early is set again then; that is rarer than a deadline that moves.
  if (!timer_at_ || *timer_at_ > *deadline_) arm_timer();
}

void Connection::arm_timer() {
  timer_at_ = deadline_;
  wire_->timer.expires_at(*deadline_);
  wire_->timer.async_wait([self = shared_from_this()](const ErrorCode& error) {
    if (error || self->state_ == State::closed) return;
    self->timer_at_.reset();
    if (!self->deadline_) return;
    if (Clock::now() < *self->deadline_) return self->arm_timer();
    self->time_is_up();
  });
}

void Connection::time_is_up() {
  if (state_ != State::reading || is_writing_ || reader_.is_idle()) return close();
  ErrorCode ignored;
  wire_->socket.cancel(ignored);  // the read that waits for the rest
  const bool in_head = reader_.stage() == RequestReader::Stage::head;
  refuse(problem(408, in_head ? "the headers took too long" : "the body took too long"));
}

}  // namespace kron::http
