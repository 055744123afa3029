#include "kron/daemon/redis_check.h"

#include <charconv>
#include <utility>

#include "kron/cluster/rights_watch.h"

namespace kron::daemon {
namespace {

constexpr Nanoseconds kPatience = Seconds(3);
constexpr int kLeastMajor = 6;

// The value of a line `name:value` of INFO; empty: there is none.
std::string_view value_in(std::string_view info, std::string_view name) {
  while (!info.empty()) {
    const std::size_t end = std::min(info.find('\n'), info.size());
    std::string_view line = info.substr(0, end);
    info.remove_prefix(std::min(end + 1, info.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ':') {
      return line.substr(name.size() + 1);
    }
  }
  return {};
}

std::optional<int> major_version(std::string_view info) {
  const std::string_view version = value_in(info, "redis_version");
  int major = 0;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), major);
  if (error != std::errc()) return std::nullopt;
  return major;
}

}  // namespace

std::vector<api::ClusterStatus::Warning> warnings_about(const RedisFacts& facts) {
  std::vector<api::ClusterStatus::Warning> warnings;
  if (value_in(facts.info, "aof_enabled") == "0") {
    warnings.push_back({false,
                        "Redis writes no append-only file: after a crash of its machine it has forgotten what ran, and "
                        "periods of that time may run again, and tasks are lost; set appendonly yes"});
  } else if (facts.appendfsync == "everysec" || facts.appendfsync == "no") {
    warnings.push_back(
        {false, "Redis syncs its append-only file with appendfsync " + *facts.appendfsync +
                    ": a crash of its machine can lose the last claims and tasks; appendfsync always loses none"});
  }
  const std::string_view policy = value_in(facts.info, "maxmemory_policy");
  if (!policy.empty() && policy != "noeviction") {
    // Our own keys have no expiry, but for output: only the policies of all keys can take them.
    warnings.push_back({policy.starts_with("allkeys"),
                        "Redis evicts keys when its memory is full (maxmemory-policy " + std::string(policy) +
                            "): the state of all jobs can vanish at once; set maxmemory-policy noeviction"});
  }
  return warnings;
}

std::string why_unusable(const RedisFacts& facts, std::string_view name_space) {
  if (const auto major = major_version(facts.info); major && *major < kLeastMajor) {
    return "this is Redis " + std::string(value_in(facts.info, "redis_version")) + "; a cluster needs 6.0 or newer";
  }
  const bool is_cluster = facts.is_cluster || value_in(facts.info, "cluster_enabled") == "1";
  const std::size_t open = name_space.find('{');
  const bool has_tag = open != std::string_view::npos && name_space.find('}', open) > open + 1 &&
                       name_space.find('}', open) != std::string_view::npos;
  if (is_cluster && !has_tag) {
    return "this is a Redis Cluster, and the namespace " + std::string(name_space) +
           " has no {hash tag}: its keys would be on different nodes; give --namespace {NAME}";
  }
  return "";
}

std::string acl_rules(std::string_view name_space) {
  const std::string keys(name_space);
  return "~" + keys + ":* &" + keys +
         ":* +@read +@write +@scripting +@pubsub +@connection +info +role +wait +time +config|get +cluster|slots";
}

std::string explained(std::string_view error, std::string_view name_space, std::string_view user) {
  std::string text(error);
  if (!cluster::is_missing_right(error) || error.find("ACL SETUSER") != std::string_view::npos) return text;
  return text + "; krond's user lacks rights at Redis: ACL SETUSER " + std::string(user.empty() ? "default" : user) +
         " " + acl_rules(name_space) + " (docs/cluster.md)";
}

Result<RedisFacts> ask_facts(cluster::Link& link) {
  const auto replies = link.ask({{"INFO"}, {"CONFIG", "GET", "appendfsync"}}, kPatience);
  if (replies.size() != 2) return fail(Code::unreachable, "Redis does not answer");
  RedisFacts facts;
  const RedisReply& info = replies[0].reply;
  if (info.how == RedisReply::How::error) return fail(Code::refused, info.why);
  if (!info.is_reply()) return fail(Code::unreachable, info.why);
  facts.info = info.value.text;
  facts.is_cluster = value_in(facts.info, "cluster_enabled") == "1";
  const RedisReply& sync = replies[1].reply;
  if (sync.is_reply() && sync.value.items.size() == 2) facts.appendfsync = sync.value.items[1].text;
  return facts;
}

}  // namespace kron::daemon
