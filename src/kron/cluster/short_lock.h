#pragma once

#include <optional>
#include <string>

#include "kron/base/result.h"
#include "kron/cluster/link.h"

// The locks by which one host at a time does what concerns all (`:locks:__reaper__`, `:locks:__validation__`). They
// only save work: what is done under them is safe when two hosts do it. Both block; not on the loop.
namespace kron::cluster {

// The token, or nothing: another host has it. It lapses after `ttl`.
Result<std::optional<std::string>> take_short_lock(Link& link, const std::string& key, Nanoseconds ttl);

// Gives it back, if it is still ours. A failure is no harm: it lapses.
void release_short_lock(Link& link, const std::string& key, const std::string& token);

}  // namespace kron::cluster
