#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/env/deadline.h"
#include "kron/http/endpoint.h"
#include "kron/http/message.h"
#include "kron/http/target.h"

namespace kron::http {

// Asks a server on a unix socket or a port, one request at a time, over one connection that is kept; connects again by
// itself when the server has closed it in between. For one thread.
//
// An answer of any status is a Response (error_in() makes an Error of it). Failures: unreachable when nobody answers
// there, or the answer was lost or took too long (then the request may or may not have been obeyed, and the message
// says so); refused when the socket may not be opened, or TLS does not accept the server.
class Client {
 public:
  struct Options {
    Nanoseconds timeout = Seconds(30);  // for a whole answer; for the next bytes of a stream there is none
    std::string cure = "is krond running? see `kron doctor`";
    std::size_t most_body = std::size_t{256} << 20;  // bytes of an answer; a longer one is an error
  };

  explicit Client(Endpoint server);
  Client(Endpoint server, Options options);
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // Nothing that is asked afterwards takes longer than until then, with connecting and all; none: as the options say.
  void give_up_at(std::optional<Deadline> when) { give_up_at_ = when; }

  // A body goes as application/json unless `headers` names another Content-Type.
  Result<Response> request(std::string_view method, std::string_view target, std::string_view body = {},
                           const Fields& headers = {});

  // GET, and the body in pieces as they come until it ends or `on_bytes` says false. An answer other than 200 is an
  // Error, that of its problem document. `on_head`, when there is one, gets the headers of a 200 first.
  Status stream(std::string_view target, const Fields& headers,
                const std::function<bool(std::string_view bytes)>& on_bytes,
                const std::function<void(const Response& head)>& on_head = {});

  // For a long poll beside an event loop: sends, and poll() whenever the descriptor is readable gives the answer once
  // it is complete. No time limit. Another request meanwhile gives this one up.
  Status begin(std::string_view method, std::string_view target, std::string_view body = {},
               const Fields& headers = {});
  int descriptor() const;  // -1 when nothing is under way
  std::optional<Result<Response>> poll();

  // Who the server was that was last connected to, over TLS.
  const std::optional<TlsPeer>& peer() const { return peer_; }

 private:
  class Connection;

  Status connect();
  Status connect_over_tcp();
  Status start(const std::string& message, bool has_body);
  Result<Response> await_answer();
  Error broken(const Error& error);
  Deadline limit() const;
  Error unreachable(const std::string& what) const;
  Error lost(const std::string& what) const;

  Endpoint server_;
  Options options_;
  std::optional<Deadline> give_up_at_;
  std::optional<TlsPeer> peer_;
  std::unique_ptr<Connection> connection_;  // none when it is not open
  bool hung_up_ = false;                    // the server closed a kept connection before the first byte of an answer
};

}  // namespace kron::http
