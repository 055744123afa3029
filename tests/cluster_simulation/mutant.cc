#include "mutant.h"

#include "kron/base/rfc3339.h"

namespace kron::testing {

std::string MutatingConnection::earlier(std::string record, std::string& first_seen) {
  const Instant sight = instant_of(std::stoll(first_seen));
  const std::string from = rfc3339(sight);
  const std::size_t at = record.find(from);
  if (at != std::string::npos) record.replace(at, from.size(), rfc3339(sight - Seconds(1)));
  first_seen = std::to_string(epoch_seconds(sight) - 1);
  return record;
}

}  // namespace kron::testing
