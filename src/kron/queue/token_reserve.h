#pragma once

#include <cstdint>

#include "kron/env/file_system.h"

namespace kron {

// Numbers that only grow, over every crash: a block is reserved on the disk before the first of it is handed out, and a
// start begins behind whatever was reserved. Kept in `tokens.json`.
class TokenReserve {
 public:
  TokenReserve(FileSystem& file_system, Directory& directory, std::uint64_t block)
      : file_system_(&file_system), directory_(&directory), block_(block) {}

  // Code not_found or invalid: there is no usable file, so the caller must know the highest number ever seen.
  Status load();
  void begin_behind(std::uint64_t seen);

  Result<std::uint64_t> next();

  // A sync failed while reserving: see BatchResult::fatal.
  bool has_failed_for_good() const { return has_failed_; }
  std::uint64_t syncs() const { return syncs_; }

 private:
  FileSystem* file_system_;
  Directory* directory_;
  std::uint64_t block_;
  std::uint64_t last_ = 0;
  std::uint64_t reserved_ = 0;  // up to and with this one
  bool has_failed_ = false;
  std::uint64_t syncs_ = 0;
};

}  // namespace kron
