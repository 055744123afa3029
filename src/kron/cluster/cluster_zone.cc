#include "kron/cluster/cluster_zone.h"

#include <algorithm>

#include "kron/base/text.h"
#include "kron/cluster/replies.h"
#include "kron/core/time_zone.h"

namespace kron::cluster {
namespace {

// Many zones have several names ("UTC", "Etc/UTC"); these differ in name only, for all that is still to come.
bool are_same(const std::string& one, const std::string& other) {
  if (one == other) return true;
  ZoneDatabase zones;
  const Result<TimeZone> first = zones.find(one);
  const Result<TimeZone> second = zones.find(other);
  if (!first || !second) return false;
  constexpr std::int64_t kBegin = 1'704'067'200;  // 2024
  const auto rest_of = [](const TimeZone& zone) {
    return zone.segments().subspan(zone.segment_index(instant_of(kBegin)));
  };
  return std::ranges::equal(rest_of(*first), rest_of(*second), [](const ZoneSegment& a, const ZoneSegment& b) {
    return a.end == b.end && a.offset == b.offset;
  });
}

}  // namespace

Result<std::string> cluster_zone(Link& link, const Keys& keys, const std::optional<std::string>& given,
                                 const std::string& local) {
  constexpr Nanoseconds kTimeout = std::chrono::seconds(3);
  const std::string key = keys.cluster();
  const std::string& own = given ? *given : local;
  std::vector<RedisCommand> commands{{"HSETNX", key, "format", std::string(kClusterFormat)}};
  if (!own.empty()) commands.push_back({"HSETNX", key, "timezone", own});
  commands.push_back({"HMGET", key, "timezone", "format"});
  std::vector<TimedReply> replies = link.ask(std::move(commands), kTimeout);
  for (TimedReply& reply : replies) {
    if (const Result<RedisValue> value = value_of(reply.reply); !value) return fail(value.error());
  }
  const RedisValue& found = replies.back().reply.value;
  if (found.items.size() != 2) return fail(Code::internal, "Redis gave another answer than HMGET does");
  const std::string& zone = found.items[0].text;
  const std::string& format = found.items[1].text;
  if (format != kClusterFormat) {
    return fail(Code::conflict, "the cluster " + quoted(keys.name_space()) + " keeps its keys in format " +
                                    quoted(format) + ", and this krond knows " + quoted(kClusterFormat) +
                                    " only; use the same version of krond on all hosts");
  }
  if (zone.empty()) {
    return fail(Code::conflict,
                "the cluster has no time zone yet, and this host's is not known; give --default-timezone");
  }
  if (!own.empty() && !are_same(zone, own)) {
    return fail(Code::conflict, "the cluster's time zone is " + quoted(zone) + " and this host's is " + quoted(own) +
                                    ": a job without a zone would run at two times; start krond with "
                                    "--default-timezone " +
                                    zone + ", or change the cluster's with: kron cluster timezone " + own);
  }
  return zone;
}

}  // namespace kron::cluster
