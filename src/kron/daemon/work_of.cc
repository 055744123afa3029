#include "kron/daemon/work_of.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "kron/queue/task.h"
#include "kron/runner/run_spec.h"

namespace kron::daemon {
namespace {

// One period, one id: a submit that is repeated is the same task. A run by hand is a task of its own.
TaskToSubmit task_of(const jobs::JobDefinition& definition, const jobs::SubmitTask& task, const RunCause& cause) {
  const std::string& identity = definition.job.identity;
  const std::string period = cause.period ? period_id(cause.period->nominal) : cause.run_id;
  return {scheduled_task_id(identity, identity, period), task.type, task_data_of(definition.options->input)};
}

}  // namespace

// A command that cannot be split was refused when its file was read; what is left of such a case ends as a failed run.
RunWork work_of(const jobs::JobDefinition& definition, const RunCause& cause) {
  if (const auto* task = std::get_if<jobs::SubmitTask>(&definition.action)) return task_of(definition, *task, cause);
  std::optional<runner::PeriodTimes> period;
  if (cause.period) period = {cause.period->nominal, cause.period->due()};
  Result<RunSpec> spec = runner::run_spec_of(definition, cause.run_id, period);
  if (!spec) return RunSpec{.run_id = cause.run_id, .command = {}};
  return *std::move(spec);
}

RunWork with_variables(RunWork work, const jobs::Environment& variables) {
  auto* spec = std::get_if<RunSpec>(&work);
  if (spec == nullptr) return work;
  for (const auto& variable : variables) {
    const bool is_given =
        std::ranges::any_of(spec->environment, [&](const auto& given) { return given.first == variable.first; });
    if (!is_given) spec->environment.push_back(variable);
  }
  return work;
}

bool has_tasks(const std::vector<jobs::JobDefinition>& definitions) {
  return std::ranges::any_of(definitions, jobs::submits_task);
}

void prepare_accounts(const std::vector<jobs::JobDefinition>& definitions, runner::RealProcessRunner& runner) {
  std::set<std::pair<std::string_view, std::string_view>> named;
  for (const jobs::JobDefinition& definition : definitions) {
    const auto& options = *definition.options;
    if (!options.user.empty() || !options.group.empty()) named.emplace(options.user, options.group);
  }
  runner.prepare_account("", "");
  for (const auto& [user, group] : named) runner.prepare_account(std::string(user), std::string(group));
}

}  // namespace kron::daemon
