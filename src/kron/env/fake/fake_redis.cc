#include "kron/env/fake/fake_redis.h"

#include <utility>

#include "kron/env/fake/fake_redis_server.h"

namespace kron::testing {

class FakeRedis::Connection : public RedisConnection {
 public:
  explicit Connection(Server& server) : server_(server) {}

  Status connect(Nanoseconds timeout) override {
    if (is_connected_) return {};
    std::unique_lock lock(server_.mutex);
    Status accepted = server_.accept();
    if (!accepted) {
      if (server_.is_stalled && !server_.refusal) wait_in_vain(lock, timeout);
      return accepted;
    }
    generation_ = server_.generation;
    session_ = {};
    is_connected_ = true;
    return {};
  }

  [[nodiscard]] bool is_connected() const override { return is_connected_; }

  std::vector<RedisReply> call(std::span<const RedisCommand> commands, Nanoseconds timeout) override {
    if (!is_connected_) {
      return std::vector<RedisReply>(commands.size(), {.how = RedisReply::How::not_sent, .why = "not connected"});
    }
    if (commands.empty()) return {};
    std::unique_lock lock(server_.mutex);
    if (generation_ != server_.generation) {
      is_connected_ = false;
      return std::vector<RedisReply>(commands.size(), {.how = RedisReply::How::lost, .why = "connection closed"});
    }
    Server::Delivered delivered = server_.deliver(session_, commands);
    is_connected_ = delivered.is_open;
    if (delivered.waits_in_vain) wait_in_vain(lock, timeout);
    return std::move(delivered.replies);
  }

  void close() override { is_connected_ = false; }

 private:
  void wait_in_vain(std::unique_lock<std::mutex>& lock, Nanoseconds timeout) {
    const auto waited = server_.on_timeout;
    lock.unlock();
    if (waited) waited(timeout);
  }

  Server& server_;
  fake_redis::Session session_ = {};
  std::uint64_t generation_ = 0;
  bool is_connected_ = false;
};

class FakeRedis::Subscription : public RedisSubscription {
 public:
  Subscription(Server& server, bool waits) : server_(server), waits_(waits) {}
  ~Subscription() override { leave(); }
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  Status subscribe(std::span<const std::string> channels, Nanoseconds) override {
    leave();
    const std::scoped_lock lock(server_.mutex);
    if (Status accepted = server_.accept(); !accepted) return accepted;
    inbox_ = std::make_shared<Server::Inbox>();
    inbox_->channels.insert(channels.begin(), channels.end());
    server_.inboxes.push_back(inbox_);
    return {};
  }

  Result<std::optional<RedisMessage>> next(Nanoseconds timeout) override {
    if (!inbox_) return fail(Code::unreachable, "not subscribed");
    std::unique_lock lock(server_.mutex);
    const auto has_news = [&] { return !inbox_->messages.empty() || !inbox_->is_open; };
    if (waits_) server_.arrived.wait_for(lock, timeout, has_news);
    if (!inbox_->messages.empty()) {
      RedisMessage message = std::move(inbox_->messages.front());
      inbox_->messages.pop_front();
      return std::optional(std::move(message));
    }
    if (inbox_->is_open) return std::optional<RedisMessage>();
    inbox_.reset();
    return fail(Code::unreachable, "Redis closed the connection");
  }

  void close() override { leave(); }

 private:
  void leave() {
    if (!inbox_) return;
    const std::scoped_lock lock(server_.mutex);
    std::erase(server_.inboxes, inbox_);
    inbox_.reset();
  }

