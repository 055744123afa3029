#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/env/file_system.h"
#include "kron/queue/task_queue.h"

namespace kron {

// What attempts leave for their commit to publish: staging/<exec_id>, which becomes effects/<taskId> once.
class StagedOutput {
 public:
  // Code conflict: what is staged could not be published by a rename. `failed_sync` is set when a sync failed.
  static Result<StagedOutput> open(FileSystem& file_system, Directory& data_directory, bool& failed_sync);

  // Durable when ok. `failed_sync` is set when a sync failed, which is final.
  Status write(std::string_view exec_id, std::span<const StagedFile> files, bool& failed_sync);

  // Whether the effects of a task are there, of whichever commit.
  Result<bool> has_effects(std::string_view task_id) const;

  // Redo: published already is fine. Not durable before sync(). Code conflict: something else has the name.
  Status publish(std::string_view exec_id, std::string_view task_id);
  Status sync();

  // Best effort: what stays is found by the next start.
  void discard(std::string_view exec_id);
  Result<std::vector<std::string>> names() const;

  std::uint64_t syncs() const { return syncs_; }

 private:
  explicit StagedOutput(FileSystem& file_system) : file_system_(&file_system) {}

  Status write_below(Directory& directory, std::span<const StagedFile> files, std::size_t skip, bool& failed_sync);
  Status synced(Directory& directory, bool& failed_sync);

  FileSystem* file_system_;
  std::unique_ptr<Directory> staging_;
  std::unique_ptr<Directory> effects_;
  std::uint64_t syncs_ = 0;
};

}  // namespace kron
