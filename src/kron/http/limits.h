#pragma once

#include <cstddef>

#include "kron/base/instant.h"

namespace kron::http {

// What one client may cost. The size of a body is asked for per request (Server::BodyLimit).
struct Limits {
  std::size_t target_bytes = std::size_t{8} << 10;    // more: 414
  std::size_t header_bytes = std::size_t{16} << 10;   // request line and headers together; more: 431
  std::size_t header_count = 100;                     // more: 431
  std::size_t connections = 512;                      // more: 503 and Retry-After
  Nanoseconds idle = Seconds(75);                     // between requests; then closed without a word
  Nanoseconds header_time = Seconds(10);              // from the first byte of a request to its last header; then 408
  Nanoseconds body_time = Seconds(60);                // from there to the end of the body; then 408
  Nanoseconds write_time = Seconds(30);               // to take an answer, for each MiB begun; then closed
  std::size_t stream_backlog = std::size_t{1} << 20;  // bytes of a stream that wait for its reader; more: closed
};

}  // namespace kron::http
