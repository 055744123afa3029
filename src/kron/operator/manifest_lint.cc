#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "kron/base/text.h"
#include "kron/jobs/lint.h"
#include "kron/operator/manifest.h"
#include "kron/operator/names.h"

namespace kron::kronjobs {
namespace {

// The rules of lint speak of job files; here the cure is spelled as a manifest has it.
void speak_of_manifests(jobs::Problem& problem) {
  if (problem.cure.find("@win(") != std::string::npos) {
    problem.cure = "give them a window, so that they spread: window: {mode: after, duration: 5m}";
  }
  problem.field = problem.field == "only" ? "spec.constraints" : "spec." + problem.field;
}

std::vector<jobs::Problem> repeated_names(std::span<const Manifest> manifests) {
  std::vector<jobs::Problem> problems;
  std::map<std::string, const Manifest*> first;
  for (const Manifest& manifest : manifests) {
    if (manifest.name.empty()) continue;
    const std::string identity = identity_of(manifest.ns, manifest.name);
    const auto [known, is_new] = first.emplace(identity, &manifest);
    if (is_new) continue;
    jobs::Problem problem;
    problem.file = manifest.file;
    problem.at = manifest.document.position();
    problem.field = "metadata.name";
    problem.message = "the KronJob " + quoted(identity, 200) + " is given twice; it is at " + known->second->file +
                      ":" + std::to_string(known->second->document.position().line) + " too";
    problem.cure = "give one of them another name or namespace";
    problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace

std::vector<jobs::Problem> lint_manifests(std::span<const Manifest> manifests, Instant now) {
  std::vector<jobs::Problem> problems = repeated_names(manifests);
  std::vector<jobs::JobDefinition> definitions;
  for (const Manifest& manifest : manifests) {
    if (!manifest.spec.job) continue;
    jobs::JobDefinition definition;
    definition.job = *manifest.spec.job;
    definition.file = std::make_shared<const std::string>(manifest.file);
    definition.line = static_cast<std::uint32_t>(manifest.document.position().line);
    definitions.push_back(std::move(definition));
  }
  for (jobs::Problem& problem : jobs::lint(definitions, {.now = now})) {
    // Deadlines are judged by the operator's own rule.
    if (problem.field == "policy.deadline") continue;
    speak_of_manifests(problem);
    problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace kron::kronjobs
