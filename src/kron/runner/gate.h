#pragma once

#include <string>

#include "kron/base/result.h"
#include "kron/env/descriptor.h"

namespace kron::runner {

// Where kron-exec holds a run until we say how it goes on.
struct Gate {
  Descriptor ours;    // one byte opens it; closing it ends the run
  Descriptor theirs;  // for kron-exec alone: as long as anyone else holds it, our end does not see kron-exec's
};

Result<Gate> make_gate();

// False and errno when nobody waits at the gate any more. What is said stays said: who comes late hears it.
bool tell(const Descriptor& gate, char word);

// A file without a name that holds these bytes.
Result<Descriptor> memory_file(const std::string& bytes);

}  // namespace kron::runner
