#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kron/http/backlog.h"
#include "kron/http/budget.h"
#include "kron/http/limits.h"
#include "kron/http/listener.h"
#include "kron/http/message.h"
#include "kron/http/reply.h"
#include "kron/http/request_reader.h"
#include "kron/http/server_thread.h"
#include "kron/http/wire.h"

namespace boost::asio {
class io_context;
}

namespace kron::http {

class Connection;

// What all connections of a server share.
struct Service {
  Limits limits;
  RequestReader::BodyLimit body_limit;
  std::function<void(Request, Reply)> handler;
  std::shared_ptr<ServerThread> thread;
  std::function<void(const std::shared_ptr<Connection>&)> closed;  // it is of no more use
  // Its handshake is over; `why` it failed, if there is something to say about it.
  std::function<void(const std::shared_ptr<Connection>&, const std::string& why)> shaken;
  std::shared_ptr<Budget> connections, streams, bodies, requests;  // what all clients share
  Fields headers = {};                                             // of every answer
};

// One client: reads a request, has it handled, writes the answer, and again. All of it on the server's thread.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `service` and `listener` outlive the connection. `place` is its own among the connections, taken for `connected`.
  Connection(boost::asio::io_context& loop, std::shared_ptr<Wire> wire, const Service& service,
             const Listener& listener, Principal connected, std::unique_ptr<Share> place);
  ~Connection();

  void start();
  // The server ends: nobody is called any more, and the connection closes, behind what is being sent. Streams end, or
  // are cut (Stream::counts_as_whole).
  void stop();
  void close();
  // At once, but behind an answer that is being written.
  void close_behind_answer();

  // For the request that is being handled; without one they do nothing.
  void answer(Response response);
  // `place`: its own among the streams.
  void stream(Response head, std::shared_ptr<Backlog> backlog, std::shared_ptr<Share> place);
  void pump();
  void on_gone(std::function<void()> call);

  // Of its requests none came from a preferred principal, and none is being worked on: see Server::Options.
  bool is_stranger() const { return !is_known_ && !is_being_served(); }
  std::chrono::steady_clock::time_point begun() const { return begun_; }
  // Of its last request; until there is one, nobody.
  const Principal& principal() const { return principal_; }

 private:
  enum class State : std::uint8_t { shaking, reading, working, writing, streaming, lingering, closed };
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Timer;

  bool is_being_served() const { return state_ == State::working || state_ == State::streaming; }
  std::string head_of(Response& response, bool is_stream) const;
  void shake_hands();
  void read();
  void advance();
  void handle(Request request);
  void say_continue();
  void refuse(Response response);
  void watch_for_hangup();
  void write(void (Connection::*then)());
  void answered();
  void streamed();
  void linger();
  void drain();

  void set_deadline(std::optional<Nanoseconds> from_now);
  void arm_timer();
  void time_is_up();

  std::shared_ptr<Wire> wire_;
  std::unique_ptr<Timer> timer_;
  const Service& service_;
  std::unique_ptr<Share> place_;  // nothing in it while there is a stream
  std::shared_ptr<Share> stream_place_;
  std::unique_ptr<Share> request_place_;  // while one is worked on
  Principal principal_;
  RequestReader reader_;
  State state_ = State::reading;
  const TimePoint begun_ = std::chrono::steady_clock::now();
  bool is_known_ = false;
  bool is_head_request_ = false;
  bool closes_ = false;      // behind the answer
  bool reads_head_ = false;  // its time runs
  bool reads_body_ = false;  // its time runs
  bool is_writing_ = false;
  bool is_chunked_ = false;  // the stream
  bool stops_ = false;       // the server does
  bool ends_ = false;        // the stream, with what is being written
  std::string out_head_;
  std::string out_body_;
  std::size_t drained_ = 0;
  std::shared_ptr<Backlog> backlog_;
  std::function<void()> on_gone_;
  std::optional<TimePoint> deadline_;
  std::optional<TimePoint> timer_at_;  // when the timer goes off: never later than the deadline
};

}  // namespace kron::http
