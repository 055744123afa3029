#include "kron/env/real_redis_subscription.h"

#include <algorithm>
#include <utility>

#include "kron/base/text.h"
#include "kron/env/redis_login.h"
#include "kron/env/redis_nodes.h"

namespace kron {
namespace {

// After so many unanswered questions the server counts as dead.
constexpr int kMostUnanswered = 2;

// What a server sends to a subscriber is an array whose first item says what it is.
std::string_view pushed_kind(const RedisValue& value) {
  return value.kind == RedisValue::Kind::array && !value.items.empty() ? std::string_view(value.items[0].text)
                                                                       : std::string_view();
}

bool is_message(const RedisValue& value) {
  return pushed_kind(value) == "message" && value.items.size() == 3 && value.items[1].kind == RedisValue::Kind::text &&
         value.items[2].kind == RedisValue::Kind::text;
}

}  // namespace

RealRedisSubscription::RealRedisSubscription(RedisUrl url, Nanoseconds ping_after, std::shared_ptr<RedisNodes> nodes)
    : url_(std::move(url)), ping_after_(ping_after), nodes_(std::move(nodes)) {}
RealRedisSubscription::~RealRedisSubscription() = default;

void RealRedisSubscription::close() {
  session_.reset();
  early_.clear();
}

Status RealRedisSubscription::subscribe(std::span<const std::string> channels, Nanoseconds timeout) {
  close();
  const Deadline deadline = deadline_after(timeout);
  // The server that commands go to; in a Redis Cluster any.
  const std::optional<RedisAddress> likely = nodes_ && !nodes_->is_cluster() ? nodes_->server() : std::nullopt;
  Result<std::unique_ptr<RedisSession>> found = find_redis_master(url_, "", likely, deadline, nodes_.get());
  if (!found) return fail(found.error());
  if (nodes_ && !url_.has_sentinels()) nodes_->learn_nodes(**found, deadline);
  const std::string who = "Redis at " + text_of((*found)->address());
  RedisCommand command{"SUBSCRIBE"};
  command.insert(command.end(), channels.begin(), channels.end());
  if (Status sent = (*found)->send(command); !sent) return sent;
  for (std::size_t confirmed = 0; confirmed < channels.size();) {
    Result<std::optional<RedisValue>> value = (*found)->receive(deadline);
    if (!value) return fail(value.error());
    if (!*value) return fail(Code::unreachable, who + " does not confirm the subscription in time");
    if ((*value)->kind == RedisValue::Kind::error) {
      return fail(Code::refused, who + " refuses the subscription: " + quoted((*value)->text, 200) +
                                     "; the user needs +subscribe and the channels (&pattern) in its ACL");
    }
    if (pushed_kind(**value) == "subscribe") ++confirmed;
    // Of the first channels, before the last one is confirmed.
    if (is_message(**value)) early_.push_back({(*value)->items[1].text, (*value)->items[2].text});
  }
  session_ = std::move(*found);
  unanswered_ = 0;
  ping_at_ = deadline_after(ping_after_);
  return {};
}

Result<std::optional<RedisMessage>> RealRedisSubscription::lost(const std::string& why) {
  close();
  return fail(Code::unreachable, why + "; messages may be lost");
}

bool RealRedisSubscription::is_elsewhere() const {
  if (!nodes_ || nodes_->is_cluster()) return false;
  const std::optional<RedisAddress> server = nodes_->server();
  return server && *server != session_->address();
}

Result<std::optional<RedisMessage>> RealRedisSubscription::next(Nanoseconds timeout) {
  if (session_ == nullptr) return fail(Code::unreachable, "there is no subscription");
  if (!early_.empty()) {
    std::optional<RedisMessage> message = std::move(early_.front());
    early_.pop_front();
    return message;
  }
  if (is_elsewhere()) return lost("commands go to another Redis now");
  const Deadline deadline = deadline_after(timeout);
  while (true) {
    Result<std::optional<RedisValue>> value = session_->receive(std::min(deadline, ping_at_));
    if (!value) return lost(value.error().message);
    if (*value) {
      // Whatever it is, the server lives.
      unanswered_ = 0;
      ping_at_ = deadline_after(ping_after_);
      if ((*value)->kind == RedisValue::Kind::error) return lost("Redis says " + quoted((*value)->text, 200));
      if (is_message(**value)) {
        return std::optional(RedisMessage{std::move((*value)->items[1].text), std::move((*value)->items[2].text)});
      }
      if (time_left(deadline) <= Nanoseconds(0)) return std::optional<RedisMessage>();
      continue;
    }
    if (time_left(ping_at_) <= Nanoseconds(0)) {
      const std::string who = "Redis at " + text_of(session_->address());
      if (unanswered_ == kMostUnanswered) return lost(who + " gives no sign of life");
      if (Status sent = session_->send({"PING"}); !sent) return lost(sent.error().message);
      ++unanswered_;
      ping_at_ = deadline_after(ping_after_);
    }
    if (time_left(deadline) <= Nanoseconds(0)) return std::optional<RedisMessage>();
  }
}

}  // namespace kron
