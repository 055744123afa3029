#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/api/cluster_status.h"
#include "kron/cluster/keys.h"
#include "kron/cluster/link.h"

namespace kron::daemon {

// What a Redis says of itself, as far as a cluster depends on it.
struct RedisFacts {
  std::string info = {};                        // of INFO: lines `name:value`
  std::optional<std::string> appendfsync = {};  // none: we are not told
  bool is_cluster = false;                      // a Redis Cluster
};

// Pure. What may cost runs or records; an error is what can make a period run twice, or lose the state of all jobs.
std::vector<api::ClusterStatus::Warning> warnings_about(const RedisFacts& facts);

// Pure. Why it cannot be used at all; empty: it can.
std::string why_unusable(const RedisFacts& facts, std::string_view name_space);

// Pure. The ACL rules that a user of this namespace needs.
std::string acl_rules(std::string_view name_space);

// Pure. What to tell of an error of Redis: of a right that is missing, with the rules that give it. `user`: who we are
// there; empty: the default user.
std::string explained(std::string_view error, std::string_view name_space, std::string_view user = "");

// Asks. Blocks; not on the loop.
Result<RedisFacts> ask_facts(cluster::Link& link);

}  // namespace kron::daemon
