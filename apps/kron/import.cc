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
#include "kron/kube/object.h"
#include "kron/operator/manifest.h"
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

// Where both streams end in one pipe, what is said of the jobs comes behind them.
void finish_jobs() { std::fflush(stdout); }

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
  finish_jobs();
  std::fprintf(stderr,
               "kron import: wrote %s%s. The crontabs were not changed: remove these lines from cron before krond runs "
               "them, or both will\n",
               counted(written, "job").c_str(),
               left_out == 0 ? "" : (", left out " + std::to_string(left_out) + " (see above)").c_str());
  return std::max(read.status(), written == definitions.size() ? 0 : exit_status(Code::invalid));
}

// What the operator or the schema would refuse of a KronJob that was made of a CronJob: its template, mostly.
std::vector<Error> refused_in_cluster(const Node& kron_job, ZoneDatabase& zones) {
  const Node* spec = kron_job.find("spec");
  std::vector<Error> errors = kronjobs::schema_errors(*spec);
  std::string ns = kube::text_at(kron_job, {"metadata", "namespace"});
  if (ns.empty()) ns = "default";
  const std::string name = kube::text_at(kron_job, {"metadata", "name"});
  for (Error& error : kronjobs::read_spec(spec, ns, name, zones).errors) errors.push_back(std::move(error));
  return errors;
}

int import_cronjob(const ImportOptions& options) {
  const Result<std::string> text = jobs::contents_of(options.file);
  if (!text) return complain("import", {text.error().code, options.file + ": " + text.error().message});
  ZoneDatabase zones;
  jobs::Report report(options.file, *text);
  const std::vector<Node> imported = jobs::import_cronjobs(*text, zones, report, present());
  show_aside(report.problems());
  std::size_t written = 0;
  for (const Node& kron_job : imported) {
    const std::vector<Error> errors = refused_in_cluster(kron_job, zones);
    if (!errors.empty()) finish_jobs();
    for (const Error& error : errors) {
      std::fprintf(stderr, "kron import: the KronJob %s would be refused: %s: %s\n",
                   quoted(kube::text_at(kron_job, {"metadata", "name"}), 200).c_str(), error.field.c_str(),
                   error.message.c_str());
    }
    if (errors.empty()) {
      std::printf("%s%s", written++ == 0 ? "" : "---\n", jobs::yaml_text(kron_job).c_str());
    }
  }
  if (written != 0) {
    finish_jobs();
    std::fprintf(
        stderr,
        "kron import: wrote %s. The CronJobs were not changed: suspend them before you apply the KronJobs, or both "
        "will run\n",
        counted(written, "KronJob").c_str());
  }
  return report.error_count() == 0 && written == imported.size() ? 0 : exit_status(Code::invalid);
}

}  // namespace

int import_jobs(const ImportOptions& options) {
  if (options.kind == "timers") return import_timers(options);
  if (options.kind == "cronicle" || options.kind == "dkron") return import_foreign(options);
  return options.kind == "crontab" ? import_crontab(options) : import_cronjob(options);
}

}  // namespace kron::cli
