#include "kron/daemon/options.h"

#include <gtest/gtest.h>
#include <map>

namespace kron::daemon {
namespace {

TEST(Options, AnOffsetMayHaveASign) {
  EXPECT_EQ(*parse_offset("36h"), Nanoseconds(std::chrono::hours(36)));
  EXPECT_EQ(*parse_offset("+1m30s"), Nanoseconds(Seconds(90)));
  EXPECT_EQ(*parse_offset("-500ms"), Nanoseconds(std::chrono::milliseconds(-500)));
  for (const char* wrong : {"", "-", "--1s", "1", "tomorrow"}) EXPECT_FALSE(parse_offset(wrong)) << wrong;
}

TEST(Options, AnOffsetKeepsTheClockInTheYearsOfSchedules) {
  const Instant machine = instant_of(1'800'000'000);
  EXPECT_TRUE(check_offset(kLastInstant - machine, machine));
  EXPECT_FALSE(check_offset(kLastInstant - machine + Seconds(1), machine));
  EXPECT_TRUE(check_offset(kFirstInstant - machine, machine));
  EXPECT_FALSE(check_offset(kFirstInstant - machine - Nanoseconds(1), machine));
  EXPECT_FALSE(check_offset(Nanoseconds::max(), machine));
}

// Remembers each flag, and can set those of a kind.
struct FlagList {
  std::map<std::string, std::string> helps = {};
  std::map<std::string, std::vector<std::string>> words = {};  // of flags that take one of a few
  std::vector<std::string> twice = {};

  void note(const std::string& name, const std::string& help) {
    if (!helps.emplace(name, help).second) twice.push_back(name);
  }
  void paths(const char* name, std::vector<std::string>& value, const char* help) {
    note(name, help);
    value.emplace_back(name);
  }
  void text(const char* name, std::string& value, const char*, const char* help) {
    note(name, help);
    value = name;
  }
  template <class Value>
  void choice(const char* name, Value& value, const char* help, std::map<std::string, Value> choices) {
    note(name, help);
    for (const auto& [word, meaning] : choices) {
      words[name].push_back(word);
      value = meaning;
    }
  }
  void flag(const char* name, bool& value, const char* help) {
    note(name, help);
    value = true;
  }
  void offset(const char* name, Nanoseconds& value, const char* help) {
    note(name, help);
    value = Nanoseconds(1);
  }
  void group(const char* name, std::optional<gid_t>& value, const char* help) {
    note(name, help);
    value = 7;
  }
  void seconds(const char* name, Seconds& value, const char* help) {
    note(name, help);
    value = Seconds(11);
  }
  void number(const char* name, std::size_t& value, const char* help) {
    note(name, help);
    value = 13;
  }
};

TEST(Options, EveryFlagIsThereOnceAndHasAHelp) {
  Options options;
  FlagList flags;
  visit_flags(flags, options);
  EXPECT_TRUE(flags.twice.empty()) << flags.twice.front();
  for (const auto& [name, help] : flags.helps) {
    EXPECT_TRUE(name.starts_with("--")) << name;
    EXPECT_GT(help.size(), 10U) << name;
    for (const ClusterSetting& setting : cluster_settings()) EXPECT_NE(name, "--" + std::string(setting.flag));
  }
}

TEST(Options, EachFlagSetsTheMemberThatItIsCalledAfter) {
  Options options;
  FlagList flags;
  visit_flags(flags, options);
  EXPECT_EQ(options.config, std::vector<std::string>{"--config"});
  EXPECT_EQ(options.state_directory, "--state-dir");
  EXPECT_EQ(options.socket, "--socket");
  EXPECT_EQ(options.helper, "--helper");
  EXPECT_TRUE(options.once);
  EXPECT_EQ(options.clock_offset, Nanoseconds(1));
  EXPECT_EQ(options.socket_group, gid_t{7});
  EXPECT_EQ(options.keeps.age, Seconds(11));
  EXPECT_EQ(options.keeps_tasks.age, Seconds(11));
  EXPECT_EQ(options.keeps.most, 13U);
  EXPECT_EQ(options.keeps_tasks.most, 13U);
}

TEST(Options, AFlagOfAFewWordsTakesThose) {
  Options options;
  FlagList flags;
  visit_flags(flags, options);
  using Words = std::vector<std::string>;
  EXPECT_EQ(flags.words["--on-stop"], (Words{"leave", "terminate", "wait"}));
  EXPECT_EQ(flags.words["--log-level"], (Words{"debug", "error", "info", "warning"}));
  EXPECT_EQ(flags.words["--log-format"], (Words{"json", "text"}));
  EXPECT_EQ(flags.words["--socket-group-may"], (Words{"operate", "read"}));
  EXPECT_EQ(flags.words["--source"], (Words{"cron", "cronken", "kron", "yaml"}));
}

TEST(Options, TheDefaultsAreThoseThatTheHelpNames) {
  const Options options;
  EXPECT_EQ(options.on_stop, OnStop::leave);
  EXPECT_EQ(options.log_format, LogFormat::text);
  EXPECT_EQ(options.log_level, LogLevel::info);
  EXPECT_FALSE(options.group_operates);
  EXPECT_EQ(options.keeps.age, Seconds(std::chrono::days(30)));
  EXPECT_EQ(options.keeps.most, 100'000U);
  EXPECT_EQ(options.keeps_tasks.age, Seconds(std::chrono::days(30)));
  EXPECT_EQ(options.keeps_tasks.most, 1'000'000U);
}

}  // namespace
}  // namespace kron::daemon
