#include "kron/daemon/file_jobs.h"

#include <cerrno>
#include <malloc.h>
#include <unistd.h>
#include <utility>

#include "kron/daemon/reload.h"
#include "kron/env/system_error.h"
#include "kron/jobs/disk.h"
#include "kron/jobs/host_zone.h"
#include "kron/jobs/load.h"

namespace kron::daemon {
namespace {

LogLevel level_of(jobs::Severity severity) {
  if (severity == jobs::Severity::error) return LogLevel::error;
  return severity == jobs::Severity::warning ? LogLevel::warning : LogLevel::info;
}

}  // namespace

void give_back_memory() { ::malloc_trim(0); }

FileJobs::FileJobs(World world)
    : world_(std::move(world)), files_(world_.options.config, world_.options.source), reader_(hooks()) {}

Status FileJobs::check() const {
  for (const std::string& path : world_.options.config) {
    if (::access(path.c_str(), R_OK) == 0) continue;
    return fail(Code::unreadable, system_error("read", path, errno).message + "; --config says where job files are");
  }
  return {};
}

Status FileJobs::start(const std::function<std::optional<Instant>()>& on_time_since) {
  files_.about_to_read(now(world_.clock));
  jobs::LoadedJobs read_jobs = read();
  report(read_jobs);
  const std::vector<jobs::Problem> problems = read_jobs.problems;
  files_.calendars_are(read_jobs.calendar_files);
  JobsToRun jobs = jobs_after(std::move(read_jobs), [](const auto&) {});
  files_.have_read(problems, jobs);
  if (jobs.definitions.empty()) world_.log.warning("no_jobs", {{"reason", "no valid jobs found"}});
  world_.prepare(jobs.definitions);
  if (Status started = world_.scheduler.start(std::move(jobs.definitions), on_time_since()); !started) return started;
  give_back_memory();
  return {};
}

// On whatever thread: nothing of it changes.
jobs::LoadedJobs FileJobs::read() {
  const jobs::LoadOptions load{
      .source = world_.options.source, .host = jobs::host_zone(zones_), .now = files_.status().read_at};
  return jobs::load_paths(world_.options.config, jobs::disk_files(jobs::Trust::own_only), zones_, load);
}

Result<std::vector<std::string>> FileJobs::configured() {
  Result<std::vector<std::string>> names = names_of(read());
  if (names) world_.scheduler.each_job([&](const auto& definition) { names->push_back(definition.job.identity); });
  return names;
}

void FileJobs::report(const jobs::LoadedJobs& jobs) {
  for (const jobs::Problem& problem : jobs.problems) {
    std::string place = problem.file;
    if (problem.at.line != 0) place += ":" + std::to_string(problem.at.line) + ":" + std::to_string(problem.at.column);
    const std::string message = problem.message + (problem.cure.empty() ? "" : "; " + problem.cure);
    const LogField fields[] = {{"path", place}, {"field", problem.field}, {"reason", message}};
    world_.log.write(level_of(problem.severity), "job_file_problem", fields);
  }
}

JobReader::Hooks FileJobs::hooks() {
  return {.before =
              [this] {
                world_.before_reload();
                files_.about_to_read(now(world_.clock));
              },
          .read = [this] { return read(); },
          .take =
              [this](jobs::LoadedJobs read_jobs, const std::vector<JobReader::Answer>& answers) {
                const Result<api::ReloadReport> report = take(std::move(read_jobs));
                for (const JobReader::Answer& answer : answers) {
                  if (answer) answer(report);
                }
              },
          .to_loop = [this](std::function<void()> work) { world_.mailbox.post(std::move(work)); }};
}

Result<api::ReloadReport> FileJobs::take(jobs::LoadedJobs read_jobs) {
  report(read_jobs);
  api::ReloadReport done;
  done.problems = read_jobs.problems;
  files_.calendars_are(read_jobs.calendar_files);
  JobsToRun jobs = jobs_after(std::move(read_jobs), [this](const auto& visit) { world_.scheduler.each_job(visit); });
  files_.have_read(done.problems, jobs);
  for (const std::string& path : jobs.kept) {
    world_.log.error("job_file_refused",
                     {{"path", path}, {"reason", "it has errors; keeping the jobs loaded earlier from this file"}});
  }
  done.changes = changes_to(jobs.definitions, [this](const auto& visit) { world_.scheduler.each_job(visit); });
  world_.prepare(jobs.definitions);
  Status reloaded = world_.scheduler.reload(std::move(jobs.definitions));
  files_.reload_ended(reloaded);
  if (!reloaded) {
    world_.log.error("reload_failed", {{"reason", reloaded.error().message}});
  } else {
    world_.log.info("reloaded", {{"jobs", static_cast<std::int64_t>(world_.scheduler.job_count())}});
  }
  give_back_memory();
  world_.after_reload(reloaded && jobs.kept.empty());
  if (!reloaded) return fail(reloaded.error());
  done.jobs = world_.scheduler.job_count();
  done.kept_files = std::move(jobs.kept);
  return done;
}

}  // namespace kron::daemon
