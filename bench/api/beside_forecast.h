#pragma once

#include "kron/json/writer.h"

namespace kron::bench {

// One map: how long the decisions of one job take, alone and while somebody else has the load of all jobs forecast, as
// far ahead as one request may.
void write_beside_forecast(JsonWriter& out, int jobs, double seconds);

}  // namespace kron::bench
