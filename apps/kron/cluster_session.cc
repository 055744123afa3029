#include "cluster_session.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "kron/base/text.h"
#include "kron/cluster/scripts.h"
#include "kron/env/real_redis_connection.h"
#include "kron/jobs/disk.h"

namespace kron::cli {
namespace {

constexpr std::size_t kMostErrorText = 300;
constexpr std::size_t kMostNamespace = 200;
// Elements that one page of a scan may hold, about: definitions may be large.
constexpr const char* kScanCount = "200";

constexpr std::array kRedisVariables{"KRON_REDIS"};
constexpr std::array kFileVariables{"KRON_REDIS_FILE"};
constexpr std::array kCronkenVariables{"CRONKEN_REDIS_INFO"};
constexpr std::array kNamespaceVariables{"KRON_NAMESPACE", "CRONKEN_NAMESPACE"};

struct Refusal {
  std::string_view code;
  Code means;
  std::string_view cure;
};

constexpr std::array kRefusals{
    Refusal{"NOPERM", Code::refused, "the user of the URL needs more rights; docs/cluster.md has the ACL line"},
    Refusal{"NOAUTH", Code::refused, "write the password into the URL: redis://:PASSWORD@HOST:PORT"},
    Refusal{"WRONGPASS", Code::refused, ""},
    Refusal{"READONLY", Code::unreachable, "this is a replica; give the URL of the master, or redis+sentinel://"},
    Refusal{"LOADING", Code::unreachable, "Redis reads its data; try again soon"},
    Refusal{"MASTERDOWN", Code::unreachable, ""},
    Refusal{"CLUSTERDOWN", Code::unreachable, ""},
    Refusal{"BUSY", Code::unreachable, ""},
    Refusal{"TRYAGAIN", Code::unreachable, ""},
    Refusal{"WRONGTYPE", Code::conflict, "a key of the namespace holds something else; is it another program's?"},
};

Error lost(const RedisReply& reply) {
  const bool is_sure = reply.how == RedisReply::How::not_sent;
  return {Code::unreachable, is_sure
                                 ? "Redis cannot be reached: " + reply.why
                                 : "the answer of Redis was lost, so this may or may not have happened: " + reply.why};
}

// Where a URL came from, for messages.
struct GivenUrl {
  std::string from;
  std::string text;
};

Result<GivenUrl> url_given(const ClusterOptions& options) {
  if (!options.redis.empty()) return GivenUrl{"--redis", options.redis};
  const std::string variable = options.redis_file.empty() ? first_given("", kRedisVariables) : "";
  if (!variable.empty()) return GivenUrl{"KRON_REDIS", variable};
  const std::string file = first_given(options.redis_file, kFileVariables);
  if (file.empty()) return GivenUrl{};
  const auto text = jobs::contents_of(file);
  if (!text) return fail(Code::unreadable, file + ": " + text.error().message);
  return GivenUrl{file, std::string(trimmed(text->substr(0, text->find('\n'))))};
}

Status check_namespace(std::string_view name_space) {
  bool is_plain = !name_space.empty() && name_space.size() <= kMostNamespace && is_valid_utf8(name_space);
  for (const char c : name_space) is_plain = is_plain && c != ' ' && static_cast<unsigned char>(c) > 0x1F && c != 0x7F;
  if (is_plain) return {};
  return fail(Code::unreadable, "--namespace: " + quoted(name_space) + " is none; expected 1 to " +
                                    std::to_string(kMostNamespace) +
                                    " bytes without spaces and control characters, such as {cronken}");
}

}  // namespace

Result<RedisUrl> redis_of(const ClusterOptions& options) {
  const auto url = url_given(options);
  if (!url) return fail(url.error());
  const std::string nodes = first_given("", kCronkenVariables);
  if (url->from.empty() && nodes.empty()) {
    return fail(Code::unreadable, "which Redis? Give --redis redis://HOST:PORT, or set KRON_REDIS");
  }
  auto place = url->from.empty() ? parse_redis_nodes(nodes) : parse_redis_url(url->text);
  if (place) return place;
  Error error = place.error();
  error.code = Code::unreadable;
  error.field = url->from.empty() ? kCronkenVariables.front() : url->from;
  return fail(std::move(error));
}

Error error_of_redis(std::string_view why) {
  const std::string text = "Redis says: " + quoted(why, kMostErrorText);
  for (const Refusal& refusal : kRefusals) {
    if (why != refusal.code && !why.starts_with(std::string(refusal.code) + " ")) continue;
    return {refusal.means, refusal.cure.empty() ? text : text + "; " + std::string(refusal.cure)};
  }
  return {Code::conflict, text};
}

std::string first_given(const std::string& flag, std::span<const char* const> variables) {
  if (!flag.empty()) return flag;
  for (const char* name : variables) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

Result<std::string> namespace_of(const ClusterOptions& options) {
  std::string name_space = first_given(options.name_space, kNamespaceVariables);
  if (name_space.empty()) name_space = "{cronken}";
  if (const Status good = check_namespace(name_space); !good) return fail(good.error());
  return name_space;
}

Result<ClusterSession> ClusterSession::open(const ClusterOptions& options) {
  auto place = redis_of(options);
  if (!place) return fail(place.error());
  const auto name_space = namespace_of(options);
  if (!name_space) return fail(name_space.error());
  auto connection = std::make_unique<RealRedisConnection>(*std::move(place), cluster::Keys(*name_space).jobs());
  if (const Status connected = connection->connect(kRedisTimeout); !connected) return fail(connected.error());
  return ClusterSession(std::move(connection), *name_space);
}

Result<RedisValue> ClusterSession::ask(RedisCommand command) {
  const std::array commands{std::move(command)};
  auto replies = ask_all(commands);
  if (!replies) return fail(replies.error());
  RedisReply& reply = replies->front();
  if (reply.how == RedisReply::How::error) return fail(error_of_redis(reply.why));
  return std::move(reply.value);
}

Result<std::vector<RedisReply>> ClusterSession::ask_all(std::span<const RedisCommand> commands) {
  if (!connection_->is_connected()) {
    if (const Status connected = connection_->connect(kRedisTimeout); !connected) return fail(connected.error());
  }
  std::vector<RedisReply> replies = connection_->call(commands, kRedisTimeout);
  for (const RedisReply& reply : replies) {
    if (reply.how == RedisReply::How::lost || reply.how == RedisReply::How::not_sent) return fail(lost(reply));
  }
  if (replies.size() != commands.size()) return fail(Code::internal, "Redis answered another number of commands");
  return replies;
}

Result<std::vector<RedisReply>> ClusterSession::run_scripts(std::span<const RedisCommand> commands) {
  auto replies = ask_all(commands);
  if (!replies) return replies;
  const auto is_unknown = [](const RedisReply& reply) {
    return reply.how == RedisReply::How::error && reply.why.starts_with("NOSCRIPT");
  };
  if (std::ranges::none_of(*replies, is_unknown)) return replies;
  const std::vector<RedisCommand> load = cluster::load_scripts();
  const auto loaded = ask_all(load);
  if (!loaded) return fail(loaded.error());
  for (const RedisReply& reply : *loaded) {
    if (reply.how == RedisReply::How::error) return fail(error_of_redis(reply.why));
  }
  // Every script is safe to repeat.
  return ask_all(commands);
}

Status ClusterSession::scan(std::string_view command, const std::string& key, std::span<const std::string> more,
                            const std::function<Status(const std::vector<RedisValue>&)>& page) {
  std::string cursor = "0";
  do {
    RedisCommand asked{std::string(command)};
    if (!key.empty()) asked.push_back(key);
    asked.push_back(cursor);
    asked.insert(asked.end(), more.begin(), more.end());
    asked.insert(asked.end(), {"COUNT", kScanCount});
    const auto answer = ask(std::move(asked));
    if (!answer) return fail(answer.error());
    if (answer->items.size() != 2) return fail(Code::conflict, "Redis answered a scan in an unknown form");
    if (const Status seen = page(answer->items[1].items); !seen) return seen;
    cursor = answer->items[0].text;
  } while (cursor != "0" && !cursor.empty());
  return {};
}

Result<std::int64_t> ClusterSession::publish(const std::string& event) {
  const auto heard = ask({"PUBLISH", keys_.events(), event});
  if (!heard) return fail(heard.error());
  return heard->integer;
}

}  // namespace kron::cli
