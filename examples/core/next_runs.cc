// Decides the next five runs of a nightly backup, in a program of its own: no daemon, no I/O, no clock.
#include <iostream>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/core/decision.h"
#include "kron/core/make_job.h"

namespace {

// Every night at 01:00 in Paris, somewhere within the three hours that follow, but never on a Sunday.
kron::Result<kron::Job> nightly_backup(kron::ZoneDatabase& zones) {
  const kron::Result<kron::TimeZone> zone = zones.find("Europe/Paris");
  if (!zone) return kron::fail(zone.error());
  const kron::Result<kron::Schedule> schedule = kron::parse_schedule("0 1 * * *");
  if (!schedule) return kron::fail(schedule.error());

  kron::Job job;
  job.identity = "prod/db-backup";
  job.schedule = *schedule;
  job.zone = *zone;
  job.window = {kron::WindowMode::after, std::chrono::hours(3)};
  job.salt = "backup";
  const kron::Status added = kron::add_clause(job.constraints.avoid, "dow", "SUN");
  if (!added) return kron::fail(added.error());
  return kron::make_job(std::move(job));
}

}  // namespace

int main() {
  kron::ZoneDatabase zones;
  const kron::Result<kron::Job> job = nightly_backup(zones);
  if (!job) {
    std::cerr << job.error().message << '\n';
    return kron::exit_status(job.error().code);
  }
  kron::Instant t = *kron::parse_rfc3339("2026-03-27T00:00:00Z");
  for (int i = 0; i < 5; ++i) {
    const auto nominal = job->schedule.next_after(t, job->zone);
    if (!nominal) break;
    const kron::Decision decision = kron::decide(*job, *nominal);
    std::cout << kron::rfc3339(*nominal) << " -> "
              << (decision.chosen ? kron::rfc3339(*decision.chosen)
                                  : std::string("not run: ") + std::string(kron::kNoCandidate))
              << '\n';
    t = *nominal;
  }
}
