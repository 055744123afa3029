#pragma once

#include <map>
#include <string>
#include <vector>

#include "kron/base/instant.h"
#include "kron/core/constraints.h"
#include "kron/jobs/load.h"
#include "kron/jobs/problem.h"

namespace kron::jobs {

// A calendar whose last date is nearer than this is said to expire.
inline constexpr Seconds kCalendarExpires = std::chrono::days(366);

// The calendars that job files name, each read once, as far as one reading of job files goes.
class CalendarFiles {
 public:
  // `files` outlives it. `now`: around which years the dates are asked for, and what is over.
  CalendarFiles(const FileAccess& files, Instant now) : files_(files), now_(now) {}

  // `path` as the job file has it: relative, it begins at the job file's directory. Warnings go to the report, about
  // that place. The error is without it.
  Result<std::vector<DateRange>> find(const std::string& path, Position at, Report& report);

  // All that were asked for, also those that could not be read.
  [[nodiscard]] std::vector<std::string> paths() const;

 private:
  struct Warning {
    std::string message;
    std::string cure;
  };
  struct Calendar {
    std::vector<DateRange> dates;
    std::vector<Warning> warnings;
  };
  Result<Calendar> read(const std::string& path) const;
  Result<Calendar> calendar_in(const std::string& text) const;

  const FileAccess& files_;
  Instant now_;
  std::map<std::string, Result<Calendar>> known_;  // by the path that was opened
};

}  // namespace kron::jobs
