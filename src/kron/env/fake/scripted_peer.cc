#include "kron/env/fake/scripted_peer.h"

#include <arpa/inet.h>
#include <charconv>
#include <cstdlib>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <utility>

namespace kron {
namespace {

constexpr timeval kPeerPatience{60, 0};

void require_peer(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

ScriptedPeer::Talk::Talk(Descriptor socket) : socket_(std::move(socket)) {
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &kPeerPatience, sizeof kPeerPatience);
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &kPeerPatience, sizeof kPeerPatience);
}

bool ScriptedPeer::Talk::read_more() {
  char bytes[4096];
  const ssize_t size = uninterrupted([&] { return ::recv(socket_.get(), bytes, sizeof bytes, 0); });
  if (size <= 0) return false;
  unread_.append(bytes, static_cast<std::size_t>(size));
  return true;
}

std::optional<RedisCommand> ScriptedPeer::Talk::command() {
  std::size_t at = 0;
  const auto number = [&](char kind) -> std::optional<std::size_t> {
    std::size_t end = 0;
    while ((end = unread_.find("\r\n", at)) == std::string::npos) {
      if (!read_more()) return std::nullopt;
    }
    require_peer(unread_[at] == kind);
    std::size_t value = 0;
    std::from_chars(unread_.data() + at + 1, unread_.data() + end, value);
    at = end + 2;
    return value;
  };
  const std::optional<std::size_t> count = number('*');
  if (!count) return std::nullopt;
  RedisCommand command;
  for (std::size_t i = 0; i < *count; ++i) {
    const std::optional<std::size_t> size = number('$');
    while (size && unread_.size() < at + *size + 2) {
      if (!read_more()) return std::nullopt;
    }
    if (!size) return std::nullopt;
    command.push_back(unread_.substr(at, *size));
    at += *size + 2;
  }
  unread_.erase(0, at);
  return command;
}

void ScriptedPeer::Talk::take(int commands) {
  for (int i = 0; i < commands; ++i) (void)command();
}

void ScriptedPeer::Talk::say(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = uninterrupted([&] { return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); });
    if (size <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

void ScriptedPeer::Talk::answer(std::string_view bytes) {
  (void)command();
  say(bytes);
}

void ScriptedPeer::Talk::let_in() {
  answer("+OK\r\n");
  answer("+PONG\r\n");
}

void ScriptedPeer::Talk::wait_until_closed() {
  while (read_more()) unread_.clear();
}

void ScriptedPeer::Talk::close() { socket_ = Descriptor(); }

void ScriptedPeer::Talk::reset() {
  const linger now{1, 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

ScriptedPeer::ScriptedPeer(std::vector<Script> scripts) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  // So that a client's large commands are not all taken by the kernel on our behalf.
  const int little = 16 * 1024;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
  require_peer(::bind(listener_.get(), raw, size) == 0 && ::listen(listener_.get(), 16) == 0 &&
               ::getsockname(listener_.get(), raw, &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([fd = listener_.get(), scripts = std::move(scripts)] {
    for (const Script& script : scripts) {
      const int socket = uninterrupted([&] { return ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC); });
      if (socket < 0) return;
      Talk talk((Descriptor(socket)));
      script(talk);
    }
    ::shutdown(fd, SHUT_RDWR);  // nobody is there any more
  });
}

void ScriptedPeer::finish() {
  if (thread_.joinable()) thread_.join();
}

ScriptedPeer::~ScriptedPeer() {
  ::shutdown(listener_.get(), SHUT_RDWR);  // ends accept
  finish();
}

}  // namespace kron
