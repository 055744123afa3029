#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kron/env/deadline.h"
#include "kron/env/descriptor.h"
#include "kron/env/host_lookup.h"
#include "kron/env/redis_tls.h"
#include "kron/env/redis_url.h"

namespace kron {

// A stream of bytes to a server, by TCP, TLS or a unix socket. Never blocks but in open() and wait(), which end at
// their deadline. For one thread.
class RedisSocket {
 public:
  // Connects and, with `tls`, makes sure of the server. Unreachable: nobody answers there in time. Refused: no
  // permission for the socket, or TLS does not accept the server.
  static Result<RedisSocket> open(const RedisAddress& address, const std::optional<RedisTls>& tls, Deadline deadline);

  // How many of the bytes were taken: these may reach the server, the others will not. An error: it takes no more.
  Result<std::size_t> send(std::string_view bytes);

  // How many bytes came; 0: none now. An error: no more will come.
  Result<std::size_t> receive(std::span<char> room);

  // Until bytes have come or, with `to_send`, can be sent. False: the deadline is over.
  bool wait(bool to_send, Deadline deadline);

 private:
  explicit RedisSocket(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  static Result<RedisSocket> open_one(const SocketAddress& address, Deadline deadline);
  Status start_tls(const RedisTls& tls, const std::string& host, Deadline deadline);
  Status flush();
  Result<std::size_t> send_plain(std::string_view bytes);
  Result<std::size_t> receive_plain(std::span<char> room);

  Descriptor descriptor_;
  std::optional<RedisTlsSession> tls_;
  std::string encrypted_;  // to be sent
};

}  // namespace kron
