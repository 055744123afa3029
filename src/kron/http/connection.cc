#include "kron/http/connection.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "kron/http/exchange.h"
#include "kron/http/response_head.h"

namespace kron::http {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using Clock = std::chrono::steady_clock;

Response too_many_requests() {
  Response response = problem(503, "too many requests at a time, of all or of this user; try again");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

struct Connection::Timer {
  asio::steady_timer timer;
};

Connection::Connection(asio::io_context& loop, std::shared_ptr<Wire> wire, const Service& service,
                       const Listener& listener, Principal connected, std::unique_ptr<Share> place)
    : wire_(std::move(wire)),
      timer_(std::make_unique<Timer>(Timer{asio::steady_timer(loop)})),
      service_(service),
      place_(std::move(place)),
      reader_(
          service.limits, service.body_limit, std::move(connected),
          [&listener](const Request& head) { return listener.identify(head); }, service.bodies) {}

Connection::~Connection() = default;

void Connection::start() {
  if (wire_->needs_handshake()) return shake_hands();
  set_deadline(service_.limits.idle);
  read();
}

// One who takes his time for it is as slow as one who does so with his headers.
void Connection::shake_hands() {
  state_ = State::shaking;
  set_deadline(service_.limits.header_time);
  wire_->shake_hands([self = shared_from_this()](bool is_done, const std::string& why) {
    if (self->state_ != State::shaking) return;
    self->state_ = State::reading;
    self->service_.shaken(self, why);
    if (!is_done) return self->linger();
    self->set_deadline(self->service_.limits.idle);
    self->read();
  });
}

void Connection::read() {
  wire_->read(reader_.room(), [self = shared_from_this()](std::size_t size) {
    if (self->state_ != State::reading) return;
    if (size == 0) return self->close();
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
  wire_->watch([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->is_being_served()) self->close();
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
  wire_->write(out_head_, out_body_, [self = shared_from_this(), then](bool is_sent) {
    self->is_writing_ = false;
    if (self->state_ == State::closed) return;
    if (!is_sent) return self->close();
    self->out_head_ = {};
    self->out_body_ = {};
    (*self.*then)();
  });
}

void Connection::answered() {
  wire_->stop_watching();
  if (stops_) {
    wire_->say_farewell();
    return close();
  }
  if (closes_) return linger();
  state_ = State::reading;
  reads_head_ = reads_body_ = false;
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
  if (state_ == State::closed || (is_being_served() && wire_->has_hung_up())) {
    call();
  } else if (is_being_served()) {
    on_gone_ = std::move(call);
  }
}

void Connection::linger() {
  wire_->shut_down();
  state_ = State::lingering;
  set_deadline(service_.limits.linger);
  drain();
}

void Connection::drain() {
  wire_->drain([self = shared_from_this()](std::size_t size) {
    if (self->state_ == State::closed) return;
    self->drained_ += size;
    if (size == 0 || self->drained_ > self->service_.limits.drained) return self->close();
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
  const bool was_shaking = std::exchange(state_, State::closed) == State::shaking;
  deadline_.reset();
  timer_->timer.cancel();
  wire_->close();
  if (was_shaking) service_.shaken(shared_from_this(), {});
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
  timer_->timer.expires_at(*deadline_);
  timer_->timer.async_wait([self = shared_from_this()](const ErrorCode& error) {
    if (error || self->state_ == State::closed) return;
    self->timer_at_.reset();
    if (!self->deadline_) return;
    if (Clock::now() < *self->deadline_) return self->arm_timer();
    self->time_is_up();
  });
}

void Connection::time_is_up() {
  if (state_ == State::shaking) {
    service_.shaken(shared_from_this(), "it took too long");
    return close();
  }
  const bool is_idle = state_ == State::reading && !is_writing_ && reader_.is_idle();
  if (is_idle) wire_->say_farewell();
  if (state_ != State::reading || is_writing_ || is_idle) return close();
  wire_->stop_reading();  // the read that waits for the rest
  const bool in_head = reader_.stage() == RequestReader::Stage::head;
  refuse(problem(408, in_head ? "the headers took too long" : "the body took too long"));
}

}  // namespace kron::http
