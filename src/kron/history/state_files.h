#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/sha256.h"
#include "kron/env/file_system.h"
#include "kron/history/entry.h"

namespace kron::history {

// What a job's record in the ledger tells: its last outcomes, and the runs that go on.
std::vector<Entry> entries_of(const StateRecord& record);

// The newest run or outcome that the job's record tells of; nothing when it has none, or cannot be read. For what the
// history has forgotten: a record outlives it.
std::optional<Entry> last_in_record(Directory& state, std::string_view job);

// The records of a state directory that changed at or after a time of the machine's clock, to be read a few at a time.
class StateFiles {
 public:
  static Result<StateFiles> changed_since(Directory& directory, Instant since);

  bool has_more() const { return next_ < names_.size(); }
  // Of the next `most` files. One that cannot be read is the ledger's matter, and passed over.
  std::vector<Entry> read(Directory& directory, std::size_t most);

 private:
  std::vector<Sha256> names_;
  std::size_t next_ = 0;
};

}  // namespace kron::history
