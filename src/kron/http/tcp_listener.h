#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "kron/base/result.h"
#include "kron/env/descriptor.h"
#include "kron/http/listener.h"

namespace kron::http {

// A port of this machine. Nothing is known of those who connect but their address, so a request must say who sends it.
class TcpListener : public Listener {
 public:
  // Of a request whose `principal` is the address it came from, without any permission.
  using Identify = std::function<Identified(const Request& head)>;

  // `address` is a numeric host and a port: 127.0.0.1:8126, [::1]:8126; port 0 is any that is free. Code invalid: it is
  // none; conflict: another program listens there.
  static Result<TcpListener> open(const std::string& address, Identify identify);

  int descriptor() const override { return socket_.get(); }
  Identified identify(int socket) const override;
  Identified identify(const Request& head) const override { return identify_(head); }

  std::uint16_t port() const { return port_; }

 private:
  TcpListener(Descriptor socket, std::uint16_t port, Identify identify)
      : socket_(std::move(socket)), port_(port), identify_(std::move(identify)) {}

  Descriptor socket_;
  std::uint16_t port_;
  Identify identify_;
};

}  // namespace kron::http
