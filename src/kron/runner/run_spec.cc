#include "kron/runner/run_spec.h"

#include <algorithm>
#include <sys/resource.h>

#include "kron/base/rfc3339.h"
#include "kron/base/sha256.h"
#include "kron/jobs/words.h"

namespace kron::runner {
namespace {

constexpr std::string_view kFilePrefix = "file:";
constexpr char kDefaultShell[] = "/bin/sh";

std::vector<ProcessLimit> limits_of(const jobs::ResourceLimits& limits) {
  std::vector<ProcessLimit> all;
  const auto add = [&](int resource, const std::optional<std::uint64_t>& most) {
    if (most) all.push_back({resource, *most});
  };
  if (limits.cpu) add(RLIMIT_CPU, static_cast<std::uint64_t>(limits.cpu->count()));
  add(RLIMIT_AS, limits.memory);
  add(RLIMIT_FSIZE, limits.file_size);
  add(RLIMIT_CORE, limits.core);
  add(RLIMIT_NOFILE, limits.files);
  add(RLIMIT_NPROC, limits.processes);
  return all;
}

// W3C Trace Context: the run is a trace, and its hash the span that the command's own are below. Sampled, as nobody
// else decides. Nothing where a run id is not what the scheduler makes of it: such a trace would be refused.
std::optional<std::string> trace_parent_of(const std::string& run_id) {
  constexpr std::size_t kTraceDigits = 32;
  constexpr std::size_t kSpanDigits = 16;
  const bool is_trace =
      run_id.size() == kTraceDigits && run_id.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_trace) return std::nullopt;
  return "00-" + run_id + "-" + hex(sha256({run_id})).substr(0, kSpanDigits) + "-01";
}

jobs::Environment environment_of(const jobs::JobDefinition& definition, const std::string& run_id,
                                 const std::optional<PeriodTimes>& period) {
  const jobs::RunOptions& options = *definition.options;
  jobs::Environment variables = options.env;
  const auto is_given = [&](std::string_view name) {
    return std::any_of(options.env.begin(), options.env.end(), [&](const auto& given) { return given.first == name; });
  };
  if (!is_given("SHELL")) variables.emplace_back("SHELL", options.shell.empty() ? kDefaultShell : options.shell);
  // What names the run is not the job's to change.
  std::erase_if(variables, [](const auto& given) { return given.first.starts_with("KRON_"); });
  const std::string nominal = period ? rfc3339(period->nominal) : "";
  variables.emplace_back("KRON_IDENTITY", definition.job.identity);
  variables.emplace_back("KRON_PERIOD_ID", nominal);
  variables.emplace_back("KRON_NOMINAL_TIME", nominal);
  variables.emplace_back("KRON_CHOSEN_TIME", period ? rfc3339(period->chosen) : "");
  variables.emplace_back("KRON_RUN_ID", run_id);
  if (const auto trace = trace_parent_of(run_id); trace && !is_given("TRACEPARENT")) {
    variables.emplace_back("TRACEPARENT", *trace);
  }
  return variables;
}

}  // namespace

OutputTo output_of(std::string_view text) {
  if (text == "discard") return {OutputKind::discard};
  if (text == "inherit") return {OutputKind::inherit};
  if (text == "syslog") return {OutputKind::syslog};
  if (text.starts_with(kFilePrefix)) return {OutputKind::file, std::string(text.substr(kFilePrefix.size()))};
  if (text.starts_with('/')) return {OutputKind::file, std::string(text)};
  return {};
}

Result<RunSpec> run_spec_of(const jobs::JobDefinition& definition, std::string run_id,
                            const std::optional<PeriodTimes>& period) {
  const jobs::RunOptions& options = *definition.options;
  const std::string& command = jobs::command_of(definition);
  RunSpec spec;
  if (options.shell.empty()) {
    Result<std::vector<std::string>> words = jobs::words_of(command);
    if (!words) return fail(std::move(words.error()));
    spec.command = *std::move(words);
  } else {
    spec.command = {options.shell, "-c", command};
  }
  spec.environment = environment_of(definition, run_id, period);
  spec.run_id = std::move(run_id);
  spec.user = options.user;
  spec.group = options.group;
  spec.directory = options.cwd;
  spec.process = options.process;
  spec.secrets = options.secrets;
  spec.limits = limits_of(options.limits);
  spec.input = options.input;
  spec.out = output_of(options.out);
  spec.err = output_of(options.err);
  if (options.timeout > Seconds(0)) spec.timeout = options.timeout;
  spec.grace = options.grace;
  return spec;
}

}  // namespace kron::runner
