#include "files.h"

#include "flag_values.h"
#include "host_check.h"
#include "kron/base/text.h"
#include "kron/jobs/disk.h"
#include "terminal.h"

namespace kron::cli {

SourceOptions as_read_at(SourceOptions options, Instant time) {
  options.at = time;
  return options;
}

int ReadJobs::status() const {
  if (could_not_read) return exit_status(Code::io);
  return jobs.has_errors() ? exit_status(Code::invalid) : 0;
}

ReadJobs read_jobs(const SourceOptions& options, ZoneDatabase& zones) {
  ReadJobs read;
  const auto noting = [&read](auto answer) {
    return [&read, answer](const std::string& path) {
      auto result = answer(path);
      if (!result) read.could_not_read = true;
      return result;
    };
  };
  const jobs::FileAccess disk = jobs::disk_files(jobs::Trust::anyone);
  const jobs::FileAccess files{noting(disk.look), noting(disk.list), noting(disk.read)};
  jobs::LoadOptions load{
      .source = jobs::spelling_named(options.source), .host = jobs::host_zone(zones), .is_only_a_user = is_only_a_user};
  load.now = options.at.value_or(present());
  if (options.user_column) load.form = jobs::CrontabForm::system;
  read.jobs = jobs::load_paths(options.paths, files, zones, load);
  return read;
}

void show_errors(const ReadJobs& read) {
  for (const jobs::Problem& problem : read.jobs.problems) {
    if (problem.severity == jobs::Severity::error) show_aside({&problem, 1});
  }
}

Result<const jobs::JobDefinition*> job_named(const jobs::LoadedJobs& jobs, std::string_view name) {
  std::vector<std::string_view> names;
  for (const jobs::JobDefinition& definition : jobs.definitions) {
    if (definition.job.identity == name) return &definition;
    names.push_back(definition.job.identity);
  }
  const std::string_view near = nearest_word(name, names);
  return fail(Code::not_found, "there is no job " + quoted(name, 200) + " among the " + std::to_string(names.size()) +
                                   " that were read" +
                                   (near.empty() ? "" : "; did you mean " + std::string(near) + "?"));
}

}  // namespace kron::cli
