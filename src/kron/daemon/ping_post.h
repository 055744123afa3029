#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "kron/daemon/ping_queue.h"
#include "kron/daemon/ping_sender.h"

namespace kron::daemon {

// What healthchecks keeps of a body, unless it was told otherwise. A longer one would lose its end, which tells most.
inline constexpr std::size_t kMostPingBody = 10'000;

// The path of a request below the URL of the check: /start?rid=<the run's id as UUID>.
std::string ping_target(const Ping& ping);

// 0b1c…: 32 hex digits with dashes between them. Of an id of another shape, of its hash.
std::string uuid_of_run(std::string_view run_id);

// Makes what posts pings: each over a connection of its own that is kept, and all with one set of authorities to trust,
// those of the system. TLS, or this machine; redirections are not followed. What runs have written is read below the
// state directory.
std::function<PingSender::Post()> ping_posts(std::string state_directory);

}  // namespace kron::daemon
