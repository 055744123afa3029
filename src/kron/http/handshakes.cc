#include "kron/http/handshakes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kron/http/network.h"

namespace kron::http {

std::shared_ptr<Connection> Handshakes::add(std::shared_ptr<Connection> client, std::string address) {
  std::string network = network_of(address);
  clients_.push_back({std::move(client), std::move(address), std::move(network)});
  if (clients_.size() <= kMost) return nullptr;
  std::map<std::string_view, std::size_t> counts;
  for (const Client& one : clients_) ++counts[one.network];
  // Of several with most the first, and the oldest are first. The last is it never: of two of a network it is the
  // second, and where nobody has two, it is younger than all.
  return std::ranges::max_element(clients_, {}, [&](const Client& one) { return counts[one.network]; })->connection;
}

std::string Handshakes::remove(const std::shared_ptr<Connection>& client) {
  const auto found = std::ranges::find(clients_, client, &Client::connection);
  if (found == clients_.end()) return {};
  std::string address = std::move(found->address);
  clients_.erase(found);
  return address;
}

void Handshakes::failed(const std::string& address, const std::string& why, TimePoint now) {
  ++failures_;
  if (now < quiet_until_) return;
  quiet_until_ = now + std::chrono::seconds(1);
  log_.warning("tls_handshake_failed", {{"address", address}, {"error", why}, {"count", std::exchange(failures_, 0)}});
}

}  // namespace kron::http