  Server& server_;
  bool waits_;
  std::shared_ptr<Server::Inbox> inbox_;
};

FakeRedis::FakeRedis(Time time, std::uint64_t seed) : server_(std::make_unique<Server>(std::move(time), seed)) {}
FakeRedis::~FakeRedis() = default;

std::unique_ptr<RedisConnection> FakeRedis::connection() { return std::make_unique<Connection>(*server_); }
std::unique_ptr<RedisSubscription> FakeRedis::subscription(bool waits) {
  return std::make_unique<Subscription>(*server_, waits);
}

RedisReply FakeRedis::execute(const RedisCommand& command) {
  const std::scoped_lock lock(server_->mutex);
  server_->execute_what_is_due();
  // Limits are for others.
  fake_redis::Condition& condition = server_->engine.condition;
  const bool is_read_only = std::exchange(condition.is_read_only, false);
  const bool is_full = std::exchange(condition.is_full, false);
  auto denied = std::exchange(condition.denied, {});
  fake_redis::Session session;
  RedisReply reply = server_->execute(session, command);
  condition.is_read_only = is_read_only;
  condition.is_full = is_full;
  condition.denied = std::move(denied);
  return reply;
}

std::uint64_t FakeRedis::commands() const {
  const std::scoped_lock lock(server_->mutex);
  return server_->executed;
}

std::uint64_t FakeRedis::commands(std::string_view name) const {
  const std::scoped_lock lock(server_->mutex);
  const auto found = server_->executed_by_name.find(name);
  return found == server_->executed_by_name.end() ? 0 : found->second;
}

void FakeRedis::set_faults(const RedisFaults& faults) {
  const std::scoped_lock lock(server_->mutex);
  server_->faults = faults;
}

void FakeRedis::plan(std::uint64_t n, const RedisFate& fate) {
  const std::scoped_lock lock(server_->mutex);
  server_->planned.insert_or_assign(server_->asked + n, fate);
}

void FakeRedis::decide(Decide decide) {
  const std::scoped_lock lock(server_->mutex);
  server_->decide = std::move(decide);
}

void FakeRedis::on_timeout(std::function<void(Nanoseconds)> waited) {
  const std::scoped_lock lock(server_->mutex);
  server_->on_timeout = std::move(waited);
}

void FakeRedis::stall() {
  const std::scoped_lock lock(server_->mutex);
  server_->is_stalled = true;
}

void FakeRedis::go_on(bool forgets) {
  const std::scoped_lock lock(server_->mutex);
  server_->is_stalled = false;
  std::vector<Server::Waiting> came = std::exchange(server_->stalled, {});
  if (forgets) return;
  for (Server::Waiting& one : came) (void)server_->execute(one.session, one.command);
}

void FakeRedis::close_connections() {
  const std::scoped_lock lock(server_->mutex);
  server_->close_connections();
}

void FakeRedis::refuse_connections(std::optional<Error> error) {
  const std::scoped_lock lock(server_->mutex);
  server_->refusal = std::move(error);
  if (server_->refusal) server_->close_connections();
}

void FakeRedis::restart() {
  const std::scoped_lock lock(server_->mutex);
  server_->lose_all_but_data();
}

void FakeRedis::restart_empty() {
  const std::scoped_lock lock(server_->mutex);
  server_->lose_all_but_data();
  server_->forget_everything();
}

void FakeRedis::keep_log_of(std::size_t writes) {
  const std::scoped_lock lock(server_->mutex);
  server_->start_log(writes);
}

void FakeRedis::restart_without(std::size_t writes) {
  const std::scoped_lock lock(server_->mutex);
  server_->lose_all_but_data();
  server_->forget_last(writes);
}

void FakeRedis::set_read_only(bool is_read_only) {
  const std::scoped_lock lock(server_->mutex);
  server_->engine.condition.is_read_only = is_read_only;
}

void FakeRedis::set_out_of_memory(bool is_full) {
  const std::scoped_lock lock(server_->mutex);
  server_->engine.condition.is_full = is_full;
}

void FakeRedis::deny(std::string_view command) {
  const std::scoped_lock lock(server_->mutex);
  server_->engine.condition.denied.emplace(command);
}

void FakeRedis::allow(std::string_view command) {
  const std::scoped_lock lock(server_->mutex);
  const auto found = server_->engine.condition.denied.find(command);
  if (found != server_->engine.condition.denied.end()) server_->engine.condition.denied.erase(found);
}

void FakeRedis::flush_scripts() {
  const std::scoped_lock lock(server_->mutex);
  server_->engine.scripts.clear();
}

void FakeRedis::set_replicas(std::int64_t count) {
  const std::scoped_lock lock(server_->mutex);
  server_->engine.condition.replicas = count;
}

void FakeRedis::set_info(std::string field, std::string value) {
  const std::scoped_lock lock(server_->mutex);
  server_->engine.condition.info.insert_or_assign(std::move(field), std::move(value));
}

void FakeRedis::set_config(std::string name, std::string value) {
  const std::scoped_lock lock(server_->mutex);
  server_->engine.condition.config.insert_or_assign(std::move(name), std::move(value));
}

}  // namespace kron::testing
