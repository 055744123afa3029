#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/env/redis_url.h"

namespace kron {

// The TLS side of one connection, as a client. Touches no socket: encrypted bytes go in and come out by receive and
// send, so that every wait stays with the owner of the socket. For one thread.
//
// Only TLS 1.2 and newer; the server's certificate must be trusted and be for the host.
class RedisTlsSession {
 public:
  // Refused: a file of `tls` cannot be used.
  static Result<RedisTlsSession> make(const RedisTls& tls, const std::string& host);
  RedisTlsSession(RedisTlsSession&&) noexcept;
  RedisTlsSession& operator=(RedisTlsSession&&) noexcept;
  ~RedisTlsSession();

  // Encrypted bytes from the server.
  void received(std::string_view encrypted);
  // Adds the encrypted bytes that are to be sent to `out`.
  void take_output(std::string& out);

  // True: done; false: needs more from the server. Refused: the server cannot be trusted, or does not trust us.
  Result<bool> shake_hands();
  // How many bytes were taken, which is 0 when the server must be heard first.
  Result<std::size_t> write(std::string_view plain);
  // How many bytes came, which is 0 when more must be received first.
  Result<std::size_t> read(std::span<char> room);

 private:
  struct Parts;
  explicit RedisTlsSession(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace kron
