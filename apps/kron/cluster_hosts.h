#pragma once

#include <string>
#include <vector>

#include "cluster_read.h"
#include "kron/cluster/hosts.h"

namespace kron::cli {

// A krond of the cluster.
struct ClusterHost {
  std::string instance;
  cluster::HostEntry entry;
  double age = 0;  // seconds since its last beat

  // A host that has said nothing for longer than this is gone, or cannot reach Redis.
  static constexpr double kStale = 45;
  [[nodiscard]] bool is_fresh() const { return age <= kStale; }
};

// What is in `:instances` and is no krond's: a cronken, most likely.
struct ForeignInstance {
  std::string host;
  std::string ip;
  double age = 0;
};

struct ClusterHosts {
  std::vector<ClusterHost> krond;       // by instance
  std::vector<ForeignInstance> others;  // those seen within 45 s
  std::size_t unreadable = 0;           // entries that are junk

  [[nodiscard]] bool has_fresh_krond() const;
};

Result<ClusterHosts> read_hosts(ClusterSession& session);

}  // namespace kron::cli
