#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/jobs/crontab.h"
#include "kron/jobs/definition.h"
#include "kron/jobs/host_zone.h"
#include "kron/jobs/problem.h"

namespace kron::jobs {

// How the loader sees the world; the caller brings it. An Error of any of these becomes a problem of that path.
struct FileAccess {
  struct Facts {
    bool is_directory = false;
    bool others_can_write = false;  // world-writable
    std::string refusal = {};       // why a daemon will not act on it, because others can write it; empty: it may
  };
  std::function<Result<Facts>(const std::string& path)> look;
  std::function<Result<std::vector<std::string>>(const std::string& path)> list;  // names in a directory, any order
  std::function<Result<std::string>(const std::string& path)> read;
};

class CalendarFiles;

struct LoadOptions {
  TimeZone local_zone = {};              // of cronken jobs without timezone, and of crontabs when `host` is absent
  std::optional<Spelling> source = {};   // every file is of this spelling, whatever its name
  std::optional<CrontabForm> form = {};  // of crontabs; by path when absent
  std::optional<HostZone> host = {};     // of crontabs without CRON_TZ; refused when it is not known
  bool is_clustered = false;             // cronken jobs are read as a cluster reads them, and refused as there
  // A word that is a user of this host and not a program: a crontab whose commands begin so has a user column.
  std::function<bool(const std::string& word)> is_only_a_user = {};
  // The time of the reading, around which files of calendars are known (jobs/ics_read.h). Absent: a job that names one
  // is refused.
  std::optional<Instant> now = {};
  CalendarFiles* calendar_files = nullptr;  // of load_text; load_paths has its own
};

struct LoadedJobs {
  std::vector<JobDefinition> definitions;  // those without errors, in the order of reading
  std::vector<Problem> problems;
  std::vector<RefusedName> refused;         // the names of definitions with errors
  std::vector<PoolPlace> pools;             // that `pools` of the files have
  std::vector<std::string> calendar_files;  // that were read, or should have been

  [[nodiscard]] bool has_errors() const;
};

// The spelling a path stands for: below a cron.d directory (or called crontab) a crontab, otherwise by its ending.
std::optional<Spelling> spelling_of(std::string_view path);

// By the word of a --source flag: kron, yaml, cron or cronken. Nothing for any other.
std::optional<Spelling> spelling_named(std::string_view source);

// One text, and its pools are those that it names (jobs/pools.h). A .json file is a document of the model when it has a
// list of jobs, and cronken's name → definition otherwise.
LoadedJobs load_text(const std::string& file, std::string_view text, Spelling spelling, ZoneDatabase& zones,
                     const LoadOptions& options = {});

// Files, and directories with their non-hidden files in name order (not those below). Every error of every file in one
// go; a name given twice is an error that names both places, and the first one stays.
LoadedJobs load_paths(std::span<const std::string> paths, const FileAccess& files, ZoneDatabase& zones,
                      const LoadOptions& options = {});

// Reports names given twice, those of refused definitions included, and drops the later definitions; what is refused
// anyway drops nothing. load_paths has done it.
void refuse_repeated_names(LoadedJobs& jobs);

}  // namespace kron::jobs
