#include "kron/daemon/reload_preview.h"

#include <algorithm>
#include <iterator>

#include "kron/daemon/reload.h"
#include "kron/jobs/disk.h"
#include "kron/jobs/host_zone.h"
#include "kron/jobs/lint.h"

namespace kron::daemon {

api::ReloadReport preview_reload(const JobSource& source, const std::vector<jobs::JobDefinition>& in_force,
                                 Instant now) {
  ZoneDatabase zones;
  const jobs::LoadOptions load{.source = source.source, .host = jobs::host_zone(zones), .now = now};
  jobs::LoadedJobs read = jobs::load_paths(source.paths, jobs::disk_files(jobs::Trust::own_only), zones, load);
  api::ReloadReport report;
  report.problems = read.problems;
  std::ranges::move(jobs::lint(read.definitions, {.now = now}), std::back_inserter(report.problems));
  const EachJob each = [&](const auto& visit) { std::ranges::for_each(in_force, visit); };
  JobsToRun after = jobs_after(std::move(read), each);
  report.changes = changes_to(after.definitions, each);
  report.jobs = after.definitions.size();
  report.kept_files = std::move(after.kept);
  return report;
}

}  // namespace kron::daemon
