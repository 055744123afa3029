#include "kube_files.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kron/jobs/disk.h"
#include "terminal.h"

namespace kron::cli {
namespace {

bool is_manifest_name(std::string_view name) {
  return !name.starts_with('.') && (name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json"));
}

class ManifestFiles {
 public:
  ManifestFiles(std::string_view ns, ZoneDatabase& zones) : ns_(ns), zones_(zones) {}

  void take(const std::string& path) {
    const Result<jobs::FileAccess::Facts> facts = files_.look(path);
    if (!facts) return refuse_file(path, facts.error().message);
    if (!facts->is_directory) return take_file(path);
    Result<std::vector<std::string>> names = files_.list(path);
    if (!names) return refuse_file(path, names.error().message);
    std::ranges::sort(*names);
    for (const std::string& name : *names) {
      if (is_manifest_name(name)) take_file(path + (path.ends_with('/') ? "" : "/") + name);
    }
  }

  ReadManifests read;

 private:
  void take_file(const std::string& path) {
    const Result<std::string> text = files_.read(path);
    if (!text) return refuse_file(path, text.error().message);
    jobs::Report report(path, *text);
    std::ranges::move(kronjobs::read_manifests(*text, ns_, zones_, report), std::back_inserter(read.manifests));
    std::ranges::move(report.take(), std::back_inserter(read.problems));
  }

  void refuse_file(const std::string& path, std::string message) {
    read.could_not_read = true;
    jobs::Problem problem;
    problem.file = path;
    problem.message = std::move(message);
    read.problems.push_back(std::move(problem));
  }

  std::string ns_;
  ZoneDatabase& zones_;
  jobs::FileAccess files_ = jobs::disk_files(jobs::Trust::anyone);
};

bool is_manifest_error(const jobs::Problem& problem) { return problem.severity == jobs::Severity::error; }

}  // namespace

int ReadManifests::status() const {
  if (could_not_read) return exit_status(Code::io);
  return std::ranges::any_of(problems, is_manifest_error) ? exit_status(Code::invalid) : 0;
}

ReadManifests read_manifest_files(const std::vector<std::string>& paths, std::string_view ns, ZoneDatabase& zones) {
  ManifestFiles files(ns, zones);
  for (const std::string& path : paths) files.take(path);
  if (files.read.manifests.empty() && files.read.status() == 0) {
    jobs::Problem none;
    none.file = paths.empty() ? "" : paths.front();
    none.message = "there is no KronJob in it";
    none.cure = "give the manifest of a KronJob; kron import cronjob makes one of a CronJob";
    files.read.problems.push_back(std::move(none));
  }
  return std::move(files.read);
}

void show_manifest_errors(const ReadManifests& read) {
  for (const jobs::Problem& problem : read.problems) {
    if (is_manifest_error(problem)) show_aside({&problem, 1});
  }
}

}  // namespace kron::cli
