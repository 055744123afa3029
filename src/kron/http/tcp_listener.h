#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kron/base/result.h"
#include "kron/env/descriptor.h"
#include "kron/http/listener.h"
#include "kron/http/tls_source.h"

namespace kron::http {

// A port of this machine, in the clear or, with a source of certificates, over TLS. Nothing is known of those who
// connect but their address, so a request must say who sends it.
class TcpListener : public Listener {
 public:
  // Of a request whose `principal` is the address it came from (10.0.0.7, fe80::1), without any permission.
  using Identify = std::function<Identified(const Request& head)>;

  // `address` is a numeric host and a port: 127.0.0.1:8126, [::1]:8126; port 0 is any that is free. Code invalid: it is
  // none; conflict: another program listens there.
  static Result<TcpListener> open(const std::string& address, Identify identify, std::shared_ptr<TlsSource> tls = {});
  // One that listens already, as a service manager hands it over. Code invalid: it is no such socket.
  static Result<TcpListener> adopt(Descriptor socket, Identify identify, std::shared_ptr<TlsSource> tls = {});

  int descriptor() const override { return socket_.get(); }
  Identified identify(int socket) const override;
  Identified identify(const Request& head) const override { return identify_(head); }

  std::shared_ptr<const TlsContext> tls() const override { return tls_ ? tls_->context() : nullptr; }

  std::uint16_t port() const { return port_; }

 private:
  TcpListener(Descriptor socket, std::uint16_t port, Identify identify, std::shared_ptr<TlsSource> tls)
      : socket_(std::move(socket)), port_(port), identify_(std::move(identify)), tls_(std::move(tls)) {}

  Descriptor socket_;
  std::uint16_t port_;
  Identify identify_;
  std::shared_ptr<TlsSource> tls_;
};

}  // namespace kron::http
