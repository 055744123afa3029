#include "kron/env/fake/sweep.h"

namespace kron::testing {

std::ostream& operator<<(std::ostream& out, const SweepCounts& counts) {
  out << counts.crash_points << " crash points (" << counts.exhaustive_points << " exhaustive), " << counts.power_cuts
      << " surviving disks, " << counts.process_deaths << " process deaths, " << counts.violations << " violations";
  for (const std::string& violation : counts.first_violations) out << "\n  " << violation;
  return out;
}

}  // namespace kron::testing
