#pragma once

#include <cstdint>
#include <string>
#include <sys/socket.h>
#include <vector>

#include "kron/base/result.h"
#include "kron/env/deadline.h"
#include "kron/env/descriptor.h"

namespace kron {

// Where a stream socket can be connected to, as the kernel takes it.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// The addresses of a host, at least one, best first. The system's resolver knows no deadline: it is asked by a thread
// that is left behind when the answer takes too long, and ends when the resolver gives up. Unreachable: no such host,
// or no answer in time.
Result<std::vector<SocketAddress>> look_up_host(const std::string& host, std::uint16_t port, Deadline deadline);

// A connected socket that does not block. Refused: no permission. Unreachable: nobody answers there in time.
Result<Descriptor> connect_to(const SocketAddress& address, Deadline deadline);

}  // namespace kron
