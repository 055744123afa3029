#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kron/env/descriptor.h"
#include "kron/env/fake/certificates.h"

namespace kron::testing {

// A server on loopback that speaks HTTP/1.1, over TLS if it has a certificate, and says byte for byte what a test
// wants.
class HttpPeer {
 public:
  class Talk;
  // One request on one connection, which goes on if the handler says nothing else. On a thread of that connection.
  using Handler = std::function<void(Talk& talk, const std::string& head, const std::string& body)>;

  struct Tls {
    Pem server;
    std::string client_authority = {};  // not empty: clients must have a certificate of it …
    bool is_client_optional = false;    // … or none
  };

  // `port` 0: any that is free.
  explicit HttpPeer(Handler handler, std::optional<Tls> tls = {}, std::uint16_t port = 0);
  HttpPeer(const HttpPeer&) = delete;
  HttpPeer& operator=(const HttpPeer&) = delete;
  ~HttpPeer();  // closes all connections

  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] int connections() const { return accepted_.load(); }
  // Nobody is let in any more; connections that are open go on.
  void stop_listening();

 private:
  void accept_all();
  void serve(int socket);

  Handler handler_;
  std::optional<Tls> tls_;
  void* context_ = nullptr;  // SSL_CTX*
  Descriptor listener_;
  Descriptor stopped_;
  std::uint16_t port_ = 0;
  std::atomic<int> accepted_{0};
  std::mutex mutex_;
  std::vector<int> sockets_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

class HttpPeer::Talk {
 public:
  Talk(int socket, void* ssl) : socket_(socket), ssl_(ssl) {}

  // Empty: the client is gone.
  std::string read_some();
  bool say(std::string_view bytes);
  bool answer(int code, std::string_view body, std::string_view headers = {});
  void close() { is_closed_ = true; }  // behind what was said
  void reset();                        // as a machine that has forgotten the connection
  void wait_until_gone();
  // Of the client's certificate; empty: it has none.
  [[nodiscard]] std::string client_name() const;
  [[nodiscard]] bool is_closed() const { return is_closed_; }

 private:
  int socket_;
  void* ssl_;  // SSL*; null: none
  bool is_closed_ = false;
};

}  // namespace kron::testing
