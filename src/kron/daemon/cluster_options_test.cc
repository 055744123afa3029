#include "kron/daemon/cluster_options.h"

#include <fstream>
#include <gtest/gtest.h>

#include "kron/testing/temporary_directory.h"

namespace kron::daemon {
namespace {

using Texts = std::map<std::string, std::string>;

Result<std::optional<ClusterOptions>> options_of(const Texts& flags, const Texts& environment = {}) {
  return cluster_options(flags, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  });
}

ClusterOptions read(const Texts& flags, const Texts& environment = {}) {
  const auto options = options_of(flags, environment);
  EXPECT_TRUE(options) << (options ? "" : options.error().message);
  EXPECT_TRUE(options && *options);
  return options && *options ? **options : ClusterOptions();
}

std::string why_not(const Texts& flags, const Texts& environment = {}) {
  const auto options = options_of(flags, environment);
  EXPECT_FALSE(options);
  return options ? "" : options.error().message;
}

TEST(ClusterOptions, WithoutARedisThereIsNoCluster) {
  const auto options = options_of({}, {{"KRON_NAMESPACE", "{other}"}, {"CRONKEN_NAMESPACE", "{other}"}});
  ASSERT_TRUE(options);
  EXPECT_FALSE(*options);
}

TEST(ClusterOptions, AFlagOfAClusterWithoutARedisIsAMistake) {
  EXPECT_NE(why_not({{"namespace", "{other}"}}).find("--namespace is about a cluster"), std::string::npos);
}

TEST(ClusterOptions, TasksAreInRedisUnlessAHostKeepsItsOwn) {
  EXPECT_FALSE(read({{"redis", "redis://db"}}).tasks_in_files);
  EXPECT_FALSE(read({{"redis", "redis://db"}, {"tasks", "redis"}}, {{"KRON_TASKS", "file"}}).tasks_in_files);
  EXPECT_TRUE(read({{"redis", "redis://db"}}, {{"KRON_TASKS", "file"}}).tasks_in_files);
  EXPECT_NE(why_not({{"redis", "redis://db"}, {"tasks", "disk"}}).find("--tasks: expected redis or file"),
            std::string::npos);
}

TEST(ClusterOptions, TheDefaultsAreThoseOfTheContract) {
  const ClusterOptions options = read({{"redis", "redis://db:6380"}});
  EXPECT_EQ(options.redis, "redis://db:6380");
  EXPECT_EQ(options.dialect, cluster::Dialect::seed);
  EXPECT_EQ(options.name_space, "{cronken}");
  EXPECT_FALSE(options.host.empty());
  EXPECT_EQ(options.job_shell, "/bin/sh");
  EXPECT_EQ(options.heartbeat_cadence, Seconds(30));
  EXPECT_EQ(options.output_cadence, Seconds(1));
  EXPECT_EQ(options.max_finalized_output_lines, 10U);
  EXPECT_EQ(options.perjob_results_limit, 1000U);
  EXPECT_EQ(options.general_results_limit, 10'000U);
  EXPECT_EQ(options.outcomes_limit, 100'000U);
  EXPECT_EQ(options.claim_replicas, 0U);
  EXPECT_FALSE(options.require_signed);
}

TEST(ClusterOptions, AFlagGoesBeforeKronsVariableAndThatBeforeCronkens) {
  const Texts redis{{"redis", "redis://db"}};
  const Texts theirs{{"CRONKEN_NAMESPACE", "{c}"}};
  Texts both = theirs;
  both["KRON_NAMESPACE"] = "{k}";
  EXPECT_EQ(read({{"redis", "redis://db"}, {"namespace", "{f}"}}, both).name_space, "{f}");
  EXPECT_EQ(read(redis, both).name_space, "{k}");
  EXPECT_EQ(read(redis, theirs).name_space, "{c}");
  both["KRON_NAMESPACE"] = "";
  EXPECT_EQ(read(redis, both).name_space, "{c}") << "an empty variable is as good as none";
}

TEST(ClusterOptions, AllOfCronkensVariablesAreRead) {
  const ClusterOptions options = read({}, {{"CRONKEN_REDIS_INFO", "a:7000,b:7001"},
                                           {"CRONKEN_NAMESPACE", "{ns}"},
                                           {"CRONKEN_HEARTBEAT_CADENCE", "10"},
                                           {"CRONKEN_OUTPUT_CADENCE", "5"},
                                           {"CRONKEN_OUTPUT_BUFFER_SIZE", "8192"},
                                           {"CRONKEN_MAX_FINALIZED_OUTPUT_LINES", "20"},
                                           {"CRONKEN_PERJOB_RESULTS_LIMIT", "3"},
                                           {"CRONKEN_GENERAL_RESULTS_LIMIT", "4"},
                                           {"CRONKEN_HOST", "h1"}});
  EXPECT_EQ(options.redis, "redis://a:7000,b:7001");
  EXPECT_EQ(options.name_space, "{ns}");
  EXPECT_EQ(options.heartbeat_cadence, Seconds(10));
  EXPECT_EQ(options.output_cadence, Seconds(5));
  EXPECT_EQ(options.output_buffer_size, 8192U);
  EXPECT_EQ(options.max_finalized_output_lines, 20U);
  EXPECT_EQ(options.perjob_results_limit, 3U);
  EXPECT_EQ(options.general_results_limit, 4U);
  EXPECT_EQ(options.host, "h1");
  EXPECT_EQ(options.job_shell, "/bin/bash") << "as cronken has it";
  EXPECT_EQ(read({}, {{"CRONKEN_REDIS_INFO", "a:1"}, {"CRONKEN_JOB_SHELL", "/bin/zsh"}}).job_shell, "/bin/zsh");
}

TEST(ClusterOptions, TheDialectOfCronkenHasItsShell) {
  const ClusterOptions options = read({{"redis", "redis://db"}, {"cluster-compat", "cronken"}});
  EXPECT_EQ(options.dialect, cluster::Dialect::cronken);
  EXPECT_EQ(options.job_shell, "/bin/bash");
}

TEST(ClusterOptions, EveryFlagHasAVariable) {
  for (const ClusterSetting& setting : cluster_settings()) {
    EXPECT_TRUE(variable_of(setting).starts_with("KRON_")) << setting.flag;
    EXPECT_EQ(variable_of(setting).find('-'), std::string::npos) << setting.flag;
  }
  const ClusterOptions options = read({}, {{"KRON_REDIS", "redis://db"},
                                           {"KRON_REQUIRE_SIGNED", "true"},
                                           {"KRON_JOBS_HMAC_KEY", "/key"},
                                           {"KRON_CLUSTER_ENV", "PATH, LANG"},
                                           {"KRON_CLAIM_REPLICAS", "1"}});
  EXPECT_TRUE(options.require_signed);
  EXPECT_EQ(options.hmac_key_file, "/key");
  EXPECT_EQ(options.passed_variables, (std::vector<std::string>{"PATH", "LANG"}));
  EXPECT_EQ(options.claim_replicas, 1U);
}

TEST(ClusterOptions, TheUrlMayStandInAFile) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/url";
  std::ofstream(path) << "redis://user:secret@db:6380\n";
  EXPECT_EQ(read({{"redis-file", path}}, {{"KRON_REDIS", "redis://other"}}).redis, "redis://user:secret@db:6380");
  EXPECT_EQ(read({{"redis", "redis://other"}}, {{"KRON_REDIS_FILE", path}}).redis, "redis://other");
  EXPECT_NE(why_not({{"redis-file", path}, {"redis", "redis://other"}}).find("not both"), std::string::npos);
  EXPECT_NE(why_not({{"redis-file", path + ".not"}}).find("--redis-file"), std::string::npos);
}

TEST(ClusterOptions, WhatIsWrongIsNamedAfterWhereItStood) {
  const Texts redis{{"redis", "redis://u:secret@db"}};
  const auto with = [&](const char* flag, const char* value) {
    Texts flags = redis;
    flags[flag] = value;
    return why_not(flags);
  };
  EXPECT_NE(with("cluster-compat", "other").find("--cluster-compat: expected seed or cronken"), std::string::npos);
  EXPECT_NE(with("heartbeat-cadence", "0").find("--heartbeat-cadence"), std::string::npos);
  EXPECT_NE(with("output-cadence", "soon").find("--output-cadence"), std::string::npos);
  EXPECT_NE(with("perjob-results-limit", "0").find("--perjob-results-limit"), std::string::npos);
  EXPECT_NE(with("claim-replicas", "-1").find("--claim-replicas"), std::string::npos);
  EXPECT_NE(with("host", "a\nb").find("--host"), std::string::npos);
  EXPECT_NE(with("require-signed", "true").find("--jobs-hmac-key"), std::string::npos);
  EXPECT_NE(why_not(redis, {{"CRONKEN_OUTPUT_CADENCE", "x"}}).find("CRONKEN_OUTPUT_CADENCE"), std::string::npos);
  EXPECT_EQ(with("host", "").find("secret"), std::string::npos);
}

TEST(ClusterOptions, NumbersAreWithinTheirRangeAndNotOneBeyond) {
  struct Range {
    const char* flag;
    const char* least;
    const char* below;
    const char* most;
    const char* above;
  };
  constexpr char kMost[] = "1000000000";
  constexpr char kAbove[] = "1000000001";
  const Range ranges[] = {
      {"claim-replicas", "0", "-1", kMost, kAbove},      {"max-finalized-output-lines", "0", "-1", kMost, kAbove},
      {"perjob-results-limit", "1", "0", kMost, kAbove}, {"general-results-limit", "1", "0", kMost, kAbove},
      {"outcomes-limit", "1", "0", kMost, kAbove},       {"output-buffer-size", "1", "0", kMost, kAbove},
  };
  for (const Range& range : ranges) {
    for (const char* good : {range.least, range.most}) {
      EXPECT_TRUE(options_of({{"redis", "redis://db"}, {range.flag, good}})) << range.flag << " " << good;
    }
    for (const char* bad : {range.below, range.above, "", "1.5", "0x10", " 1", "many", "99999999999999999999"}) {
      EXPECT_NE(why_not({{"redis", "redis://db"}, {range.flag, bad}}).find(std::string("--") + range.flag),
                std::string::npos)
          << range.flag << " " << bad;
    }
  }
  EXPECT_EQ(read({{"redis", "redis://db"}, {"output-buffer-size", "1"}}).output_buffer_size, 4096U);
}

TEST(ClusterOptions, DurationsAreSecondsOrHaveAUnit) {
  const auto heartbeat = [](const char* text) {
    return read({{"redis", "redis://db"}, {"heartbeat-cadence", text}}).heartbeat_cadence;
  };
  EXPECT_EQ(heartbeat("1"), Seconds(1));
  EXPECT_EQ(heartbeat("1m30s"), Seconds(90));
  EXPECT_EQ(heartbeat("1500ms"), Seconds(2)) << "Redis counts in whole seconds";
  for (const char* bad : {"0", "999ms", "-1", "", "soon", "1 "}) {
    EXPECT_NE(why_not({{"redis", "redis://db"}, {"heartbeat-cadence", bad}}), "") << bad;
  }
  EXPECT_EQ(read({{"redis", "redis://db"}, {"output-cadence", "10ms"}}).output_cadence, std::chrono::milliseconds(10));
  EXPECT_NE(why_not({{"redis", "redis://db"}, {"output-cadence", "9ms"}}), "");
}

TEST(ClusterOptions, YesAndNoHaveFewWords) {
  for (const char* yes : {"1", "true", "yes", "on"}) {
    EXPECT_TRUE(read({{"redis", "redis://db"}, {"jobs-hmac-key", "/k"}}, {{"KRON_REQUIRE_SIGNED", yes}}).require_signed)
        << yes;
  }
  for (const char* no : {"0", "false", "no", "off", ""}) {
    EXPECT_FALSE(read({{"redis", "redis://db"}}, {{"KRON_REQUIRE_SIGNED", no}}).require_signed) << no;
  }
  EXPECT_NE(why_not({{"redis", "redis://db"}}, {{"KRON_REQUIRE_SIGNED", "TRUE"}}).find("KRON_REQUIRE_SIGNED"),
            std::string::npos);
}

TEST(ClusterOptions, NamesHaveNoControlCharactersAndAnEnd) {
  for (const char* flag : {"namespace", "host", "job-shell"}) {
    EXPECT_TRUE(options_of({{"redis", "redis://db"}, {flag, std::string(255, 'x')}})) << flag;
    for (const std::string& bad : {std::string(), std::string(256, 'x'), std::string("a\x1b"), std::string("a\x7f")}) {
      EXPECT_NE(why_not({{"redis", "redis://db"}, {flag, bad}}).find(std::string("--") + flag), std::string::npos);
    }
  }
}

TEST(ClusterOptions, AListMayHaveBlanksAndEmptyPlaces) {
  const auto names = [](const char* text) {
    return read({{"redis", "redis://db"}, {"cluster-env", text}}).passed_variables;
  };
  EXPECT_EQ(names(" A , ,B,"), (std::vector<std::string>{"A", "B"}));
  EXPECT_TRUE(names(",").empty());
}

TEST(ClusterOptions, TheFirstLineOfTheFileIsTheUrlAndItIsNeverShown) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/url";
  std::ofstream(path) << "  redis://u:secret@db  \nsecond line\n";
  EXPECT_EQ(read({}, {{"KRON_REDIS_FILE", path}}).redis, "redis://u:secret@db");
  EXPECT_EQ(read({}, {{"KRON_REDIS_FILE", path}, {"CRONKEN_REDIS_INFO", "a:1"}}).redis, "redis://u:secret@db");
  EXPECT_EQ(why_not({{"redis-file", path}, {"host", "\n"}}).find("secret"), std::string::npos);
  std::ofstream(path) << "\n";
  EXPECT_NE(why_not({{"redis-file", path}}).find("first line is empty"), std::string::npos);
}

}  // namespace
}  // namespace kron::daemon
