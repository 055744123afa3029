#pragma once

#include <optional>
#include <string>

#include "kron/core/time_zone.h"

namespace kron::jobs {

// Where this host says which zone its wall clock is in. Tests bring their own.
struct HostZonePlaces {
  std::optional<std::string> tz = {};        // the variable TZ; absent: not set
  std::string localtime = "/etc/localtime";  // a link into the database, or a copy of one of its files
  std::string timezone = "/etc/timezone";    // read only to choose between names of the same zone
  std::string directory = {};                // of the database; empty: zone_directory()
};

// The places of this process.
HostZonePlaces host_zone_places();

// The zone that the C library, and so cron, takes for local time.
struct HostZone {
  TimeZone zone = {};
  std::string source = {};   // what names it: `TZ`, a path, or how the C library does without
  std::string problem = {};  // why it cannot be named; `zone` is of no use then. Empty: it can
  std::string cure = {};

  [[nodiscard]] bool is_known() const { return problem.empty(); }
};

// TZ (a name, `:name` or a path), then /etc/localtime; UTC when there is neither, as the C library has it. A zone
// without a name in the database (a rule such as EST5EDT,M3.2.0,M11.1.0, or a file that is a copy of none) is a
// problem, never silently UTC.
HostZone host_zone(ZoneDatabase& zones, const HostZonePlaces& places = host_zone_places());

}  // namespace kron::jobs
