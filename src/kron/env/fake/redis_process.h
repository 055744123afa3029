#pragma once

#include <memory>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "kron/env/redis_connection.h"
#include "kron/testing/temporary_directory.h"

namespace kron::testing {

// A redis-server of the test's own, on a unix socket in a directory of its own, and a connection to it that knows
// nothing but the protocol. It dies with this, and with the test.
class RedisProcess {
 public:
  // None: there is no Redis on this machine, or it does not start within ten seconds.
  static std::unique_ptr<RedisProcess> start(const std::vector<std::string>& options = {});
  ~RedisProcess();
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;

  // One pipeline. Fewer answers than commands: the server is gone, or silent for ten seconds.
  std::vector<RedisValue> call(std::span<const RedisCommand> commands);
  RedisValue call(const RedisCommand& command);

  [[nodiscard]] std::string socket_path() const { return directory_.file("socket"); }

 private:
  RedisProcess() = default;
  bool spawn(const std::vector<std::string>& options);
  bool connect();
  bool read_more();
  bool read_line(std::string& line);
  bool read_value(RedisValue& value);

  TemporaryDirectory directory_;
  pid_t pid_ = -1;
  int socket_ = -1;
  std::string received_;
  std::size_t used_ = 0;
};

}  // namespace kron::testing
