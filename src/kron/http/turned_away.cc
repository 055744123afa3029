#include "kron/http/turned_away.h"

#include <array>
#include <string>
#include <sys/socket.h>
#include <utility>

#include "kron/http/response_head.h"

namespace kron::http {

void TurnedAway::add(Descriptor socket, const Response& response) {
  const std::string message = response_head(response, BodyEnd::by_length, true) + response.body;
  (void)::send(socket.get(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket.get(), SHUT_WR);
  if (clients_.size() == kMost) close_oldest();
  clients_.push_back({std::move(socket), Clock::now() + linger_});
}

std::optional<Nanoseconds> TurnedAway::close_due() {
  const Clock::time_point now = Clock::now();
  while (!clients_.empty() && clients_.front().until <= now) close_oldest();
  if (clients_.empty()) return std::nullopt;
  return clients_.front().until - now;
}

// What has come is read first: bytes that are never read would reset the connection.
void TurnedAway::close_oldest() {
  std::array<char, 4096> bytes;
  std::size_t drained = 0;
  while (drained < drained_) {
    const ssize_t size = ::recv(clients_.front().socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size <= 0) break;
    drained += static_cast<std::size_t>(size);
  }
  clients_.pop_front();
}

}  // namespace kron::http
