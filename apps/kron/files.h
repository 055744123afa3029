#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/jobs/load.h"

namespace kron::cli {

// Which job files a verb reads, as its flags say.
struct SourceOptions {
  std::vector<std::string> paths;  // `-`: standard input, which needs `source`
  std::string source;              // kron, yaml, cron, cronken; empty: by the name of each file
  bool user_column = false;        // crontabs have one, whatever their names
  std::optional<Instant> at = {};  // as read at this time, by which it goes what is known of calendars; none: now
};

SourceOptions as_read_at(SourceOptions options, Instant time);

struct ReadJobs {
  jobs::LoadedJobs jobs;
  bool could_not_read = false;  // a path was not there, or not to be read

  // 0, 1 when a file has errors, 2 when one could not be read.
  [[nodiscard]] int status() const;
};

// Reads them from the disk. Crontabs without CRON_TZ are in the host's zone.
ReadJobs read_jobs(const SourceOptions& options, ZoneDatabase& zones);

// The errors among the problems, as text on standard error. For verbs that go on with the jobs that are in order.
void show_errors(const ReadJobs& read);

// The job of this name; the error offers the nearest one.
Result<const jobs::JobDefinition*> job_named(const jobs::LoadedJobs& jobs, std::string_view name);

}  // namespace kron::cli
