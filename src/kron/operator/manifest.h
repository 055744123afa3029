#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/core/time_zone.h"
#include "kron/jobs/problem.h"
#include "kron/operator/spec.h"

// KronJobs as people keep them: in files that are not on any server yet.
namespace kron::kronjobs {

struct Manifest {
  std::string file;
  Node document;  // with positions
  std::string ns;
  std::string name;
  KronJobSpec spec;
  bool is_good = false;  // a server would take it, and the operator run it
};

// The KronJobs among the documents of a YAML text, Lists included; other kinds are passed by. `ns` is the namespace of
// those that name none. Reported: as errors whatever a server or the operator would refuse, and keys that a server
// drops without a word; as warnings what is taken and probably not meant.
std::vector<Manifest> read_manifests(std::string_view yaml, std::string_view ns, ZoneDatabase& zones,
                                     jobs::Report& report);

// What the spec of a manifest has that the schema of the CRD refuses; fields begin with "spec.".
std::vector<Error> schema_errors(const Node& spec);

// What good manifests do together or over time, looking forward from `now`: names given twice (errors), overlapping
// windows, periods without a time, changes of the clock, many at the same second.
std::vector<jobs::Problem> lint_manifests(std::span<const Manifest> manifests, Instant now);

}  // namespace kron::kronjobs
