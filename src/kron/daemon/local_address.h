#pragma once

#include <string>

#include "kron/env/redis_url.h"

namespace kron::daemon {

// The address of this machine on its way to the first of these servers, as `:instances` names it; 127.0.0.1 when it
// cannot be told. Nothing is sent, but a name may be looked up, which may take its time.
std::string local_address_towards(const RedisUrl& url);

}  // namespace kron::daemon
