#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kron/env/file_system.h"

namespace kron::history {

// A file of the history's directory that is read at the start and then written as a whole. Used by one thread.
class SmallFile {
 public:
  static constexpr std::size_t kMostBytes = 4 << 20;

  // Both outlive it, and so does the name.
  SmallFile(FileSystem& file_system, Directory& directory, std::string_view name)
      : file_system_(file_system), directory_(directory), name_(name) {}

  std::string path() const { return entry_path(directory_.path(), name_); }

  // Nothing: it is not there.
  Result<std::optional<std::string>> read();
  // Durable when it succeeds; else what was there before still is. Fails while the disk has no room to spare, and for
  // good after a sync has failed.
  Status write(std::string_view text);

 private:
  FileSystem& file_system_;
  Directory& directory_;
  std::string_view name_;
  std::optional<Error> broken_;
};

}  // namespace kron::history
