#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kron/env/deadline.h"
#include "kron/env/redis_connection.h"
#include "kron/env/redis_protocol.h"
#include "kron/env/redis_socket.h"
#include "kron/env/redis_url.h"

namespace kron {

// One connection to one server, from its first byte to its last: what broke is never used again. For one thread.
class RedisSession {
 public:
  // Unreachable and refused as RedisSocket::open; the message names the address.
  static Result<std::unique_ptr<RedisSession>> open(const RedisAddress& address, const std::optional<RedisTls>& tls,
                                                    Deadline deadline, RedisReplyLimits limits = {});

  [[nodiscard]] const RedisAddress& address() const { return address_; }
  // True once an answer was lost, or came that nobody had asked for.
  [[nodiscard]] bool is_broken() const { return !broken_.empty(); }

  // All commands as one pipeline: a reply for each, in order. It reads while it sends, so that neither side can wait
  // for the other.
  std::vector<RedisReply> exchange(std::span<const RedisCommand> commands, Deadline deadline);

  // For pub/sub, where questions and answers do not pair. An error: the connection is broken. A command must be small:
  // it fits into the socket's buffer, or the server is dead.
  Status send(const RedisCommand& command);
  Result<std::optional<RedisValue>> receive(Deadline deadline);  // nothing: none came in time

 private:
  RedisSession(RedisAddress address, RedisSocket socket, RedisReplyLimits limits);

  void check_silence();
  Result<bool> read_some();
  void break_off(const std::string& why);

  RedisAddress address_;
  RedisSocket socket_;
  RedisReplyReader reader_;
  std::string broken_;  // why; empty while it is whole
};

}  // namespace kron
