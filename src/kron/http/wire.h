#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kron/env/descriptor.h"
#include "kron/http/tls.h"

namespace boost::asio {
class io_context;
}

namespace kron::http {

// The bytes of one connection of a server, in the clear or over TLS. All of it on the server's thread, which is called
// back behind the call that asked, never from within it. After close() those who wait are told nothing or that it is
// over.
class Wire : public std::enable_shared_from_this<Wire> {
 public:
  // In the clear when there is no session.
  static std::shared_ptr<Wire> open(boost::asio::io_context& loop, Descriptor socket,
                                    std::optional<TlsSession> session);
  Wire() = default;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  virtual ~Wire() = default;

  // Over TLS, before anything else; in the clear there is nothing to be done. `why` is empty when the client left
  // without having said anything.
  virtual bool needs_handshake() const = 0;
  virtual void shake_hands(std::function<void(bool is_done, const std::string& why)> done) = 0;

  // Some of what the client sends; 0: nothing more comes. `room` stays until then.
  virtual void read(std::span<char> room, std::function<void(std::size_t size)> done) = 0;
  virtual void stop_reading() = 0;

  // Both, one behind the other; they stay until then.
  virtual void write(std::string_view head, std::string_view body, std::function<void(bool is_sent)> done) = 0;

  // Calls once when the client hangs up, unless stop_watching() comes first. What it sends meanwhile waits for read(),
  // and no more than a record of it is taken in.
  virtual void watch(std::function<void()> gone) = 0;
  virtual void stop_watching() = 0;
  virtual bool has_hung_up() = 0;  // as far as it can be told now

  // Nothing is sent behind what was written.
  virtual void shut_down() = 0;
  // Whatever the client still sends, unread; 0: nothing more comes.
  virtual void drain(std::function<void(std::size_t size)> done) = 0;

  // Tells the client, if that can be done at once, that the end is meant to be here.
  virtual void say_farewell() = 0;
  virtual void close() = 0;
};

}  // namespace kron::http
