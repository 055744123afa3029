#pragma once

#include <cstddef>
#include <cstdint>

#include "kron/base/instant.h"

namespace kron::http {

// What all clients of a server share. One who is preferred (Server::Options) may have all of it.
struct SharedLimit {
  std::size_t most;
  std::size_t kept;         // of that, for the preferred alone
  std::size_t of_one_user;  // who is not preferred
};

// A body up to this size is read whatever else is being sent, and larger ones only as far as the bodies' limit goes.
inline constexpr std::size_t kSmallBody = std::size_t{64} << 10;

// What clients may cost, one and all together. The size of a body is asked for per request (Server::BodyLimit).
struct Limits {
  std::size_t target_bytes = std::size_t{8} << 10;   // more: 414
  std::size_t header_bytes = std::size_t{16} << 10;  // request line and headers together; more: 431
  std::size_t header_count = 100;                    // more: 431
  // More of these: 503 and Retry-After. A connection counts as one while it asks, and as a stream while it is
  // sent one; the bytes of bodies beyond kSmallBody count until their request is answered.
  SharedLimit connections = {.most = 512, .kept = 64, .of_one_user = 128};
  SharedLimit streams = {.most = 512, .kept = 64, .of_one_user = 64};
  SharedLimit bodies = {
      .most = std::size_t{256} << 20, .kept = std::size_t{96} << 20, .of_one_user = std::size_t{96} << 20};
  // Requests that are being worked on, by those who send them: where many come through one client, as a front.
  SharedLimit requests = {.most = SIZE_MAX, .kept = 0, .of_one_user = SIZE_MAX};
  Nanoseconds idle = Seconds(75);                     // between requests; then closed without a word
  Nanoseconds header_time = Seconds(10);              // from the first byte of a request to its last header; then 408
  Nanoseconds body_time = Seconds(60);                // from there to the end of the body; then 408
  Nanoseconds write_time = Seconds(30);               // to take an answer, for each MiB begun; then closed
  Nanoseconds linger = Seconds(2);                    // for a client to take its last answer, while what it still
  std::size_t drained = std::size_t{256} << 10;       // sends, up to so much, is read: unread bytes would reset it
  std::size_t stream_backlog = std::size_t{1} << 20;  // bytes of a stream that wait for its reader; more: closed
};

}  // namespace kron::http
