#pragma once

#include <optional>

#include "kron/base/run_usage.h"
#include "kron/json/fields.h"
#include "kron/json/writer.h"

namespace kron {

// The members of a run that tell what it used (docs/formats.md, "Run history"): written into a map that is open, and
// read from one; nothing when it has none of them.
void write_usage(JsonWriter& out, const RunUsage& usage);
std::optional<RunUsage> read_usage(Fields& fields);

}  // namespace kron
