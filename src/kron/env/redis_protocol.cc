#include "kron/env/redis_protocol.h"

#include <array>
#include <charconv>
#include <cstring>
#include <hiredis/read.h>
#include <new>
#include <utility>

#include "kron/base/text.h"

namespace kron {

// What hiredis calls builds the values, and counts them.
struct RedisReplyReader::Parts {
  RedisReplyLimits limits;
  std::unique_ptr<redisReader, decltype(&redisReaderFree)> reader{nullptr, &redisReaderFree};
  std::size_t fed = 0;    // bytes, ever
  std::size_t began = 0;  // how many of them the replies before this one had
  std::size_t items = 0;  // of this reply
  std::string beyond;     // which limit it has exceeded

  [[nodiscard]] std::size_t left() const { return reader->len - reader->pos; }
  [[nodiscard]] std::size_t consumed() const { return fed - left(); }

  // The item that is not complete yet is a line, or a text, which begins with a line that says its length.
  [[nodiscard]] bool has_endless_line() const {
    return left() > limits.line_bytes && std::memchr(reader->buf + reader->pos, '\n', limits.line_bytes) == nullptr;
  }

  static Parts& of(const redisReadTask* task) { return *static_cast<Parts*>(task->privdata); }

  // The place for one more value: in the array that it is an item of, or a new one. hiredis keeps the pointer only
  // while it reads the value's own items, so that the array may grow afterwards.
  static RedisValue* new_value(const redisReadTask* task, RedisValue::Kind kind) {
    Parts& parts = of(task);
    if (++parts.items > parts.limits.items) {
      parts.beyond = "has more than " + std::to_string(parts.limits.items) + " values";
      return nullptr;
    }
    RedisValue* const value =
        task->parent == nullptr ? new RedisValue : &static_cast<RedisValue*>(task->parent->obj)->items.emplace_back();
    value->kind = kind;
    return value;
  }

  static void* create_string(const redisReadTask* task, char* text, std::size_t size) {
    const RedisValue::Kind kind = task->type == REDIS_REPLY_ERROR    ? RedisValue::Kind::error
                                  : task->type == REDIS_REPLY_STATUS ? RedisValue::Kind::status
                                                                     : RedisValue::Kind::text;
    RedisValue* const value = new_value(task, kind);
    if (value != nullptr) value->text.assign(text, size);
    return value;
  }

  // The count is what the server announces: nothing is reserved for it. Its type differs between versions of hiredis.
  template <class Count>
  static void* create_array(const redisReadTask* task, Count) {
    Parts& parts = of(task);
    int depth = 1;
    for (const redisReadTask* outer = task->parent; outer != nullptr; outer = outer->parent) ++depth;
    if (depth > parts.limits.nesting) {
      parts.beyond = "has more than " + std::to_string(parts.limits.nesting) + " arrays within each other";
      return nullptr;
    }
    return new_value(task, RedisValue::Kind::array);
  }

  static void* create_integer(const redisReadTask* task, long long number) {
    RedisValue* const value = new_value(task, RedisValue::Kind::integer);
    if (value != nullptr) value->integer = number;
    return value;
  }

  static void* create_nil(const redisReadTask* task) { return new_value(task, RedisValue::Kind::nil); }

  static void free_value(void* value) { delete static_cast<RedisValue*>(value); }

  static redisReplyObjectFunctions* functions() {
    static redisReplyObjectFunctions made = [] {
      redisReplyObjectFunctions table{};
      table.createString = &create_string;
      table.createArray = &create_array;
      table.createInteger = &create_integer;
      table.createNil = &create_nil;
      table.freeObject = &free_value;
      return table;
    }();
    return &made;
  }
};

namespace {

void append_count(std::string& out, char kind, std::size_t count) {
  std::array<char, 24> text{};
  const auto end = std::to_chars(text.begin(), text.end(), count).ptr;
  out += kind;
  out.append(text.begin(), end);
  out += "\r\n";
}

}  // namespace

// Not by hiredis, which prints every count with printf into memory of its own.
void append_redis_command(std::string& out, const RedisCommand& command) {
  append_count(out, '*', command.size());
  for (const std::string& argument : command) {
    append_count(out, '$', argument.size());
    out += argument;
    out += "\r\n";
  }
}

RedisReplyReader::RedisReplyReader(RedisReplyLimits limits) : parts_(std::make_unique<Parts>()) {
  parts_->limits = limits;
  parts_->reader.reset(redisReaderCreateWithFunctions(Parts::functions()));
  if (parts_->reader == nullptr) throw std::bad_alloc();
  parts_->reader->privdata = parts_.get();
}
RedisReplyReader::RedisReplyReader(RedisReplyReader&&) noexcept = default;
RedisReplyReader& RedisReplyReader::operator=(RedisReplyReader&&) noexcept = default;
RedisReplyReader::~RedisReplyReader() = default;

void RedisReplyReader::feed(std::string_view bytes) {
  redisReaderFeed(parts_->reader.get(), bytes.data(), bytes.size());
  parts_->fed += bytes.size();
}

bool RedisReplyReader::has_bytes() const { return parts_->consumed() != parts_->fed || parts_->items > 0; }

Result<std::optional<RedisValue>> RedisReplyReader::next() {
  Parts& parts = *parts_;
  redisReader& reader = *parts.reader;
  const auto refuse = [&](const std::string& problem) {
    return fail(Code::unreachable, "the answer " + problem + "; is that a Redis server?");
  };
  void* raw = nullptr;
  if (redisReaderGetReply(&reader, &raw) != REDIS_OK) {
    if (!parts.beyond.empty()) return refuse(parts.beyond);
    return refuse("is not Redis's protocol: " + quoted(static_cast<const char*>(reader.errstr), 120));
  }
  const std::unique_ptr<RedisValue> value(static_cast<RedisValue*>(raw));
  const std::size_t size = value == nullptr ? parts.fed - parts.began : parts.consumed() - parts.began;
  if (size > parts.limits.bytes) return refuse("is longer than " + std::to_string(parts.limits.bytes) + " bytes");
  if (value == nullptr) {
    if (parts.has_endless_line()) {
      return refuse("has a line of more than " + std::to_string(parts.limits.line_bytes) + " bytes");
    }
    return std::optional<RedisValue>();
  }
  parts.began = parts.consumed();
  parts.items = 0;
  return std::optional<RedisValue>(std::move(*value));
}

}  // namespace kron
