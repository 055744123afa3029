#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/env/redis_connection.h"

namespace kron {

// Adds a command as Redis reads it.
void append_redis_command(std::string& out, const RedisCommand& command);

// What a reply may not exceed; whoever sends more is no Redis that we want to talk to.
struct RedisReplyLimits {
  std::size_t bytes = std::size_t{256} * 1024 * 1024;  // of a whole reply
  std::size_t items = std::size_t{2} * 1024 * 1024;    // values in it, arrays among them
  std::size_t line_bytes = std::size_t{64} * 1024;     // of an error, a status or a number
  int nesting = 7;                                     // arrays within each other; hiredis knows no more than 8
};

// Reads replies (RESP2) from bytes that come in pieces of any size. After an error it is of no more use.
class RedisReplyReader {
 public:
  explicit RedisReplyReader(RedisReplyLimits limits = {});
  RedisReplyReader(RedisReplyReader&&) noexcept;
  RedisReplyReader& operator=(RedisReplyReader&&) noexcept;
  ~RedisReplyReader();

  // Feed little at a time: taking replies out costs time in proportion to what is left.
  void feed(std::string_view bytes);

  // The next reply; nothing while it is incomplete. Error: this is not RESP2, or beyond the limits.
  Result<std::optional<RedisValue>> next();

  // Whether bytes are left that belong to no reply that was taken.
  [[nodiscard]] bool has_bytes() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace kron
