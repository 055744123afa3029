#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/env/file_system.h"

// The only way in which Kron writes what must survive a power cut: a temporary file in the same directory, its sync,
// a rename, the directory's sync (STATE "Write Semantics"). Whatever happens in between, a reader finds the old
// contents or the new, never a part.
namespace kron {

inline constexpr std::string_view kTemporaryPrefix = ".tmp-";

// Temporary files that hold what was replaced, to be written anew. A file that is made for each write, and one that is
// freed, is what most of a small durable write can go into: ext4 passes over every number of a file that was freed
// within the last seconds, one by one, before it gives one out. Of one directory, for one thread. They are left behind
// when the process ends; the next start removes them (remove_leftovers).
class SpareFiles {
 public:
  static constexpr std::size_t kMost = 256;

  // A spare file, or nothing.
  std::optional<std::string> take();
  // The name of a new one, for what is to be replaced first.
  std::string new_name(std::string_view replaced);
  // False: there are enough.
  bool give(std::string name);

 private:
  std::deque<std::string> names_;
  std::uint64_t made_ = 0;
};

struct Replacement {
  std::string_view name;   // at most 230 bytes
  std::string_view bytes;  // both views must outlive the call
  mode_t mode = 0600;
  IfTaken if_taken = IfTaken::replace;
};

struct [[nodiscard]] ReplaceResult {
  Status status;       // ok: durable
  bool fatal = false;  // a sync failed: see BatchResult::fatal

  explicit operator bool() const { return status.has_value(); }
};

struct [[nodiscard]] BatchResult {
  std::vector<Status> entries;  // in order; ok: durable. A failed entry is as before, unless `fatal` is set

  // A sync failed. Nobody knows which of the entries that are not ok will be there after a power cut, and no further
  // sync can tell: the process must stop writing and end; the next start recovers from what is on the disk.
  std::optional<Error> fatal;
};

ReplaceResult durable_replace(FileSystem& file_system, Directory& directory, const Replacement& replacement);

// The same for many names of one directory at the price of few: the syncs are in flight together, and all share one
// sync of the directory. Names must differ.
// With `spares`, what is replaced becomes a spare file once its replacement is durable.
BatchResult durable_batch(FileSystem& file_system, Directory& directory, std::span<const Replacement> replacements,
                          SpareFiles* spares = nullptr);

// Removes the temporary files that an earlier process left, and says how many. For a directory nobody else writes to.
Result<std::size_t> remove_leftovers(Directory& directory);

}  // namespace kron
