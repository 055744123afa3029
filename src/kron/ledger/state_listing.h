#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kron/base/sha256.h"
#include "kron/env/file_system.h"

namespace kron {

// The names in a state directory that are the ledger's; all lists are sorted.
struct StateListing {
  std::vector<Sha256> records;                            // jobs that have one
  std::vector<std::pair<Sha256, std::string>> set_aside;  // records that could not be read
  std::vector<std::uint64_t> recorded;                    // numbers of first-seen.recorded-<number>.json

  [[nodiscard]] bool has_records() const { return !records.empty() || !set_aside.empty(); }
  [[nodiscard]] bool has_record(const Sha256& hash) const { return std::ranges::binary_search(records, hash); }
  [[nodiscard]] auto set_aside_of(const Sha256& hash) const {
    return std::ranges::equal_range(set_aside, hash, {}, &std::pair<Sha256, std::string>::first);
  }
};

Result<StateListing> list_state(Directory& directory);

}  // namespace kron
