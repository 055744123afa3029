#pragma once

#include "kron/json/writer.h"

namespace kron::bench {

// One map: so many jobs became due while no krond was there, and are late when one starts. How long its answers take
// until all of them have run.
void write_late_crowd(JsonWriter& out, int jobs);

}  // namespace kron::bench
