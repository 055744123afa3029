#include "cluster_server.h"

#include "kron/base/text.h"

namespace kron::cli {

RedisInfo parse_info(std::string_view text) {
  RedisInfo info;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (line.starts_with('#') || colon == std::string_view::npos) continue;
    info.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
  return info;
}

std::string fact(const RedisInfo& info, std::string_view key) {
  const auto found = info.find(key);
  return found == info.end() ? "" : found->second;
}

std::vector<std::string> warnings_of(const RedisInfo& info, std::string_view appendfsync) {
  std::vector<std::string> warnings;
  if (fact(info, "aof_enabled") == "0") {
    warnings.emplace_back(
        "Redis keeps no append-only file: when it crashes, claims are lost, and their periods may run "
        "again; set appendonly yes");
  } else if (appendfsync == "everysec" || appendfsync == "no") {
    warnings.emplace_back("appendfsync is " + std::string(appendfsync) +
                          ": a crash of Redis's machine can lose the claims of its last seconds; see docs/cluster.md");
  }
  const std::string policy = fact(info, "maxmemory_policy");
  if (!policy.empty() && policy != "noeviction") {
    warnings.emplace_back("maxmemory-policy is " + kron::quoted(policy) +
                          ": Redis may drop what the cluster knows of its jobs; set noeviction");
  }
  if (fact(info, "role") == "slave") warnings.emplace_back("this Redis is a replica: nothing can be written to it");
  return warnings;
}

}  // namespace kron::cli
