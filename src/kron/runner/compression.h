#pragma once

#include <cstddef>
#include <set>
#include <stop_token>
#include <string>

#include "kron/base/instant.h"
#include "kron/runner/retention.h"
#include "kron/runner/run_files.h"

namespace kron::runner {

// Beside a run's `output`, and then in its place.
inline constexpr char kCompressedOutputName[] = "output.gz";

struct Compression {
  Seconds after = std::chrono::hours(24);  // since the last was written to it
  std::uint64_t least = 4096;              // bytes; fewer take as much room on disk either way
};

// Compresses the output of runs that ended long ago, but not of those in `active`, and says of how many. Whenever it is
// cut off, each output is there in one form or both. A run's age, by which it is removed, stays what it was. `now` is
// the machine's time. Told to stop, it leaves the rest for another time; one that fails keeps no other from it.
Result<std::size_t> compress_old_output(RunFiles& files, const Compression& compression,
                                        const std::set<std::string>& active, Instant now,
                                        const std::stop_token& stop = {}, Stayed* stayed = nullptr);

}  // namespace kron::runner
