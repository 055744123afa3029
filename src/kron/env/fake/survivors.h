#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kron/env/fake/disk.h"

namespace kron::testing {

// One thing a power cut may leave of a disk.
struct Survivor {
  std::vector<bool> kept;                   // of disk.pending()
  std::map<InodeId, std::string> contents;  // of the unsynced files that are still reachable
};

struct Survivors {
  std::vector<Survivor> all;  // no two leave the same names and contents
  bool exhaustive = true;     // every legal choice of names, with every one of the representative tears of each file
};

// Everything a power cut at this moment may leave, when that is at most `most`; else `most` samples: first the ordered
// prefixes, which a journaling file system leaves, then choices drawn from `seed`.
//
// Representative tears of a file's unsynced bytes: none there, all there, all zeros, the first half, the first half and
// then zeros, zeros and then the second half, all but the last byte. Samples cut anywhere.
Survivors survivors_of(const Disk& disk, std::size_t most, std::uint64_t seed);

// For the report of a failure: which changes were kept and lost, which files torn.
std::string describe(const Disk& disk, const Survivor& survivor);

}  // namespace kron::testing
