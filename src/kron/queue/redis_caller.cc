#include "kron/queue/redis_caller.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace kron {
namespace {

using How = RedisReply::How;

constexpr std::size_t kMostPipelineBytes = std::size_t{8} << 20;
constexpr std::size_t kMostPipelineCommands = 1000;

// Redis says so before it executes anything, and will say otherwise later or elsewhere.
bool is_another_server(const RedisReply& reply) {
  constexpr std::array<std::string_view, 6> kCodes = {"READONLY",   "LOADING",     "BUSY ",
                                                      "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"};
  return reply.how == How::error &&
         std::ranges::any_of(kCodes, [&](std::string_view code) { return reply.why.starts_with(code); });
}

bool has_no_script(const RedisReply& reply) { return reply.how == How::error && reply.why.starts_with("NOSCRIPT"); }

std::size_t bytes_in(const RedisCommand& command) {
  std::size_t bytes = 0;
  for (const std::string& part : command) bytes += part.size() + 16;
  return bytes;
}

}  // namespace

RedisCaller::RedisCaller(std::unique_ptr<RedisConnection> connection, const Clock& clock, Log& log, Options options)
    : connection_(std::move(connection)), clock_(clock), log_(log), options_(options) {}

Status RedisCaller::connect() {
  if (connection_->is_connected() && !digests_.empty()) return {};
  if (problem_ && clock_.boot_time() < connect_at_) return fail(*problem_);
  Status connected = connection_->connect(options_.connect_timeout);
  const bool is_there = connected.has_value();
  if (connected) connected = load();
  if (connected) {
    if (problem_) log_.info("task_queue_reachable", {});
    problem_.reset();
    return {};
  }
  connection_->close();
  digests_.clear();
  if (!problem_ || problem_->message != connected.error().message) {
    log_.error("task_queue_unreachable", {{"reason", connected.error().message}});
  }
  problem_ = connected.error();
  // Who let us in may do so again at once.
  connect_at_ = clock_.boot_time() + (is_there ? Nanoseconds(0) : options_.pause);
  return connected;
}

// All of them, before anything else: a pipeline of which only some were known would take effect in another order.
Status RedisCaller::load() {
  digests_.clear();
  std::vector<RedisCommand> commands;
  for (const QueueScript& script : queue_scripts()) commands.push_back({"SCRIPT", "LOAD", std::string(script.text)});
  const std::vector<RedisReply> replies = connection_->call(commands, options_.call_timeout);
  std::map<std::string, std::string, std::less<>> digests;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (replies[i].is_reply() && !replies[i].value.text.empty()) {
      digests.emplace(queue_scripts()[i].name, replies[i].value.text);
    } else if (replies[i].how == How::error && !is_another_server(replies[i])) {
      return fail(Code::refused, "Redis does not take the scripts of the task queue: " + replies[i].why);
    } else {
      return fail(Code::unreachable, "Redis does not answer: " + replies[i].why);
    }
  }
  digests_ = std::move(digests);
  return {};
}

std::vector<RedisCaller::Answered> RedisCaller::call(std::vector<RedisCommand> commands) {
  std::vector<Answered> answers(commands.size());
  for (std::size_t first = 0; first < commands.size();) {
    std::size_t count = 0;
    std::size_t bytes = 0;
    for (; first + count < commands.size() && count < kMostPipelineCommands; ++count) {
      bytes += bytes_in(commands[first + count]);
      if (count > 0 && bytes > kMostPipelineBytes) break;
    }
    call_part(std::span(commands).subspan(first, count), std::span(answers).subspan(first, count));
    first += count;
  }
  return answers;
}

// A script has the same digest on every server: what has one already keeps it.
void RedisCaller::put_digest(RedisCommand& command) const {
  if (command.front() != "EVALSHA") return;
  if (const auto found = digests_.find(command[1]); found != digests_.end()) command[1] = found->second;
}

void RedisCaller::call_part(std::span<RedisCommand> commands, std::span<Answered> answers) {
  std::vector<std::size_t> open(commands.size());  // those that have no answer yet
  std::iota(open.begin(), open.end(), std::size_t{0});
  std::vector<RedisCommand> some;
  for (int tries = 0; tries < options_.tries && !open.empty(); ++tries) {
    if (const Status connected = connect(); !connected) {
      for (const std::size_t i : open) {
        // Whether it was refused or not reached makes no difference to who asked: it can be asked again.
        const How how = answers[i].was_sent ? How::lost : How::not_sent;
        answers[i].reply = {.how = how, .why = connected.error().message};
      }
      continue;
    }
    for (const std::size_t i : open) put_digest(commands[i]);
    // Only where some were answered and others were not are those copied: they may be large.
    std::span<const RedisCommand> pipeline = commands;
    if (open.size() < commands.size()) {
      some.clear();
      for (const std::size_t i : open) some.push_back(commands[i]);
      pipeline = some;
    }
    std::vector<RedisReply> replies = connection_->call(pipeline, options_.call_timeout);
    std::vector<std::size_t> still;
    for (std::size_t k = 0; k < open.size(); ++k) {
      Answered& answer = answers[open[k]];
      answer.reply = std::move(replies[k]);
      answer.was_sent = answer.was_sent || answer.reply.how != How::not_sent;
      if (is_another_server(answer.reply)) connection_->close();
      if (has_no_script(answer.reply)) digests_.clear();
      const bool is_final =
          answer.reply.is_reply() ||
          (answer.reply.how == How::error && !is_another_server(answer.reply) && !has_no_script(answer.reply));
      if (!is_final) still.push_back(open[k]);
    }
    open = std::move(still);
  }
}

Error error_of(const RedisReply& reply) {
  if (reply.how == How::lost || reply.how == How::not_sent || is_another_server(reply) || has_no_script(reply)) {
    return {Code::unreachable, "the task queue's Redis does not answer" + (reply.why.empty() ? "" : ": " + reply.why)};
  }
  constexpr std::string_view kWrongKey = "WRONGKEY ";
  if (reply.why.starts_with(kWrongKey)) {
    return {Code::io, "in Redis, " + reply.why.substr(kWrongKey.size()) + "; move it away"};
  }
  if (reply.why.starts_with("NOPERM") || reply.why.starts_with("NOAUTH")) {
    return {Code::refused, "Redis says: " + reply.why};
  }
  return {Code::io, "Redis says: " + reply.why};
}

}  // namespace kron
