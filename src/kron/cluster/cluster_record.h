#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/core/state.h"
#include "kron/state/record.h"

// A field of `:kron:state`: the STATE record of a job, which begins with its revision. Pure.
namespace kron::cluster {

struct ClusterRecord {
  std::uint64_t revision = 0;
  StateRecord state = {};  // without history and active runs, which are kept elsewhere
  // When an operator began the record anew, as a revision: what is known from before does not count any more.
  std::uint64_t reset_at = 0;
};

// As the scripts want it: what follows the revision.
std::string text_after_revision(const ClusterRecord& record);

// Errors as by state::parse; invalid also when there is no revision.
Result<ClusterRecord> parse_cluster_record(std::string_view text);

// Whether `found`, a record that somebody else has written, does not know of something that `seen` knows was handled: a
// write was lost. Records that come from one another, step by step, never forget.
bool has_forgotten(const JobState& found, const JobState& seen);

// What is handled in either is handled: the greater L, fewer open periods, and the later first sight. All else is as in
// `found`.
JobState merged(const JobState& found, const JobState& seen);

// Equal in all that a record has to say. A schedule that was never changed need not be told.
bool is_same(const JobState& before, const JobState& after);

}  // namespace kron::cluster
