#pragma once

#include <map>
#include <string>

#include "kron/base/result.h"

namespace kron::bench {

struct BullMqCounts {
  std::size_t alone = 0;
  std::size_t batched = 0;
  std::size_t processed = 0;
};

// Jobs a second.
struct BullMqRates {
  double alone = 0;                 // one after the other, each awaited
  double batched = 0;               // 100 at a time
  std::map<int, double> processed;  // by one worker with so many at a time
};

// Measures BullMQ on the Redis of that port. An Error: it is not here, or it failed; the message says what to do.
Result<BullMqRates> bullmq_rates(int port, const BullMqCounts& counts, const std::string& data);

std::string bullmq_version();  // empty: it is not here

}  // namespace kron::bench
