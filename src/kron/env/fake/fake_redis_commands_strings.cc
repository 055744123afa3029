#include <limits>

#include "kron/env/fake/fake_redis_commands.h"

namespace kron::testing::fake_redis {
namespace {

RedisValue text_at(Call& call, std::string_view key) {
  const auto text = held<std::string>(call, key);
  if (text.is_wrong_type) return wrong_type();
  return text.value == nullptr ? nil() : bulk(*text.value);
}

RedisValue get_text(Call& call) { return text_at(call, call.args[1]); }

RedisValue get_texts(Call& call) {
  std::vector<RedisValue> texts;
  for (const std::string& key : call.args.subspan(1)) {
    const auto text = held<std::string>(call, key);
    texts.push_back(text.value == nullptr ? nil() : bulk(*text.value));
  }
  return array(std::move(texts));
}

struct SetOptions {
  bool only_new = false;
  bool only_old = false;
  bool returns_old = false;
  bool keeps_expiry = false;
  std::string unit = {};  // EX PX EXAT PXAT
  std::string time = {};
};

std::optional<SetOptions> set_options(std::span<const std::string> args) {
  SetOptions options;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string word = in_capitals(args[i]);
    if (word == "NX" && !options.only_old) {
      options.only_new = true;
    } else if (word == "XX" && !options.only_new) {
      options.only_old = true;
    } else if (word == "GET") {
      options.returns_old = true;
    } else if (word == "KEEPTTL" && options.unit.empty()) {
      options.keeps_expiry = true;
    } else if ((word == "EX" || word == "PX" || word == "EXAT" || word == "PXAT") && options.unit.empty() &&
               !options.keeps_expiry && i + 1 < args.size()) {
      options.unit = word;
      options.time = args[++i];
    } else {
      return std::nullopt;
    }
  }
  return options;
}

struct ExpiryTime {
  std::int64_t when = 0;
  std::optional<RedisValue> refusal = {};
};

ExpiryTime expiry_time(const Call& call, std::string_view unit, const std::string& text) {
  const std::optional<std::int64_t> time = integer_in(text);
  if (!time) return {0, not_an_integer()};
  const RedisValue invalid = error("ERR invalid expire time in '" + in_small_letters(call.args[0]) + "' command");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (*time <= 0) return {0, invalid};
  std::int64_t when = *time;
  if (unit == "EX" || unit == "EXAT") {
    if (when > kMost / 1000) return {0, invalid};
    when *= 1000;
  }
  if (unit == "EX" || unit == "PX") {
    if (when > kMost - call.engine.now()) return {0, invalid};
    when += call.engine.now();
  }
  return {when, std::nullopt};
}

RedisValue set_text(Call& call) {
  const std::optional<SetOptions> options = set_options(call.args.subspan(3));
  if (!options) return syntax_error();
  std::optional<std::int64_t> expires;
  if (!options->unit.empty()) {
    const ExpiryTime time = expiry_time(call, options->unit, options->time);
    if (time.refusal) return *time.refusal;
    expires = time.when;
  }
  RedisValue old = nil();
  if (options->returns_old) {
    old = text_at(call, call.args[1]);
    if (old.kind == RedisValue::Kind::error) return old;
  }
  const Entry* const present = call.find(call.args[1]);
  if ((options->only_new && present != nullptr) || (options->only_old && present == nullptr)) {
    return options->returns_old ? old : nil();
  }
  if (options->keeps_expiry && present != nullptr) expires = present->expires;
  call.database().put(call.args[1], Entry{call.args[2], expires});
  call.changed();
  return options->returns_old ? old : ok();
}

RedisValue set_with_expiry(Call& call, std::string_view unit) {
  const ExpiryTime time = expiry_time(call, unit, call.args[2]);
  if (time.refusal) return *time.refusal;
  call.database().put(call.args[1], Entry{call.args[3], time.when});
  call.changed();
  return ok();
}

RedisValue set_for_seconds(Call& call) { return set_with_expiry(call, "EX"); }
RedisValue set_for_milliseconds(Call& call) { return set_with_expiry(call, "PX"); }

RedisValue set_if_new(Call& call) {
  if (call.find(call.args[1]) != nullptr) return integer(0);
  call.database().put(call.args[1], Entry{call.args[2]});
  call.changed();
  return integer(1);
}

RedisValue set_texts(Call& call) {
  if (call.args.size() % 2 == 0) return wrong_arity(in_small_letters(call.args[0]));
  for (std::size_t i = 1; i < call.args.size(); i += 2) {
    call.database().put(call.args[i], Entry{call.args[i + 1]});
    call.changed();
  }
  return ok();
}

RedisValue add_to_text(Call& call, std::int64_t step) {
  const auto text = held<std::string>(call, call.args[1]);
  if (text.is_wrong_type) return wrong_type();
  const std::optional<std::int64_t> number = text.value == nullptr ? 0 : integer_in(*text.value);
  if (!number) return not_an_integer();
  std::int64_t sum = 0;
  if (__builtin_add_overflow(*number, step, &sum)) return error("ERR increment or decrement would overflow");
  made<std::string>(call, call.args[1]) = std::to_string(sum);
  call.changed();
  return integer(sum);
}

RedisValue increment(Call& call) { return add_to_text(call, 1); }
RedisValue decrement(Call& call) { return add_to_text(call, -1); }

RedisValue increment_by(Call& call) {
  const std::optional<std::int64_t> step = integer_in(call.args[2]);
  return step ? add_to_text(call, *step) : not_an_integer();
}

RedisValue decrement_by(Call& call) {
  const std::optional<std::int64_t> step = integer_in(call.args[2]);
  if (!step) return not_an_integer();
  if (*step == std::numeric_limits<std::int64_t>::min()) return error("ERR decrement would overflow");
  return add_to_text(call, -*step);
}

RedisValue get_and_delete(Call& call) {
  const RedisValue old = text_at(call, call.args[1]);
  if (old.kind == RedisValue::Kind::text) {
    call.database().erase(call.args[1]);
    call.changed();
  }
  return old;
}

RedisValue append_text(Call& call) {
  const auto text = held<std::string>(call, call.args[1]);
  if (text.is_wrong_type) return wrong_type();
  std::string& whole = made<std::string>(call, call.args[1]);
  whole += call.args[2];
  call.changed();
  return count(whole.size());
}

RedisValue length_of_text(Call& call) {
  const auto text = held<std::string>(call, call.args[1]);
  if (text.is_wrong_type) return wrong_type();
  return count(text.value == nullptr ? 0 : text.value->size());
}

constexpr unsigned kGrows = kWrites | kDeniedWhenFull;

constexpr Command kStringCommands[] = {
    {"GET", 2, kReads, get_text},          {"MGET", -2, kReads, get_texts},
    {"SET", -3, kGrows, set_text},         {"SETNX", 3, kGrows, set_if_new},
    {"SETEX", 4, kGrows, set_for_seconds}, {"PSETEX", 4, kGrows, set_for_milliseconds},
    {"MSET", -3, kGrows, set_texts},       {"INCR", 2, kGrows, increment},
    {"DECR", 2, kGrows, decrement},        {"INCRBY", 3, kGrows, increment_by},
    {"DECRBY", 3, kGrows, decrement_by},   {"GETDEL", 2, kWrites, get_and_delete},
    {"APPEND", 3, kGrows, append_text},    {"STRLEN", 2, kReads, length_of_text},
};

}  // namespace

std::span<const Command> string_commands() { return kStringCommands; }

}  // namespace kron::testing::fake_redis
