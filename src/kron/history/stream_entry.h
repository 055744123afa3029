#pragma once

#include <string_view>

#include "kron/history/entry.h"

namespace kron::history {

// What stands in a cluster's stream of outcomes (docs/formats.md, "Cluster"): an entry without its times, which are
// that of its id: `milliseconds-sequence`, by the server's clock. Of a run that goes on that is its start, of all else
// its end. Invalid: it is none.
Result<Entry> parse_stream_entry(std::string_view id, std::string_view json);

// Whether `id` stands behind `other` in a stream. What is no id stands before all that are.
bool is_behind(std::string_view id, std::string_view other);

}  // namespace kron::history
