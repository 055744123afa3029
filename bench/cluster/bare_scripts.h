#pragma once

#include "servers.h"

namespace kron::bench {

struct BareRedis {
  double pings = 0;        // a second, one by one
  double pipelined = 0;    // a second, many at once
  double runs = 0;         // a second: a claim and an end each, as a krond sends them, many at once
  double cpu_per_run = 0;  // seconds of the server's processor
};

// What Redis alone can do with the scripts of a run.
BareRedis bare_redis(int rounds);

}  // namespace kron::bench
