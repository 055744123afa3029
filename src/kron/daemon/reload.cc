#include "kron/daemon/reload.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace kron::daemon {
namespace {

using Paths = std::set<std::string, std::less<>>;

// The path itself, or a directory above it, as far as they were named.
const std::string* path_over(const Paths& paths, std::string_view file) {
  while (true) {
    if (const auto found = paths.find(file); found != paths.end()) return &*found;
    const std::size_t slash = file.rfind('/');
    if (slash == std::string_view::npos || slash == 0) return nullptr;
    file = file.substr(0, slash);
  }
}

}  // namespace

JobsToRun jobs_after(jobs::LoadedJobs read, const EachJob& in_force) {
  Paths bad;
  for (const jobs::Problem& problem : read.problems) {
    if (problem.severity == jobs::Severity::error) bad.insert(problem.file);
  }
  JobsToRun result;
  if (bad.empty()) {
    result.definitions = std::move(read.definitions);
    return result;
  }
  std::unordered_set<std::string_view> taken;
  for (const jobs::JobDefinition& definition : read.definitions) {
    if (!bad.contains(*definition.file)) taken.insert(definition.job.identity);
  }
  Paths kept;
  std::vector<jobs::JobDefinition> old;
  in_force([&](const jobs::JobDefinition& definition) {
    const std::string* path = path_over(bad, *definition.file);
    if (path == nullptr) return;
    kept.insert(*path);
    if (!taken.contains(definition.job.identity)) old.push_back(definition);
  });
  for (jobs::JobDefinition& definition : read.definitions) {
    if (!kept.contains(*definition.file)) result.definitions.push_back(std::move(definition));
  }
  std::ranges::move(old, std::back_inserter(result.definitions));
  result.kept.assign(kept.begin(), kept.end());
  return result;
}

api::JobChanges changes_to(const std::vector<jobs::JobDefinition>& definitions, const EachJob& in_force) {
  std::unordered_map<std::string_view, const jobs::JobDefinition*> after;
  after.reserve(definitions.size());
  for (const jobs::JobDefinition& definition : definitions) after.emplace(definition.job.identity, &definition);
  api::JobChanges changes;
  in_force([&](const jobs::JobDefinition& definition) {
    const auto found = after.find(definition.job.identity);
    if (found == after.end()) {
      changes.removed.names.push_back(definition.job.identity);
      return;
    }
    if (*found->second != definition) changes.changed.names.push_back(definition.job.identity);
    after.erase(found);
  });
  for (const auto& [name, definition] : after) changes.added.names.emplace_back(name);
  for (api::JobChanges::Kind* kind : {&changes.added, &changes.changed, &changes.removed}) {
    kind->count = kind->names.size();
    std::ranges::sort(kind->names);
    kind->names.resize(std::min(kind->count, api::JobChanges::kMostNames));
  }
  return changes;
}

Result<std::vector<std::string>> names_of(const jobs::LoadedJobs& read) {
  for (const jobs::Problem& problem : read.problems) {
    if (problem.severity != jobs::Severity::error) continue;
    return fail(Code::refused, problem.file + " has an error (" + problem.message +
                                   "): its jobs would seem to be gone; correct it first");
  }
  std::vector<std::string> names;
  names.reserve(read.definitions.size());
  for (const jobs::JobDefinition& definition : read.definitions) names.push_back(definition.job.identity);
  return names;
}

}  // namespace kron::daemon
