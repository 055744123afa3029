#pragma once

#include "../krond/host.h"
#include "kron/json/writer.h"

namespace kron::bench {

struct Crowd {
  int loaded;       // jobs that rest
  int runs;         // that start each second, all at once
  int connections;  // that ask for jobs all the time, and as many that watch events slowly
  int rounds;
  int seconds;  // of each part of a round
};

// How late runs start on a krond that nobody asks anything, while many ask another server on the machine, on one that
// many ask for its jobs, and on one whose events many watch more slowly than they come.
void write_lateness(JsonWriter& out, const Crowd& crowd);

}  // namespace kron::bench
