#pragma once

#include "kron/base/result.h"

namespace kron::cli {

// From now on this process, and the threads it starts, can execute no other program, look into or signal no other
// process, and change nothing of the system; it never gains a privilege. What is forbidden fails with EPERM. A front
// that is taken over and has krond's own user is held by this alone. Error: the kernel cannot do it.
Status confine_front();

}  // namespace kron::cli
