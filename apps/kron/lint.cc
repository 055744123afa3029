#include "kron/jobs/lint.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unistd.h>
#include <utility>

#include "flag_values.h"
#include "kron/env/places.h"
#include "kron/jobs/destinations.h"
#include "krond_jobs.h"
#include "lines.h"
#include "lint_findings.h"
#include "terminal.h"
#include "verbs.h"

namespace kron::cli {

namespace {

// Nothing: no file was named, and there is none at the usual place.
std::optional<Result<jobs::Destinations>> known_destinations(const std::string& named) {
  if (!named.empty()) return jobs::load_destinations(named, jobs::Trust::anyone);
  const Result<std::string> usual = default_notify_file();
  if (!usual || ::access(usual->c_str(), R_OK) != 0) return std::nullopt;
  return jobs::load_destinations(*usual, jobs::Trust::anyone);
}

struct LintedJobs {
  ReadJobs read = {};
  std::size_t max_running = 0;
  jobs::UsualLengths usual = {};
};

// krond knows how long runs take, and how many may be active.
Result<LintedJobs> of_krond(const DaemonOptions& krond, ZoneDatabase& zones) {
  Result<ToldJobs> told = jobs_of_krond(krond, zones);
  if (!told) return fail(told.error());
  const Result<KrondTerms> terms = terms_of_krond(krond);
  if (!terms) return fail(terms.error());
  return LintedJobs{.read = std::move(told->read),
                    .max_running = terms->max_running,
                    .usual = {told->usual.begin(), told->usual.end()}};
}

}  // namespace

int lint(const LintVerbOptions& options) {
  const Result<Instant> now = time_flag(options.now, "--now");
  if (!now) return complain("lint", now.error());
  ZoneDatabase zones;
  Result<LintedJobs> linted = options.of_krond ? of_krond(options.krond, zones)
                                               : LintedJobs{.read = read_jobs(as_read_at(options.files, *now), zones)};
  if (!linted) return complain("lint", linted.error());
  ReadJobs& read = linted->read;
  const jobs::LintOptions look{.now = *now,
                               .notes = !options.json,
                               .max_running = options.max_running != 0 ? options.max_running : linted->max_running,
                               .usual = &linted->usual};
  std::ranges::move(jobs::lint(read.jobs.definitions, look), std::back_inserter(read.jobs.problems));
  if (const auto destinations = known_destinations(options.notify_file)) {
    if (!*destinations) return complain("lint", destinations->error());
    std::ranges::move(jobs::unknown_destinations(read.jobs.definitions, **destinations),
                      std::back_inserter(read.jobs.problems));
  }
  const int status = read.status();
  show_findings(std::move(read.jobs.problems), counted(read.jobs.definitions.size(), "job"),
                {.quiet = options.quiet, .json = options.json});
  return status;
}

}  // namespace kron::cli
