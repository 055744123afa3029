#include <charconv>
#include <limits>

#include "kron/env/fake/fake_redis_commands.h"

namespace kron::testing::fake_redis {
namespace {

constexpr std::uint64_t kGreatest = std::numeric_limits<std::uint64_t>::max();

std::string text_of(const StreamId& id) { return std::to_string(id.milliseconds) + "-" + std::to_string(id.sequence); }

RedisValue invalid_id() { return error("ERR Invalid stream ID specified as stream command argument"); }

std::optional<std::uint64_t> natural_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

struct GivenId {
  StreamId id;
  bool has_sequence = true;
  bool wants_any_sequence = false;  // "5-*"
};

std::optional<GivenId> id_in(std::string_view text, std::uint64_t default_sequence) {
  const std::size_t dash = text.find('-');
  const std::optional<std::uint64_t> milliseconds = natural_in(text.substr(0, dash));
  if (!milliseconds) return std::nullopt;
  GivenId given{{*milliseconds, default_sequence}};
  if (dash == std::string_view::npos) {
    given.has_sequence = false;
    return given;
  }
  if (text.substr(dash + 1) == "*") {
    given.wants_any_sequence = true;
    return given;
  }
  const std::optional<std::uint64_t> sequence = natural_in(text.substr(dash + 1));
  if (!sequence) return std::nullopt;
  given.id.sequence = *sequence;
  return given;
}

// An end of XRANGE: "-", "+", an id, or "(" and an id.
std::optional<StreamId> range_end(std::string_view text, bool is_first, bool& is_open) {
  is_open = text.size() > 1 && text[0] == '(';
  if (is_open) text.remove_prefix(1);
  if (!is_open && text == "-") return StreamId{};
  if (!is_open && text == "+") return StreamId{kGreatest, kGreatest};
  const std::optional<GivenId> given = id_in(text, is_first ? 0 : kGreatest);
  if (!given || given->wants_any_sequence) return std::nullopt;
  return given->id;
}

bool step_forward(StreamId& id) {
  if (id == StreamId{kGreatest, kGreatest}) return false;
  id = id.sequence == kGreatest ? StreamId{id.milliseconds + 1, 0} : StreamId{id.milliseconds, id.sequence + 1};
  return true;
}

bool step_back(StreamId& id) {
  if (id == StreamId{}) return false;
  id = id.sequence == 0 ? StreamId{id.milliseconds - 1, kGreatest} : StreamId{id.milliseconds, id.sequence - 1};
  return true;
}

// What stands between the key of XADD or XTRIM and the rest.
struct TrimOptions {
  std::optional<std::int64_t> most = {};
  bool is_rough = false;
  std::optional<std::int64_t> limit = {};
  bool makes_no_stream = false;
  std::size_t used = 0;
  std::optional<RedisValue> refusal = {};
};

bool read_maxlen(std::span<const std::string> args, std::size_t& at, TrimOptions& options) {
  const std::size_t more = args.size() - at - 1;
  if (more == 0) return false;
  if (more >= 2 && (args[at + 1] == "~" || args[at + 1] == "=")) {
    options.is_rough = args[at + 1] == "~";
    at += 1;
  }
  options.most = integer_in(args[++at]);
  if (!options.most)
    options.refusal = not_an_integer();
  else if (*options.most < 0)
    options.refusal = error("ERR The MAXLEN argument must be >= 0.");
  return true;
}

TrimOptions trim_options(std::span<const std::string> args, bool is_add) {
  TrimOptions options;
  std::size_t at = 0;
  for (; at < args.size() && !options.refusal; ++at) {
    const std::string word = in_capitals(args[at]);
    const bool has_more = at + 1 < args.size();
    if (is_add && word == "*") break;
    if (word == "MAXLEN" && read_maxlen(args, at, options)) continue;
    if (word == "MINID" && has_more) {
      options.refusal = error("ERR FakeRedis does not know MINID");
    } else if (word == "LIMIT" && has_more) {
      options.limit = integer_in(args[++at]);
      if (!options.limit)
        options.refusal = not_an_integer();
      else if (*options.limit < 0)
        options.refusal = error("ERR The LIMIT argument must be >= 0.");
    } else if (is_add && word == "NOMKSTREAM") {
      options.makes_no_stream = true;
    } else if (is_add) {
      if (!id_in(args[at], 0)) options.refusal = invalid_id();
      break;
    } else {
      options.refusal = syntax_error();
    }
  }
  options.used = at;
  if (!options.refusal && options.limit && !options.is_rough) {
    options.refusal = error("ERR syntax error, LIMIT cannot be used without the special ~ option");
  }
  return options;
}

std::size_t trim(Stream& stream, const TrimOptions& options) {
  if (!options.most) return 0;
  const std::int64_t limit = options.is_rough ? options.limit.value_or(100 * Stream::kNodeEntries) : 0;
  return stream.trim(static_cast<std::size_t>(*options.most), options.is_rough, static_cast<std::size_t>(limit));
}

// The id of an entry that is to be added; nothing: it would not be greater than the last.
std::optional<StreamId> next_id(const Stream& stream, const std::string& wanted, std::int64_t now) {
  const StreamId& last = stream.last();
  if (wanted == "*") {
    StreamId id{static_cast<std::uint64_t>(now), 0};
    if (id.milliseconds > last.milliseconds) return id;
    id = last;
    if (!step_forward(id)) return std::nullopt;
    return id;
  }
  GivenId given = *id_in(wanted, 0);
  if (given.wants_any_sequence && given.id.milliseconds == last.milliseconds) {
    if (last.sequence == kGreatest) return std::nullopt;
    given.id.sequence = last.sequence + 1;
  }
  if (given.id <= last) return std::nullopt;
  return given.id;
}

RedisValue add_entry(Call& call) {
  const TrimOptions options = trim_options(call.args.subspan(2), true);
  if (options.refusal) return *options.refusal;
  const std::size_t id_at = 2 + options.used;
  const std::size_t fields = call.args.size() - std::min(call.args.size(), id_at + 1);
  if (fields < 2 || fields % 2 != 0) return wrong_arity("xadd");
  const std::string& wanted = call.args[id_at];
  if (wanted != "*") {
    const GivenId given = *id_in(wanted, 0);
    if (!given.wants_any_sequence && given.id == StreamId{}) {
      return error("ERR The ID specified in XADD must be greater than 0-0");
    }
  }
  const auto present = held<Stream>(call, call.args[1]);
  if (present.is_wrong_type) return wrong_type();
  if (present.value == nullptr && options.makes_no_stream) return nil();
  const Stream none;
  const std::optional<StreamId> id =
      next_id(present.value == nullptr ? none : *present.value, wanted, call.engine.now());
  if (!id) return error("ERR The ID specified in XADD is equal or smaller than the target stream top item");
  Stream& stream = made<Stream>(call, call.args[1]);
  stream.append({*id, {call.args.begin() + static_cast<std::ptrdiff_t>(id_at) + 1, call.args.end()}});
  trim(stream, options);
  call.changed();
  return bulk(text_of(*id));
}

RedisValue trim_stream(Call& call) {
  const TrimOptions options = trim_options(call.args.subspan(2), false);
  if (options.refusal) return *options.refusal;
  if (!options.most) return error("ERR syntax error, XTRIM must be called with MAXLEN");
  const auto stream = held<Stream>(call, call.args[1]);
  if (stream.is_wrong_type) return wrong_type();
  if (stream.value == nullptr) return integer(0);
  const std::size_t removed = trim(*stream.value, options);
  if (removed > 0) call.changed();
  return count(removed);
}

RedisValue length_of_stream(Call& call) {
  const auto stream = held<Stream>(call, call.args[1]);
  if (stream.is_wrong_type) return wrong_type();
  return count(stream.value == nullptr ? 0 : stream.value->size());
}

RedisValue entries_in(const Stream& stream, StreamId first, StreamId last, bool backward, std::size_t most) {
  std::vector<RedisValue> entries;
  for (const StreamEntry* entry : stream.range(first, last, backward, most)) {
    std::vector<RedisValue> fields;
    for (const std::string& field : entry->fields) fields.push_back(bulk(field));
    entries.push_back(array({bulk(text_of(entry->id)), array(std::move(fields))}));
  }
  return array(std::move(entries));
}

RedisValue stream_range(Call& call, bool backward) {
  bool is_first_open = false;
  bool is_last_open = false;
  std::optional<StreamId> first = range_end(call.args[backward ? 3 : 2], true, is_first_open);
  if (!first) return invalid_id();
  if (is_first_open && !step_forward(*first)) return error("ERR invalid start ID for the interval");
  std::optional<StreamId> last = range_end(call.args[backward ? 2 : 3], false, is_last_open);
  if (!last) return invalid_id();
  if (is_last_open && !step_back(*last)) return error("ERR invalid end ID for the interval");
  std::int64_t most = -1;
  for (std::size_t i = 4; i < call.args.size(); i += 2) {
    if (!equals_ignoring_case(call.args[i], "COUNT") || i + 1 == call.args.size()) return syntax_error();
    const std::optional<std::int64_t> given = integer_in(call.args[i + 1]);
    if (!given) return not_an_integer();
    most = std::max<std::int64_t>(0, *given);
  }
  const auto stream = held<Stream>(call, call.args[1]);
  if (stream.is_wrong_type) return wrong_type();
  if (stream.value == nullptr) return array();
  if (most == 0) return nil();
  return entries_in(*stream.value, *first, *last, backward,
                    most < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(most));
}

RedisValue range_of_stream(Call& call) { return stream_range(call, false); }
RedisValue range_of_stream_backward(Call& call) { return stream_range(call, true); }

// Where XREAD begins: behind this.
struct After {
  StreamId id;
  std::optional<RedisValue> refusal = {};
};

After read_after(const Call& call, const std::string& key, const std::string& text) {
  const auto stream = held<Stream>(call, key);
  if (stream.is_wrong_type) return {{}, wrong_type()};
  if (text == "$") return {stream.value == nullptr ? StreamId{} : stream.value->last()};
  if (text == ">") {
    return {{},
            error("ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> "
                  "option.")};
  }
  const std::optional<GivenId> given = id_in(text, 0);
  if (!given || given->wants_any_sequence) return {{}, invalid_id()};
  return {given->id};
}

// Never blocks.
RedisValue read_streams(Call& call) {
  std::size_t most = std::numeric_limits<std::size_t>::max();
  std::size_t at = 1;
  for (;; at += 2) {
    if (at + 1 >= call.args.size()) return syntax_error();
    if (equals_ignoring_case(call.args[at], "STREAMS")) break;
    const bool is_count = equals_ignoring_case(call.args[at], "COUNT");
    if (!is_count && !equals_ignoring_case(call.args[at], "BLOCK")) return syntax_error();
    const std::optional<std::int64_t> number = integer_in(call.args[at + 1]);
    if (!number) return is_count ? not_an_integer() : error("ERR timeout is not an integer or out of range");
    if (is_count && *number > 0) most = static_cast<std::size_t>(*number);
    if (!is_count && *number < 0) return error("ERR timeout is negative");
  }
  const auto names = call.args.subspan(at + 1);
  if (names.size() % 2 != 0) {
    return error("ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.");
  }
  std::vector<StreamId> after;
  for (std::size_t i = 0; i < names.size() / 2; ++i) {
    After found = read_after(call, names[i], names[names.size() / 2 + i]);
    if (found.refusal) return *std::move(found.refusal);
    after.push_back(found.id);
  }
  std::vector<RedisValue> answers;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const Stream* const stream = held<Stream>(call, names[i]).value;
    if (stream == nullptr || stream->size() == 0 || !step_forward(after[i])) continue;
    RedisValue entries = entries_in(*stream, after[i], {kGreatest, kGreatest}, false, most);
    if (!entries.items.empty()) answers.push_back(array({bulk(names[i]), std::move(entries)}));
  }
  return answers.empty() ? nil() : array(std::move(answers));
}

constexpr Command kStreamCommands[] = {
    {"XADD", -5, kWrites | kDeniedWhenFull, add_entry},
    {"XTRIM", -4, kWrites, trim_stream},
    {"XLEN", 2, kReads, length_of_stream},
    {"XRANGE", -4, kReads, range_of_stream},
    {"XREVRANGE", -4, kReads, range_of_stream_backward},
    {"XREAD", -4, kReads, read_streams},
};

}  // namespace

std::span<const Command> stream_commands() { return kStreamCommands; }

}  // namespace kron::testing::fake_redis
