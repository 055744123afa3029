#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/env/clock.h"
#include "kron/json/document.h"

// A Lease of coordination.k8s.io/v1 as a value.
namespace kron::kube {

struct Lease {
  std::string ns;
  std::string name;
  std::string holder = {};  // empty: nobody's
  Seconds duration{15};
  std::optional<WallTime> acquired = {};
  std::optional<WallTime> renewed = {};
  std::int64_t transitions = 0;       // how often the holder changed
  std::string resource_version = {};  // empty: it is to be created

  bool operator==(const Lease&) const = default;
};

// Refused with code invalid: no Lease that a server has stored. What is absent, or out of any sense, reads as nobody's.
Result<Lease> read_lease(const Node& object);

// As the server takes it; with the version, if there is one, so that it is a compare-and-set.
std::string lease_body(const Lease& lease);

// "2026-11-17T10:00:00.000250Z": times of a Lease and of an event have six digits, or are refused.
std::string micro_time(WallTime time);

std::string leases_path(std::string_view ns);
std::string lease_path(std::string_view ns, std::string_view name);

}  // namespace kron::kube
