#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/sha256.h"
#include "kron/env/file_system.h"
#include "kron/state/record.h"

namespace kron {

// Why a record cannot be used.
enum class RecordFault : std::uint8_t {
  none,
  damaged,        // krond sets it aside when it starts
  too_large,      // krond does not schedule the job
  other_version,  // krond does not start
  unreadable,     // krond does not start: no permission, no plain file, or others may change it
};
std::string_view name_of(RecordFault fault);

// What stands in a state directory about one job.
struct RecordFacts {
  std::string file;      // its name in the directory
  std::string identity;  // empty when the file does not tell it, or tells one that is not of its name
  std::uint64_t bytes = 0;
  RecordFault fault = RecordFault::none;
  std::string reason = {};                 // a sentence, when there is a fault
  std::optional<StateRecord> record = {};  // when there is none
};

// Takes no lock, because records are replaced as a whole; on any thread. not_found: there is none of that name.
Result<RecordFacts> look_at_record(Directory& directory, const Sha256& identity_hash);

}  // namespace kron
