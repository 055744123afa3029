#include "kron/env/redis_session.h"

#include <array>
#include <utility>

namespace kron {
namespace {

constexpr std::size_t kReadPiece = 16 * 1024;
constexpr const char* kTooLate = "no answer in time";

RedisReply reply_of(RedisValue value) {
  if (value.kind == RedisValue::Kind::error) return {RedisReply::How::error, {}, std::move(value.text)};
  return {RedisReply::How::reply, std::move(value), {}};
}

}  // namespace

RedisSession::RedisSession(RedisAddress address, RedisSocket socket, RedisReplyLimits limits)
    : address_(std::move(address)), socket_(std::move(socket)), reader_(limits) {}

Result<std::unique_ptr<RedisSession>> RedisSession::open(const RedisAddress& address,
                                                         const std::optional<RedisTls>& tls, Deadline deadline,
                                                         RedisReplyLimits limits) {
  Result<RedisSocket> socket = RedisSocket::open(address, tls, deadline);
  if (!socket) {
    return fail(socket.error().code, "Redis at " + text_of(address) + ": " + socket.error().message);
  }
  return std::unique_ptr<RedisSession>(new RedisSession(address, std::move(*socket), limits));
}

void RedisSession::break_off(const std::string& why) {
  if (broken_.empty()) broken_ = "Redis at " + text_of(address_) + ": " + why;
}

// Reads what is there, a piece of it; whether anything was.
Result<bool> RedisSession::read_some() {
  std::array<char, kReadPiece> piece;
  const Result<std::size_t> size = socket_.receive(piece);
  if (!size) return fail(size.error());
  reader_.feed(std::string_view(piece.data(), *size));
  return *size > 0;
}

// A connection that the server has closed meanwhile is noticed before anything is sent on it: what was not sent can be
// repeated without a thought. And bytes that nobody has asked for would be taken for the answer to the next question.
void RedisSession::check_silence() {
  const Result<bool> came = read_some();
  if (!came) break_off(came.error().message);
  if (came && reader_.has_bytes()) break_off("an answer came that nobody had asked for");
}

std::vector<RedisReply> RedisSession::exchange(std::span<const RedisCommand> commands, Deadline deadline) {
  if (time_left(deadline) <= Nanoseconds(0)) {
    return std::vector<RedisReply>(commands.size(),
                                   {RedisReply::How::not_sent, {}, "there is no time left to ask Redis"});
  }
  std::string bytes;
  std::vector<std::size_t> starts;
  starts.reserve(commands.size());
  for (const RedisCommand& command : commands) {
    starts.push_back(bytes.size());
    append_redis_command(bytes, command);
  }
  std::vector<RedisReply> replies;
  replies.reserve(commands.size());
  std::size_t sent = 0;
  bool can_send = true;
  check_silence();
  while (!is_broken() && replies.size() < commands.size()) {
    bool has_moved = false;
    if (can_send && sent < bytes.size()) {
      const Result<std::size_t> size = socket_.send(std::string_view(bytes).substr(sent));
      // What the server said before it closed is still to be read.
      can_send = size.has_value();
      sent += size.value_or(0);
      has_moved = can_send && *size > 0;
    }
    const Result<bool> came = read_some();
    while (!is_broken() && replies.size() < commands.size()) {
      Result<std::optional<RedisValue>> value = reader_.next();
      if (!value) break_off(value.error().message);
      if (!value || !*value) break;
      if (starts[replies.size()] >= sent) {
        break_off("an answer came before its question");
        break;
      }
      replies.push_back(reply_of(std::move(**value)));
    }
    if (replies.size() == commands.size()) break;
    if (!came) break_off(came.error().message);
    if (is_broken() || (came && *came) || has_moved) {
      if (time_left(deadline) <= Nanoseconds(0)) break_off(kTooLate);
      continue;
    }
    if (!socket_.wait(can_send && sent < bytes.size(), deadline)) break_off(kTooLate);
  }
  if (!is_broken() && !can_send) break_off("it takes no more questions");
  if (!is_broken() && reader_.has_bytes()) break_off("more answers came than questions were asked");
  while (replies.size() < commands.size()) {
    const bool has_left = starts[replies.size()] < sent;
    replies.push_back({has_left ? RedisReply::How::lost : RedisReply::How::not_sent, {}, broken_});
  }
  return replies;
}

Status RedisSession::send(const RedisCommand& command) {
  std::string bytes;
  append_redis_command(bytes, command);
  for (std::size_t sent = 0; !is_broken() && sent < bytes.size();) {
    const Result<std::size_t> size = socket_.send(std::string_view(bytes).substr(sent));
    if (!size) break_off(size.error().message);
    if (size && *size == 0) break_off("it does not read what it is sent");
    sent += size.value_or(0);
  }
  if (is_broken()) return fail(Code::unreachable, broken_);
  return {};
}

Result<std::optional<RedisValue>> RedisSession::receive(Deadline deadline) {
  bool is_over = false;
  while (!is_broken()) {
    Result<std::optional<RedisValue>> value = reader_.next();
    if (!value) {
      break_off(value.error().message);
      break;
    }
    if (*value || is_over) return value;
    const Result<bool> came = read_some();
    if (!came) {
      break_off(came.error().message);
      break;
    }
    // What has come is looked at, even when it came with the last moment.
    is_over = time_left(deadline) <= Nanoseconds(0);
    if (!*came && (is_over || !socket_.wait(false, deadline))) return std::optional<RedisValue>();
  }
  return fail(Code::unreachable, broken_);
}

}  // namespace kron
