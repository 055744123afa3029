#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster_session.h"
#include "cluster_values.h"

// What several verbs of `kron cluster` read. All of it has limits: whoever can write to Redis decides how much there
// is.
namespace kron::cli {

// Name -> text of every definition.
using Definitions = std::map<std::string, std::string>;
Result<Definitions> read_definitions(ClusterSession& session);
// Of these names; not_found when one is missing, with the nearest name.
Result<Definitions> read_definitions(ClusterSession& session, std::span<const std::string> names);
Result<std::set<std::string>> read_names(ClusterSession& session);

// Redis's TIME.
Result<double> read_time(ClusterSession& session);

// Ids of a sorted set with their scores, the highest score first.
using Scored = std::vector<std::pair<std::string, double>>;
Result<Scored> read_newest(ClusterSession& session, const std::string& key, std::size_t limit);

// What rundata says of them, in the same order; those without rundata are left out.
Result<std::vector<ClusterRun>> read_runs(ClusterSession& session, const Scored& ids);
Result<std::optional<ClusterRun>> read_run(ClusterSession& session, const std::string& id);

}  // namespace kron::cli
