#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kron/base/result.h"

// Where a job's pings go: the address of its check at a service that speaks the protocol of healthchecks. Whoever knows
// it can ping in the job's name, so all but the scheme and the host of it is a secret.
namespace kron::jobs {

inline constexpr std::size_t kMostPingUrl = 1000;  // bytes

// https://host[:port]/path, and http:// for this machine alone; without the slashes at its end. Code invalid says what
// is wrong, and repeats nothing of it.
Result<std::string> parse_ping_url(std::string_view text);

// What may be shown of a URL: its scheme and host, such as https://hc-ping.com.
std::string_view place_of_url(std::string_view url);

}  // namespace kron::jobs
