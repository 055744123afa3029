#include <cerrno>
#include <unistd.h>

#include "answer_text.h"
#include "doctor.h"
#include "host_check.h"
#include "kron/base/text.h"
#include "kron/core/time_zone.h"
#include "kron/env/system_error.h"
#include "kron/jobs/disk.h"
#include "kron/jobs/lint.h"
#include "terminal.h"

namespace kron::cli {
namespace {

constexpr char kConfig[] = "config";
// The first of many say enough; `kron lint` tells the rest.
constexpr std::size_t kMostShown = 10;

std::string place_of(const jobs::Problem& problem) {
  if (problem.at.line == 0) return problem.file;
  return problem.file + ":" + std::to_string(problem.at.line) + ":" + std::to_string(problem.at.column);
}

class Problems {
 public:
  explicit Problems(Findings& findings) : findings_(findings) {}

  void add(const std::vector<jobs::Problem>& problems) {
    for (const jobs::Problem& problem : problems) {
      if (problem.severity == jobs::Severity::warning) ++warnings_;
      if (problem.severity != jobs::Severity::error || ++errors_ > kMostShown) continue;
      findings_.push_back({Verdict::problem, kConfig, place_of(problem) + ": " + problem.message,
                           problem.cure.empty() ? "correct the file, then `kron reload`" : problem.cure});
    }
  }

  void sum_up(const std::string& path, std::size_t jobs) {
    if (errors_ > kMostShown) {
      findings_.push_back({Verdict::problem, kConfig, path + ": " + counted(errors_, "error") + " in all",
                           "`kron lint " + path + "` shows them"});
    }
    if (warnings_ > 0) {
      findings_.push_back({Verdict::warning, kConfig, path + ": " + counted(warnings_, "warning"),
                           "`kron lint " + path + "` shows them"});
    }
    if (jobs == 0 && errors_ == 0) {
      findings_.push_back({Verdict::warning, kConfig, path + ": there is no job",
                           "write a file that ends in .kron or .yaml, then `kron reload`; see kron-jobs(5)"});
    } else if (errors_ == 0) {
      findings_.push_back({Verdict::ok, kConfig, path + ": " + counted(jobs, "valid job")});
    }
  }

 private:
  Findings& findings_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

// A job that is in order may still name what this host does not have.
void examine_surroundings(const std::vector<jobs::JobDefinition>& definitions, Findings& findings) {
  HostCheck host;
  std::size_t count = 0;
  for (const jobs::JobDefinition& definition : definitions) {
    const std::optional<std::string> problem = host.problem_of(definition);
    if (!problem || ++count > kMostShown) continue;
    findings.push_back({Verdict::warning, kConfig,
                        *definition.file + ":" + std::to_string(definition.line) + ": " +
                            quoted(definition.job.identity, 80) + " cannot run on this host: " + *problem,
                        "create it, or correct the job"});
  }
  if (count <= kMostShown) return;
  findings.push_back({Verdict::warning, kConfig, std::to_string(count) + " jobs cannot run on this host", ""});
}

}  // namespace

ConfiguredJobs examine_config(std::span<const std::string> paths, Instant now, Findings& findings) {
  ConfiguredJobs jobs_by_record;
  ZoneDatabase zones;
  const jobs::LoadOptions load{.host = jobs::host_zone(zones), .now = now};
  for (const std::string& path : paths) {
    if (::access(path.c_str(), R_OK) != 0) {
      findings.push_back({Verdict::problem, kConfig, system_error("read", path, errno).message,
                          "make it, or say with krond's --config where the job files are"});
      continue;
    }
    // As krond reads them: files that others could have written are refused.
    const jobs::LoadedJobs read = jobs::load_paths({&path, 1}, jobs::disk_files(jobs::Trust::own_only), zones, load);
    Problems problems(findings);
    problems.add(read.problems);
    problems.add(jobs::lint(read.definitions, {.now = now}));
    problems.sum_up(path, read.definitions.size());
    examine_surroundings(read.definitions, findings);
    for (const jobs::JobDefinition& definition : read.definitions) {
      const Job& job = definition.job;
      jobs_by_record[sha256({job.identity})] = {job.identity, job.window.duration};
    }
  }
  return jobs_by_record;
}

}  // namespace kron::cli
