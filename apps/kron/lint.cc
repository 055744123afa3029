#include "kron/jobs/lint.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "flag_values.h"
#include "lines.h"
#include "lint_findings.h"
#include "terminal.h"
#include "verbs.h"

namespace kron::cli {

int lint(const LintVerbOptions& options) {
  const Result<Instant> now = time_flag(options.now, "--now");
  if (!now) return complain("lint", now.error());
  ZoneDatabase zones;
  ReadJobs read = read_jobs(options.files, zones);
  const jobs::LintOptions look{.now = *now, .notes = !options.json};
  std::ranges::move(jobs::lint(read.jobs.definitions, look), std::back_inserter(read.jobs.problems));
  const int status = read.status();
  show_findings(std::move(read.jobs.problems), counted(read.jobs.definitions.size(), "job"),
                {.quiet = options.quiet, .json = options.json});
  return status;
}

}  // namespace kron::cli
