#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/cluster/dialect.h"

namespace kron::daemon {

// A krond that takes its jobs from Redis, together with others (docs/cluster.md).
struct ClusterOptions {
  std::string redis = {};  // a URL. It may hold a password, so it is shown nowhere
  cluster::Dialect dialect = cluster::Dialect::seed;
  std::string name_space = "{cronken}";
  std::string host = {};              // empty: what this machine is called
  std::string default_timezone = {};  // of the cluster, if it has none yet; empty: this machine's
  std::uint32_t claim_replicas = 0;   // that must have a claim before its run is let go
  std::string hmac_key_file = {};     // empty: no signatures are checked
  bool require_signed = false;
  std::string job_shell = {};  // which reads the commands of the jobs
  std::vector<std::string> passed_variables = {};
  Seconds heartbeat_cadence{30};
  Nanoseconds output_cadence = Seconds(1);
  std::uint64_t output_buffer_size = 64 << 10;  // bytes of a run's output that go to Redis at a time; none are dropped
  std::uint32_t max_finalized_output_lines = 10;
  std::uint32_t perjob_results_limit = 1000;
  std::uint32_t general_results_limit = 10'000;
  std::uint32_t outcomes_limit = 100'000;
  bool tasks_in_files = false;  // of this host alone; else all hosts share those in Redis
};

// An option of a cluster: a flag, KRON_… in the environment, and for some the variable that cronken's server reads.
struct ClusterSetting {
  std::string_view flag;     // without its dashes
  std::string_view cronken;  // empty: cronken has none
  std::string_view value;    // what the value is, in capitals; empty: a flag without one
  std::string_view help;
};
std::span<const ClusterSetting> cluster_settings();

// KRON_CLUSTER_COMPAT for cluster-compat.
std::string variable_of(const ClusterSetting& setting);

using Variables = std::function<std::optional<std::string>(const std::string& name)>;
Variables process_variables();

// A flag goes before KRON_…, and that before CRONKEN_…; an empty variable is as good as none. Nothing when nobody names
// a Redis; `flags` are those that were given, without their dashes. Unreadable: a value is none, and the message names
// the flag or the variable that it came from, but never the URL.
Result<std::optional<ClusterOptions>> cluster_options(const std::map<std::string, std::string>& flags,
                                                      const Variables& variables);

}  // namespace kron::daemon
