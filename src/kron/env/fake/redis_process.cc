#include "kron/env/fake/redis_process.h"

#include <csignal>
#include <cstdlib>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kron::testing {
namespace {

// The package redis-tools has the server only under its other name.
std::string server_program() {
  for (const char* path : {"/usr/bin/redis-server", "/usr/local/bin/redis-server", "/usr/bin/redis-check-rdb"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  return {};
}

std::string protocol_of(std::span<const RedisCommand> commands) {
  std::string bytes;
  for (const RedisCommand& command : commands) {
    bytes += "*" + std::to_string(command.size()) + "\r\n";
    for (const std::string& word : command) bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return bytes;
}

}  // namespace

std::unique_ptr<RedisProcess> RedisProcess::start(const std::vector<std::string>& options) {
  std::unique_ptr<RedisProcess> process(new RedisProcess);
  if (!process->spawn(options)) return nullptr;
  for (int tries = 0; tries < 1000; ++tries) {
    if (process->connect() && process->call({"PING"}).text == "PONG") return process;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return nullptr;
}

RedisProcess::~RedisProcess() {
  if (socket_ >= 0) ::close(socket_);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool RedisProcess::spawn(const std::vector<std::string>& options) {
  const std::string program = server_program();
  if (program.empty()) return false;
  std::vector<std::string> words{"redis-server",    "--port", "0", "--unixsocket", directory_.file("socket"), "--dir",
                                 directory_.path(), "--save", "",  "--logfile",    directory_.file("log")};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execv(program.c_str(), arguments.data());
    ::_exit(127);
  }
  return pid_ > 0;
}

bool RedisProcess::connect() {
  if (socket_ >= 0) ::close(socket_);
  received_.clear();
  used_ = 0;
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  directory_.file("socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
  const timeval limit{10, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  return ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

std::vector<RedisValue> RedisProcess::call(std::span<const RedisCommand> commands) {
  const std::string bytes = protocol_of(commands);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t some = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (some <= 0) return {};
    sent += static_cast<std::size_t>(some);
  }
  std::vector<RedisValue> values;
  while (values.size() < commands.size()) {
    RedisValue value;
    if (!read_value(value)) break;
    values.push_back(std::move(value));
  }
  received_.erase(0, used_);
  used_ = 0;
  return values;
}

RedisValue RedisProcess::call(const RedisCommand& command) {
  std::vector<RedisValue> values = call(std::span(&command, 1));
  return values.empty() ? RedisValue{.kind = RedisValue::Kind::error, .text = "no answer"} : std::move(values[0]);
}

bool RedisProcess::read_more() {
  std::string more(65536, '\0');
  const ssize_t length = ::recv(socket_, more.data(), more.size(), 0);
  if (length <= 0) return false;
  received_.append(more, 0, static_cast<std::size_t>(length));
  return true;
}

bool RedisProcess::read_line(std::string& line) {
  std::size_t end = 0;
  while ((end = received_.find("\r\n", used_)) == std::string::npos) {
    if (!read_more()) return false;
  }
  line = received_.substr(used_, end - used_);
  used_ = end + 2;
  return true;
}

bool RedisProcess::read_value(RedisValue& value) {
  std::string line;
  if (!read_line(line)) return false;
  const char type = line.empty() ? '\0' : line[0];
  line.erase(0, 1);
  if (type == '+' || type == '-') {
    value = {.kind = type == '+' ? RedisValue::Kind::status : RedisValue::Kind::error, .text = std::move(line)};
    return true;
  }
  const long long number = std::strtoll(line.c_str(), nullptr, 10);
  if (type == ':') {
    value = {.kind = RedisValue::Kind::integer, .integer = number};
    return true;
  }
  if (number < 0) {
    value = {};
    return true;
  }
  const auto length = static_cast<std::size_t>(number);
  if (type == '*') {
    value = {.kind = RedisValue::Kind::array, .items = std::vector<RedisValue>(length)};
    for (RedisValue& item : value.items) {
      if (!read_value(item)) return false;
    }
    return true;
  }
  while (received_.size() < used_ + length + 2) {
    if (!read_more()) return false;
  }
  value = {.kind = RedisValue::Kind::text, .text = received_.substr(used_, length)};
  used_ += length + 2;
  return true;
}

}  // namespace kron::testing
