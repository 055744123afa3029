#pragma once

#include <cstddef>

#include "kron/json/writer.h"

namespace kron::bench {

// One map: how long it takes to open a queue in which `count` tasks wait, beside reading the same files, and the memory
// that it then has.
void write_opening(JsonWriter& out, std::size_t count);

}  // namespace kron::bench
