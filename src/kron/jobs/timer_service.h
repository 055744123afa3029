#pragma once

#include <string>
#include <vector>

#include "kron/jobs/import_timers.h"
#include "kron/jobs/shown_units.h"

namespace kron::jobs {

// What a job runs for a service: the keys of the model, and what of the service they do not say.
struct ServiceKeys {
  Node::Map keys;
  std::vector<std::string> lost;  // `ProtectSystem=strict`; of a kept unit: why it is kept
  bool is_kept = false;
  std::string problem = {};  // why there is no command; `keys` are of no use then
};

ServiceKeys keys_of_service(const ShownUnit& service, KeepUnit keep);

}  // namespace kron::jobs
