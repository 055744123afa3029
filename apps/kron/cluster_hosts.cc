#include "cluster_hosts.h"

#include <algorithm>
#include <set>

namespace kron::cli {

bool ClusterHosts::has_fresh_krond() const { return std::ranges::any_of(krond, &ClusterHost::is_fresh); }

Result<ClusterHosts> read_hosts(ClusterSession& session) {
  constexpr std::size_t kMostInstances = 10'000;
  const auto now = read_time(session);
  if (!now) return fail(now.error());
  ClusterHosts hosts;
  std::set<std::string> members;
  std::set<std::string> seen;
  const Status read = session.scan("HSCAN", session.keys().hosts(), {}, [&](const std::vector<RedisValue>& page) {
    for (std::size_t i = 0; i + 1 < page.size(); i += 2) {
      if (!seen.insert(page[i].text).second) continue;
      const auto entry = cluster::parse_host_entry(page[i + 1].text);
      if (!entry) {
        ++hosts.unreadable;
        continue;
      }
      members.insert(cluster::instance_member(entry->host, entry->ip));
      hosts.krond.push_back({page[i].text, *entry, *now - entry->beat});
    }
    return Status();
  });
  if (!read) return fail(read.error());
  std::ranges::sort(hosts.krond, {}, &ClusterHost::instance);
  const auto instances = read_newest(session, session.keys().instances(), kMostInstances);
  if (!instances) return fail(instances.error());
  for (const auto& [member, beat] : *instances) {
    if (members.contains(member) || *now - beat > ClusterHost::kStale) continue;
    const auto name = cluster::parse_instance_member(member);
    if (!name) {
      ++hosts.unreadable;
      continue;
    }
    hosts.others.push_back({name->host, name->ip, *now - beat});
  }
  return hosts;
}

}  // namespace kron::cli
