#pragma once

#include "kron/env/file_system.h"
#include "kron/env/sync_pool.h"

namespace kron {

// The machine's file system. Descriptors are close-on-exec; interrupted calls are made again. Safe to use from several
// threads, each File from one at a time.
class RealFileSystem : public FileSystem {
 public:
  Result<std::unique_ptr<Directory>> open_directory(std::string_view path) override;
  std::vector<Status> sync_together(std::span<File* const> files) override;
  uid_t user() const override;

 private:
  static constexpr std::size_t kSyncThreads = 8;

  SyncPool syncers_{kSyncThreads - 1};
};

}  // namespace kron
