#include "kron/env/fake/fake_redis_server.h"

#include <algorithm>
#include <utility>

namespace kron::testing {
namespace {

RedisReply reply_of(RedisValue value) {
  if (value.kind != RedisValue::Kind::error) return {.value = std::move(value)};
  return {.how = RedisReply::How::error, .why = fake_redis::on_one_line(value.text)};
}

RedisReply lost_reply() { return {.how = RedisReply::How::lost, .why = "the answer was lost"}; }
RedisReply unsent_reply() { return {.how = RedisReply::How::not_sent, .why = "the connection is closed"}; }

}  // namespace

FakeRedis::Server::Server(Time clock, std::uint64_t seed) : time(std::move(clock)), random_(seed) {
  engine.publish = [this](const std::string& channel, const std::string& payload) { return publish(channel, payload); };
}

std::int64_t FakeRedis::Server::microseconds() const {
  return std::chrono::floor<std::chrono::microseconds>(time()).time_since_epoch().count();
}

double FakeRedis::Server::drawn() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }

RedisFate FakeRedis::Server::drawn_fate() {
  RedisFate fate;
  const double draw = drawn();
  if (draw < faults.request_lost) {
    fate.how = RedisFate::How::request_lost;
  } else if (draw < faults.request_lost + faults.not_sent) {
    fate.how = RedisFate::How::not_sent;
  } else if (draw < faults.request_lost + faults.not_sent + faults.reply_lost) {
    fate.how = RedisFate::How::reply_lost;
    fate.executes_rest = drawn() < 0.5;
  }
  // What never left cannot come later.
  if (fate.how != RedisFate::How::not_sent && drawn() < faults.repeated) {
    fate.repeated_after = 1 + random_() % std::max<std::uint64_t>(1, faults.repeated_within);
  }
  return fate;
}

RedisFate FakeRedis::Server::fate_of(const RedisCommand& command) {
  const std::uint64_t number = asked++;
  if (const auto found = planned.find(number); found != planned.end()) {
    const RedisFate fate = found->second;
    planned.erase(found);
    return fate;
  }
  if (decide) {
    if (const std::optional<RedisFate> fate = decide(command)) return *fate;
  }
  return drawn_fate();
}

void FakeRedis::Server::hold_copy(const RedisFate& fate, const fake_redis::Session& session,
                                  const RedisCommand& command) {
  if (fate.repeated_after) copies_.push_back({session, command, executed + *fate.repeated_after, {}});
  if (fate.repeated_in) copies_.push_back({session, command, {}, time() + *fate.repeated_in});
}

FakeRedis::Server::Delivered FakeRedis::Server::deliver(fake_redis::Session& session,
                                                        std::span<const RedisCommand> commands) {
  Delivered delivered;
  if (is_stalled) {
    for (const RedisCommand& command : commands) stalled.push_back({session, command, {}, {}});
    delivered.replies.assign(commands.size(), lost_reply());
    delivered.is_open = false;
    delivered.waits_in_vain = true;
    return delivered;
  }
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const RedisFate fate = fate_of(commands[i]);
    if (fate.how == RedisFate::How::answered) {
      delivered.replies.push_back(execute_counted(session, commands[i]));
      hold_copy(fate, session, commands[i]);
      continue;
    }
    if (fate.how == RedisFate::How::reply_lost) {
      const auto rest = commands.subspan(i, fate.executes_rest ? commands.size() - i : 1);
      for (const RedisCommand& command : rest) (void)execute_counted(session, command);
    }
    hold_copy(fate, session, commands[i]);
    const bool is_unsent = fate.how == RedisFate::How::not_sent;
    delivered.replies.resize(commands.size(), is_unsent ? unsent_reply() : lost_reply());
    delivered.is_open = false;
    delivered.waits_in_vain = !is_unsent;
    break;
  }
  return delivered;
}

RedisReply FakeRedis::Server::execute_counted(fake_redis::Session& session, const RedisCommand& command) {
  execute_what_is_due();
  if (faults.scripts_flushed > 0 && drawn() < faults.scripts_flushed) engine.scripts.clear();
  executed += 1;
  if (!command.empty()) executed_by_name[fake_redis::in_capitals(command[0])] += 1;
  return execute(session, command);
}

RedisReply FakeRedis::Server::execute(fake_redis::Session& session, const RedisCommand& command) {
  if (command.empty()) return reply_of(fake_redis::error("ERR FakeRedis was sent an empty command"));
  RedisReply reply = reply_of(engine.execute(session, command, microseconds()));
  if (!effects_.empty()) log();
  return reply;
}

void FakeRedis::Server::execute_what_is_due() {
  const auto is_waiting = [&](const Waiting& copy) {
    return (copy.at_count && *copy.at_count > executed) || (copy.at_time && *copy.at_time > time());
  };
  const auto due = std::stable_partition(copies_.begin(), copies_.end(), is_waiting);
  std::vector<Waiting> now(std::make_move_iterator(due), std::make_move_iterator(copies_.end()));
  copies_.erase(due, copies_.end());
  for (Waiting& copy : now) (void)execute(copy.session, copy.command);
}

Status FakeRedis::Server::accept() {
  if (refusal) return fail(*refusal);
  if (is_stalled) return fail(Code::unreachable, "Redis does not answer");
  if (faults.connect_fails > 0 && drawn() < faults.connect_fails) {
    return fail(Code::unreachable, "Redis cannot be reached");
  }
  return {};
}

void FakeRedis::Server::close_connections() {
  generation += 1;
  for (const auto& inbox : inboxes) inbox->is_open = false;
  inboxes.clear();
  arrived.notify_all();
}

// What was on its way to the old server dies with its connections.
void FakeRedis::Server::lose_all_but_data() {
  close_connections();
  engine.scripts.clear();
  stalled.clear();
  copies_.clear();
}

void FakeRedis::Server::start_log(std::size_t writes) {
  log_limit_ = writes;
  log_.clear();
  before_log_ = std::make_unique<fake_redis::Engine>();
  before_log_->databases = engine.databases;
  engine.on_change = [this](int database, std::span<const std::string> command) {
    effects_.push_back({database, {command.begin(), command.end()}});
  };
}

void FakeRedis::Server::log() {
  log_.push_back({engine.microseconds, std::exchange(effects_, {})});
  if (log_.size() > 2 * log_limit_) replay(log_.size() - log_limit_);
}

void FakeRedis::Server::replay(std::size_t writes) {
  for (; writes > 0 && !log_.empty(); --writes) {
    const Logged& oldest = log_.front();
    for (const auto& [database, command] : oldest.effects) {
      fake_redis::Session session{database};
      (void)before_log_->execute(session, command, oldest.microseconds);
    }
    log_.pop_front();
  }
}

void FakeRedis::Server::forget_last(std::size_t writes) {
  if (!before_log_) return;
  replay(log_.size() - std::min(writes, log_.size()));
  engine.databases = before_log_->databases;
  log_.clear();
}

void FakeRedis::Server::forget_everything() {
  engine.databases = {};
  if (before_log_) before_log_->databases = {};
  log_.clear();
}

std::int64_t FakeRedis::Server::publish(const std::string& channel, const std::string& payload) {
  std::int64_t receivers = 0;
  for (const auto& inbox : inboxes) {
    if (!inbox->channels.contains(channel)) continue;
    inbox->messages.push_back({channel, payload});
    receivers += 1;
  }
  arrived.notify_all();
  return receivers;
}

}  // namespace kron::testing
