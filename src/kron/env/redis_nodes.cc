#include "kron/env/redis_nodes.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>

#include "kron/env/redis_session.h"

namespace kron {
namespace {

constexpr std::size_t kMostNodes = 64;
constexpr std::int64_t kMostPort = 65'535;

std::optional<RedisValue> answer_of(RedisSession& session, const RedisCommand& question, Deadline deadline) {
  RedisReply reply = session.exchange(std::span(&question, 1), deadline).front();
  if (!reply.is_reply()) return std::nullopt;
  return std::move(reply.value);
}

}  // namespace

std::vector<RedisAddress> nodes_in_slots(const RedisValue& slots, const RedisAddress& from) {
  std::vector<RedisAddress> nodes;
  for (const RedisValue& range : slots.items) {
    // The first and the last slot, the master, its replicas; each node an address, a port and more.
    for (std::size_t i = 2; i < range.items.size(); ++i) {
      const std::vector<RedisValue>& node = range.items[i].items;
      if (node.size() < 2 || node[1].integer <= 0 || node[1].integer > kMostPort) continue;
      RedisAddress address{node[0].text, static_cast<std::uint16_t>(node[1].integer)};
      if (address.host.empty() || address.host == "?") address.host = from.host;
      if (std::ranges::find(nodes, address) == nodes.end()) nodes.push_back(std::move(address));
    }
  }
  return nodes;
}

std::vector<RedisAddress> sentinels_in(const RedisValue& answer) {
  std::vector<RedisAddress> sentinels;
  for (const RedisValue& sentinel : answer.items) {
    RedisAddress address;
    for (std::size_t i = 0; i + 1 < sentinel.items.size(); i += 2) {
      const std::string& value = sentinel.items[i + 1].text;
      if (sentinel.items[i].text == "ip") address.host = value;
      if (sentinel.items[i].text == "port") std::from_chars(value.data(), value.data() + value.size(), address.port);
    }
    if (!address.host.empty() && address.port != 0) sentinels.push_back(std::move(address));
  }
  return sentinels;
}

void RedisNodes::note(const RedisAddress& address) {
  const std::lock_guard lock(mutex_);
  std::erase(known_, address);
  known_.push_back(address);
  if (known_.size() > kMostNodes) known_.erase(known_.begin());
}

void RedisNodes::learn_nodes(RedisSession& session, Deadline deadline) {
  const std::optional<RedisValue> slots = answer_of(session, {"CLUSTER", "SLOTS"}, deadline);
  if (!slots) return;
  const std::vector<RedisAddress> nodes = nodes_in_slots(*slots, session.address());
  for (const RedisAddress& node : nodes) note(node);
  const std::lock_guard lock(mutex_);
  is_cluster_ = is_cluster_ || !nodes.empty();
}

void RedisNodes::learn_sentinels(RedisSession& session, const RedisUrl& url, Deadline deadline) {
  const std::optional<RedisValue> answer = answer_of(session, {"SENTINEL", "SENTINELS", url.master_name}, deadline);
  if (!answer) return;
  for (const RedisAddress& sentinel : sentinels_in(*answer)) note(sentinel);
}

std::vector<RedisAddress> RedisNodes::with_those_of(const RedisUrl& url) const {
  std::vector<RedisAddress> all = url.addresses;
  const std::lock_guard lock(mutex_);
  for (auto known = known_.rbegin(); known != known_.rend(); ++known) {
    if (std::ranges::find(all, *known) == all.end()) all.push_back(*known);
  }
  return all;
}

void RedisNodes::set_server(const RedisAddress& address) {
  const std::lock_guard lock(mutex_);
  server_ = address;
}

std::optional<RedisAddress> RedisNodes::server() const {
  const std::lock_guard lock(mutex_);
  return server_;
}

bool RedisNodes::is_cluster() const {
  const std::lock_guard lock(mutex_);
  return is_cluster_;
}

}  // namespace kron
