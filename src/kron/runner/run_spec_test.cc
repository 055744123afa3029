#include "kron/runner/run_spec.h"

#include <gtest/gtest.h>
#include <map>
#include <sys/resource.h>

namespace kron::runner {
namespace {

using Variables = std::map<std::string, std::string>;

constexpr PeriodTimes kPeriod{instant_of(1772323200), instant_of(1772326800)};  // 2026-03-01

jobs::JobDefinition definition(const std::string& command, jobs::RunOptions options = {}) {
  jobs::JobDefinition job;
  job.job.identity = "db-backup";
  job.action = jobs::Command{command};
  job.options = std::make_shared<const jobs::RunOptions>(std::move(options));
  return job;
}

Variables variables(const RunSpec& spec) { return {spec.environment.begin(), spec.environment.end()}; }

TEST(RunSpec, ACommandIsItsWordsOrAShells) {
  EXPECT_EQ(run_spec_of(definition("a 'b c'"), "r1", kPeriod)->command, (std::vector<std::string>{"a", "b c"}));
  jobs::RunOptions options;
  options.shell = "/bin/bash";
  const RunSpec spec = run_spec_of(definition("a | b", options), "r1", kPeriod).value();
  EXPECT_EQ(spec.command, (std::vector<std::string>{"/bin/bash", "-c", "a | b"}));
  EXPECT_EQ(variables(spec)["SHELL"], "/bin/bash");
  EXPECT_FALSE(run_spec_of(definition("a 'b"), "r1", kPeriod));
}

TEST(RunSpec, TheRunIsNamedInItsEnvironment) {
  jobs::RunOptions options;
  options.env = {{"A", "1"}, {"KRON_RUN_ID", "forged"}, {"SHELL", "/bin/zsh"}};
  const RunSpec spec = run_spec_of(definition("a", options), "r1", kPeriod).value();
  EXPECT_EQ(variables(spec), (Variables{{"A", "1"},
                                        {"SHELL", "/bin/zsh"},
                                        {"KRON_IDENTITY", "db-backup"},
                                        {"KRON_PERIOD_ID", "2026-03-01T00:00:00Z"},
                                        {"KRON_NOMINAL_TIME", "2026-03-01T00:00:00Z"},
                                        {"KRON_CHOSEN_TIME", "2026-03-01T01:00:00Z"},
                                        {"KRON_RUN_ID", "r1"}}));
  EXPECT_EQ(spec.environment.size(), 7U);
  EXPECT_EQ(variables(*run_spec_of(definition("a"), "r2", std::nullopt))["KRON_PERIOD_ID"], "");
}

TEST(RunSpec, TheRunIsATraceThatItsCommandMayJoin) {
  const std::string run_id = "0af7651916cd43dd8448eb211c80319c";
  const auto trace_of = [](const std::string& id, const jobs::Environment& env) {
    jobs::RunOptions options;
    options.env = env;
    return variables(*run_spec_of(definition("a", options), id, kPeriod))["TRACEPARENT"];
  };
  EXPECT_EQ(trace_of(run_id, {}), "00-0af7651916cd43dd8448eb211c80319c-15f774f039ec6d5f-01");
  EXPECT_EQ(trace_of(run_id, {{"TRACEPARENT", "its own"}}), "its own");
  EXPECT_EQ(trace_of("r1", {}), "") << "no trace is called that";
  EXPECT_EQ(trace_of("0AF7651916CD43DD8448EB211C80319C", {}), "");
}

TEST(RunSpec, TheJobsOptionsAreKept) {
  jobs::RunOptions options;
  options.user = "u";
  options.group = "g";
  options.cwd = "/c";
  options.process.umask = 077;
  options.process.nice = 3;
  options.limits.cpu = Seconds(60);
  options.limits.memory = 1 << 20;
  options.input = "text";
  options.err = "discard";
  options.timeout = Seconds(5);
  options.grace = Seconds(6);
  options.secrets = {{"/e"}, {{"n", "/c"}}, true};
  options.process.memory_max = 5 << 20;
  const RunSpec spec = run_spec_of(definition("a", options), "r1", kPeriod).value();
  EXPECT_EQ(spec.user, "u");
  EXPECT_EQ(spec.group, "g");
  EXPECT_EQ(spec.directory, "/c");
  EXPECT_EQ(spec.process.umask, 077U);
  EXPECT_EQ(spec.process.nice, 3);
  EXPECT_EQ(spec.limits, (std::vector<ProcessLimit>{{RLIMIT_CPU, 60}, {RLIMIT_AS, 1 << 20}}));
  EXPECT_EQ(spec.input, "text");
  EXPECT_EQ(spec.out, OutputTo{});
  EXPECT_EQ(spec.err, OutputTo{OutputKind::discard});
  EXPECT_EQ(spec.timeout, Seconds(5));
  EXPECT_EQ(spec.grace, Seconds(6));
  EXPECT_EQ(spec.secrets, options.secrets);
  EXPECT_EQ(spec.process.memory_max, 5U << 20);
  EXPECT_EQ(run_spec_of(definition("a"), "r1", kPeriod)->timeout, std::nullopt);
}

TEST(RunSpec, OutputGoesToOneOfFivePlaces) {
  EXPECT_EQ(output_of(""), OutputTo{});
  EXPECT_EQ(output_of("capture"), OutputTo{});
  EXPECT_EQ(output_of("inherit"), OutputTo{OutputKind::inherit});
  EXPECT_EQ(output_of("syslog"), OutputTo{OutputKind::syslog});
  EXPECT_EQ(output_of("file:/a b"), (OutputTo{OutputKind::file, "/a b"}));
  EXPECT_EQ(output_of("/a b"), (OutputTo{OutputKind::file, "/a b"}));
}

}  // namespace
}  // namespace kron::runner
