#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "kron/env/log.h"

namespace kron::http {

class Connection;

// Clients that are just shaking hands, which costs a server more than it costs them. For one thread.
class Handshakes {
 public:
  // So many at a time.
  static constexpr std::size_t kMost = 64;

  explicit Handshakes(Log& log) : log_(log) {}

  // Returns whom to close, if that is one too many: the oldest of the network that has most of them, so that one who
  // sends many of them is in his own way first; where several networks have as many, the oldest of all of theirs. Never
  // the one that was added.
  std::shared_ptr<Connection> add(std::shared_ptr<Connection> client, std::string address);
  // Its address; empty when it is not among them.
  std::string remove(const std::shared_ptr<Connection>& client);

  using TimePoint = std::chrono::steady_clock::time_point;
  // At most one line a second is written, with the number of those since the last.
  void failed(const std::string& address, const std::string& why, TimePoint now);

 private:
  struct Client {
    std::shared_ptr<Connection> connection;
    std::string address;
    std::string network;  // http::network_of the address
  };

  Log& log_;
  std::deque<Client> clients_;  // who came first is first
  std::int64_t failures_ = 0;   // that stand in no line yet
  TimePoint quiet_until_ = {};
};

}  // namespace kron::http
