#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/jobs/crontab.h"
#include "kron/jobs/definition.h"
#include "kron/jobs/problem.h"

namespace kron::jobs {

// How the loader sees the world; the caller brings it. An Error of any of these becomes a problem of that path.
struct FileAccess {
  struct Facts {
    bool is_directory = false;
    bool others_can_write = false;  // world-writable
  };
  std::function<Result<Facts>(const std::string& path)> look;
  std::function<Result<std::vector<std::string>>(const std::string& path)> list;  // names in a directory, any order
  std::function<Result<std::string>(const std::string& path)> read;
};

struct LoadOptions {
  TimeZone local_zone = {};              // of crontabs without CRON_TZ and cronken jobs without timezone
  std::optional<Spelling> source = {};   // every file is of this spelling, whatever its name
  std::optional<CrontabForm> form = {};  // of crontabs; by path when absent
};

struct LoadedJobs {
  std::vector<JobDefinition> definitions;  // those without errors, in the order of reading
  std::vector<Problem> problems;

  [[nodiscard]] bool has_errors() const;
};

// The spelling a path stands for: below a cron.d directory (or called crontab) a crontab, otherwise by its ending.
std::optional<Spelling> spelling_of(std::string_view path);

// By the word of a --source flag: kron, yaml, cron or cronken. Nothing for any other.
std::optional<Spelling> spelling_named(std::string_view source);

// One text. A .json file is a document of the model when it has a list of jobs, and cronken's name → definition
// otherwise.
LoadedJobs load_text(const std::string& file, std::string_view text, Spelling spelling, ZoneDatabase& zones,
                     const LoadOptions& options = {});

// Files, and directories with their non-hidden files in name order (not those below). Every error of every file in one
// go; a name given twice is an error that names both places, and the first one stays.
LoadedJobs load_paths(std::span<const std::string> paths, const FileAccess& files, ZoneDatabase& zones,
                      const LoadOptions& options = {});

// Reports names given twice and drops the later definitions; load_paths has done it.
void refuse_repeated_names(LoadedJobs& jobs);

}  // namespace kron::jobs
