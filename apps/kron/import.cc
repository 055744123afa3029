#include <algorithm>
#include <cstdio>
#include <map>
#include <unistd.h>

#include "convert.h"
#include "flag_values.h"
#include "kron/base/text.h"
#include "kron/jobs/disk.h"
#include "kron/jobs/import_cronjob.h"
#include "kron/jobs/readable_name.h"
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

// After the command; where several jobs would have the same name, the later ones are counted.
void give_readable_names(std::vector<jobs::JobDefinition>& definitions) {
  std::map<std::string, int> taken;
  for (jobs::JobDefinition& definition : definitions) {
    const std::string name = jobs::readable_name(command_of(definition));
    std::string unique = name;
    for (int count = 2; !taken.emplace(unique, 1).second; ++count) unique = name + "-" + std::to_string(count);
    definition.job.identity = std::move(unique);
  }
}

void give_allowed_names(std::vector<jobs::JobDefinition>& definitions) {
  for (jobs::JobDefinition& definition : definitions) {
    std::string& identity = definition.job.identity;
    if (jobs::is_job_name(identity)) continue;
    std::string name = job_name_for(identity);
    std::fprintf(stderr, "kron import: %s is called %s, as job files allow\n", identity.c_str(), name.c_str());
    identity = std::move(name);
  }
}

int import_crontab(const ImportOptions& options) {
  ZoneDatabase zones;
  const auto paths = options.system ? system_crontabs() : std::vector<std::string>{options.file};
  ReadJobs read = read_jobs({paths, "cron", options.user_column}, zones);
  show_aside(read.jobs.problems);
  std::vector<jobs::JobDefinition>& definitions = read.jobs.definitions;
  if (options.readable_names) {
    give_readable_names(definitions);
  } else {
    give_allowed_names(definitions);
  }
  const std::size_t written = print_definitions(definitions, options.to);
  const std::size_t left_out = definitions.size() - written + read.jobs.refused.size();
  std::fprintf(stderr,
               "kron import: wrote %s%s. The crontabs were not changed: remove these lines from cron before krond runs "
               "them, or both will\n",
               counted(written, "job").c_str(),
               left_out == 0 ? "" : (", left out " + std::to_string(left_out) + " (see above)").c_str());
  return std::max(read.status(), written == definitions.size() ? 0 : exit_status(Code::invalid));
}

int import_cronjob(const ImportOptions& options) {
  const Result<std::string> text = jobs::contents_of(options.file);
  if (!text) return complain("import", {text.error().code, options.file + ": " + text.error().message});
  ZoneDatabase zones;
  jobs::Report report(options.file, *text);
  const std::vector<Node> imported = jobs::import_cronjobs(*text, zones, report, present());
  std::fputs(
      "kron import: KronJobs are for Kron's operator for Kubernetes, which is not released yet; krond cannot run "
      "them\n",
      stderr);
  show_aside(report.problems());
  const char* separator = "# For Kron's operator for Kubernetes, which is not released yet.\n";
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
