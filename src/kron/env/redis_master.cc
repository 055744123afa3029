#include <algorithm>
#include <charconv>
#include <utility>

#include "kron/base/text.h"
#include "kron/env/redis_login.h"
#include "kron/env/redis_nodes.h"

namespace kron {
namespace {

using FoundMaster = Result<std::unique_ptr<RedisSession>>;

// A cluster that sends us round and round is at odds with itself.
constexpr int kMostHops = 5;

// What is told of several servers that all failed: a refusal first, because waiting does not cure it.
class Failures {
 public:
  void add(Error error) {
    if (!is_any_ || (error_.code == Code::unreachable && error.code != Code::unreachable)) error_ = std::move(error);
    is_any_ = true;
  }
  [[nodiscard]] Error told(const std::string& when_none) const {
    return is_any_ ? error_ : Error{Code::unreachable, when_none};
  }

 private:
  Error error_;
  bool is_any_ = false;
};

FoundMaster log_in_where_routed(const RedisAddress& address, const RedisUrl& url, const std::string& route_key,
                                Deadline deadline) {
  RedisAddress next = address;
  for (int hop = 0; hop <= kMostHops; ++hop) {
    Result<RedisLogin> login = log_in_to_redis(next, url, route_key, deadline);
    if (!login) return fail(login.error());
    if (!login->redirect) return std::move(login->session);
    next = login->redirect->address;
  }
  return fail(Code::unreachable, "the Redis Cluster at " + text_of(address) +
                                     " sends us from node to node without an end; see CLUSTER NODES there");
}

// A Sentinel's word; it may have a password, which then is the same as that of the servers.
Result<RedisAddress> ask_sentinel(const RedisAddress& sentinel, const RedisUrl& url, Deadline deadline,
                                  RedisNodes* nodes) {
  Result<std::unique_ptr<RedisSession>> session = RedisSession::open(sentinel, url.tls, deadline);
  if (!session) return fail(session.error());
  const RedisCommand question{"SENTINEL", "get-master-addr-by-name", url.master_name};
  RedisReply reply = (*session)->exchange(std::span(&question, 1), deadline).front();
  if (reply.how == RedisReply::How::error && reply.why.starts_with("NOAUTH") && !url.password.empty()) {
    const RedisCommand login =
        url.user.empty() ? RedisCommand{"AUTH", url.password} : RedisCommand{"AUTH", url.user, url.password};
    const std::vector<RedisCommand> both{login, question};
    reply = (*session)->exchange(both, deadline).back();
  }
  const std::string who = "the Sentinel at " + text_of(sentinel);
  if (reply.how == RedisReply::How::error) return fail(Code::refused, who + " says " + quoted(reply.why, 200));
  if (!reply.is_reply()) return fail(Code::unreachable, reply.why);
  if (reply.value.kind == RedisValue::Kind::nil) {
    return fail(Code::refused,
                who + " knows no master " + quoted(url.master_name, 100) + "; see SENTINEL MASTERS there");
  }
  RedisAddress master;
  if (reply.value.items.size() == 2) {
    master.host = reply.value.items[0].text;
    const std::string& port = reply.value.items[1].text;
    std::from_chars(port.data(), port.data() + port.size(), master.port);
  }
  if (master.host.empty() || master.port == 0) return fail(Code::unreachable, who + " names no address of the master");
  if (nodes != nullptr) nodes->learn_sentinels(**session, url, deadline);
  return master;
}

// By its own word. Who may not ask must believe the Sentinel.
FoundMaster log_in_if_master(const RedisAddress& address, const RedisUrl& url, Deadline deadline) {
  Result<RedisLogin> login = log_in_to_redis(address, url, "", deadline);
  if (!login) return fail(login.error());
  const RedisCommand question{"ROLE"};
  const RedisReply role = login->session->exchange(std::span(&question, 1), deadline).front();
  if (!role.is_reply() && role.how != RedisReply::How::error) return fail(Code::unreachable, role.why);
  if (role.is_reply() && (role.value.items.empty() || role.value.items[0].text != "master")) {
    return fail(Code::unreachable, "Redis at " + text_of(address) +
                                       " is called master by a Sentinel, but is none yet; a failover is under way");
  }
  return std::move(login->session);
}

FoundMaster find_by_sentinels(const RedisUrl& url, Deadline deadline, RedisNodes* nodes) {
  Failures failures;
  std::vector<RedisAddress> tried;
  const std::vector<RedisAddress> sentinels = nodes != nullptr ? nodes->with_those_of(url) : url.addresses;
  for (std::size_t i = 0; i < sentinels.size(); ++i) {
    // Half of a Sentinel's share is for the server that it names.
    const Deadline its_end = share_of(deadline, sentinels.size() - i);
    Result<RedisAddress> named = ask_sentinel(sentinels[i], url, share_of(its_end, 2), nodes);
    if (!named) {
      failures.add(std::move(named.error()));
      continue;
    }
    if (std::find(tried.begin(), tried.end(), *named) != tried.end()) continue;
    tried.push_back(*named);
    FoundMaster master = log_in_if_master(*named, url, its_end);
    if (master) return master;
    failures.add(std::move(master.error()));
  }
  return fail(failures.told("no Sentinel is given"));
}

}  // namespace

FoundMaster find_redis_master(const RedisUrl& url, const std::string& route_key,
                              const std::optional<RedisAddress>& likely, Deadline deadline, RedisNodes* nodes) {
  if (url.has_sentinels()) return find_by_sentinels(url, deadline, nodes);
  std::vector<RedisAddress> addresses = nodes != nullptr ? nodes->with_those_of(url) : url.addresses;
  if (likely) {
    std::erase(addresses, *likely);
    addresses.insert(addresses.begin(), *likely);
  }
  Failures failures;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    FoundMaster session = log_in_where_routed(addresses[i], url, route_key, share_of(deadline, addresses.size() - i));
    if (session) return session;
    failures.add(std::move(session.error()));
  }
  return fail(failures.told("no address is given"));
}

}  // namespace kron
