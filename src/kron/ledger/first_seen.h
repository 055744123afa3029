#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kron/base/instant.h"
#include "kron/base/result.h"

namespace kron {

// First sight of jobs that have no record yet, as kept in first-seen.json:
//   {"Version":"1","FirstSeen":[{"At":"2026-03-01T00:00:00Z","Identities":["a","b"]}]}
// Jobs seen by the same load share one entry, so that a million new jobs cost little more than their names.
using FirstSeen = std::unordered_map<std::string, Instant>;

std::string first_seen_text(const FirstSeen& jobs);
Result<FirstSeen> parse_first_seen(std::string_view text);

}  // namespace kron
