#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include "convert.h"
#include "kron/base/text.h"
#include "kron/jobs/disk.h"
#include "kron/jobs/import_cronjob.h"
#include "kron/jobs/yaml.h"
#include "lines.h"
#include "terminal.h"
#include "verbs.h"

namespace kron::cli {
namespace {

// Spool directories of users are for root; others import their own with `crontab -l | kron import crontab -`.
std::vector<std::string> system_crontabs() {
  std::vector<std::string> paths;
  for (const char* path : {"/etc/crontab", "/etc/cron.d", "/var/spool/cron/crontabs"}) {
    if (::access(path, R_OK) == 0) paths.emplace_back(path);
  }
  return paths;
}

// An identity may hold what a job file's name may not, when the crontab's file name does: `cron/Backup_1/…`.
std::string job_name_for(std::string_view identity) {
  std::string name = lower(identity);
  std::ranges::replace_if(
      name,
      [](char c) {
        return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '/' || c == '-');
      },
      '-');
  return name;
}

int import_crontab(const ImportOptions& options) {
  ZoneDatabase zones;
  ReadJobs read =
      read_jobs({options.system ? system_crontabs() : std::vector<std::string>{options.file}, "cron"}, zones);
  show_aside(read.jobs.problems);
  for (jobs::JobDefinition& definition : read.jobs.definitions) {
    std::string& identity = definition.job.identity;
    if (jobs::is_job_name(identity)) continue;
    std::string name = job_name_for(identity);
    std::fprintf(stderr, "kron import: %s is called %s, as job files allow\n", identity.c_str(), name.c_str());
    identity = std::move(name);
  }
  const bool is_complete = print_definitions(read.jobs.definitions, options.to);
  std::fprintf(stderr,
               "kron import: %zu jobs; the crontabs are unchanged: take them out there before krond runs them\n",
               read.jobs.definitions.size());
  return std::max(read.status(), is_complete ? 0 : exit_status(Code::invalid));
}

int import_cronjob(const ImportOptions& options) {
  const Result<std::string> text = jobs::contents_of(options.file);
  if (!text) return complain("import", {text.error().code, options.file + ": " + text.error().message});
  ZoneDatabase zones;
  jobs::Report report(options.file, *text);
  const std::vector<Node> imported = jobs::import_cronjobs(*text, zones, report);
  show_aside(report.problems());
  const char* separator = "";
  for (const Node& kron_job : imported) {
    std::printf("%s%s", separator, jobs::yaml_text(kron_job).c_str());
    separator = "---\n";
  }
  return report.error_count() == 0 ? 0 : exit_status(Code::invalid);
}

}  // namespace

int import_jobs(const ImportOptions& options) {
  return options.kind == "crontab" ? import_crontab(options) : import_cronjob(options);
}

}  // namespace kron::cli
