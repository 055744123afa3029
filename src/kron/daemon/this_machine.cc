#include "kron/daemon/this_machine.h"

#include <array>
#include <unistd.h>

#include "kron/jobs/host_zone.h"

namespace kron::daemon {

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
}

std::string machine_zone() {
  ZoneDatabase zones;
  const jobs::HostZone host = jobs::host_zone(zones);
  return host.is_known() ? host.zone.name() : std::string();
}

}  // namespace kron::daemon
