#pragma once

#include <vector>

#include "kron/env/descriptor.h"

namespace kron::http {

// The sockets that a service manager hands over to this process (LISTEN_FDS, as sd_listen_fds(3) has it), in its
// order; none when it hands over nothing. Once: whatever is started from here must not take them for its own. Before
// there is a second thread, because it changes the environment.
std::vector<Descriptor> take_passed_sockets();

}  // namespace kron::http
