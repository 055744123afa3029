#include <cstring>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "kron/runner/exec/instruction_reader.h"
#include "kron/runner/instruction_writer.h"
#include "kron/runner/protocol.h"
#include "kron/testing/property.h"

// What krond writes and kron-exec reads, without a process between.
namespace kron::runner {
namespace {

using exec::Instructions;
using exec::read_instructions;

Account account() { return {"me", "/home/me", 1000, 1001, {1001, 7}, true, false}; }

RunSpec full_spec() {
  RunSpec spec{.run_id = "r1", .command = {"/bin/echo", "", "a b"}, .environment = {{"A", "1"}, {"HOME", "/h"}}};
  spec.directory = "/work";
  spec.process.umask = 0027;
  spec.process.nice = -5;
  spec.limits = {{RLIMIT_CPU, 60}};
  spec.input = std::string("in\0put", 6);
  spec.out = {OutputKind::file, "/var/log/x"};
  spec.err = {OutputKind::syslog};
  spec.capture = 12345;
  spec.timeout = Seconds(2);
  spec.grace = Seconds(3);
  spec.lease = 0;
  return spec;
}

TEST(Instructions, EverythingArrives) {
  std::string bytes = instructions_of(full_spec(), account(), {{RLIMIT_NOFILE, {1024, 4096}}, {RLIMIT_CORE, {0, 77}}},
                                      "/sys/fs/cgroup/krond.service")
                          .value();
  Instructions read;
  ASSERT_EQ(read_instructions(bytes.data(), bytes.size(), read), nullptr);
  EXPECT_STREQ(read.run_id, "r1");
  EXPECT_STREQ(read.arguments[0], "/bin/echo");
  EXPECT_STREQ(read.arguments[1], "");
  EXPECT_STREQ(read.arguments[2], "a b");
  EXPECT_EQ(read.arguments[3], nullptr);
  std::vector<std::string> variables;
  for (char** variable = read.variables; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  EXPECT_EQ(variables,
            (std::vector<std::string>{"USER=me", "LOGNAME=me", std::string("PATH=") + kDefaultPath, "A=1", "HOME=/h"}));
  EXPECT_STREQ(read.directory, "/work");
  EXPECT_FALSE(read.directory_may_fail);
  EXPECT_EQ(read.input, std::string_view("in\0put", 6));
  EXPECT_EQ(read.user, 1000U);
  EXPECT_EQ(read.group, 1001U);
  ASSERT_EQ(read.group_count, 2U);
  EXPECT_EQ(read.groups[1], 7U);
  EXPECT_EQ(read.process.umask, 0027U);
  EXPECT_EQ(read.process.nice, -5);
  ASSERT_EQ(read.limit_count, 3U);
  EXPECT_EQ(read.limits[0].resource, RLIMIT_CPU);
  EXPECT_EQ(read.limits[0].values.rlim_max, 60U);
  EXPECT_EQ(read.limits[1].values.rlim_cur, 1024U);
  EXPECT_EQ(read.limits[1].values.rlim_max, 4096U);
  EXPECT_EQ(read.limits[2].resource, RLIMIT_CORE);
  EXPECT_EQ(read.limits[2].values.rlim_cur, 0U);
  EXPECT_EQ(read.limits[2].values.rlim_max, 77U);
  EXPECT_EQ(read.out.kind, OutputKind::file);
  EXPECT_STREQ(read.out.path, "/var/log/x");
  EXPECT_EQ(read.err.kind, OutputKind::syslog);
  EXPECT_EQ(read.capture, 12345U);
  EXPECT_EQ(read.timeout, 2'000'000'000);
  EXPECT_EQ(read.grace, 3'000'000'000);
  EXPECT_STREQ(read.cgroup, "/sys/fs/cgroup/krond.service");
  EXPECT_TRUE(read.has_lease);
  EXPECT_EQ(read.failure, nullptr);
}

TEST(Instructions, FilesWithSecretsAndLimitsArrive) {
  RunSpec spec = full_spec();
  spec.secrets = {{"/etc/a", "/etc/b"}, {{"db", "/etc/d=b"}}, true};
  spec.process.memory_max = 1 << 30;
  spec.process.tasks_max = 7;
  spec.process.cpu_max = 50;
  std::string bytes = instructions_of(spec, account(), {}, "", "/run/x").value();
  Instructions read;
  ASSERT_EQ(read_instructions(bytes.data(), bytes.size(), read), nullptr);
  ASSERT_EQ(read.env_file_count, 2U);
  EXPECT_STREQ(read.env_files[0], "/etc/a");
  EXPECT_STREQ(read.env_files[1], "/etc/b");
  ASSERT_EQ(read.credential_count, 1U);
  EXPECT_STREQ(read.credentials[0].name, "db");
  EXPECT_STREQ(read.credentials[0].path, "/etc/d=b");
  EXPECT_STREQ(read.credentials_at, "/run/x");
  EXPECT_TRUE(read.masks_output);
  EXPECT_EQ(read.process.memory_max, 1U << 30);
  EXPECT_EQ(read.process.tasks_max, 7U);
  EXPECT_EQ(read.process.cpu_max, 50U);
  EXPECT_FALSE(instructions_of(spec, account(), {}, ""));
}

TEST(Instructions, MoreFilesThanThereMayBeAndNamesThatAreNoneAreRefused) {
  const auto is_read = [](const SecretFiles& secrets) {
    RunSpec spec = full_spec();
    spec.secrets = secrets;
    std::string bytes = instructions_of(spec, account(), {}, "", "/run/x").value();
    Instructions read;
    return read_instructions(bytes.data(), bytes.size(), read) == nullptr;
  };
  SecretFiles most;
  for (std::size_t i = 0; i < kMostEnvFiles; ++i) most.env_files.emplace_back("/e");
  for (std::size_t i = 0; i < kMostCredentials; ++i) most.credentials.emplace_back("n" + std::to_string(i), "/c");
  EXPECT_TRUE(is_read(most));
  SecretFiles more = most;
  more.env_files.emplace_back("/e");
  EXPECT_FALSE(is_read(more));
  more = most;
  more.credentials.emplace_back("x", "/c");
  EXPECT_FALSE(is_read(more));
  EXPECT_FALSE(is_read({{"relative"}}));
  EXPECT_FALSE(is_read({{}, {{"../x", "/c"}}}));
  EXPECT_FALSE(is_read({{}, {{".", "/c"}}}));
  EXPECT_FALSE(is_read({{}, {{"", "/c"}}}));
  EXPECT_FALSE(is_read({{}, {{"x", "c"}}}));
}

// kron-exec adds its PID to the variables it was given, and the attempt, if there may be several.
TEST(Instructions, ThereIsRoomForTwoMoreVariables) {
  for (const std::size_t count : {0U, 55U, 56U, 57U, 58U, 59U, 60U, 200U}) {
    SCOPED_TRACE(count);
    RunSpec spec{.run_id = "r1", .command = {"true"}};
    for (std::size_t i = 0; i < count; ++i) spec.environment.emplace_back("V" + std::to_string(i), "x");
    std::string bytes = instructions_of(spec, account(), {}, "").value();
    Instructions read;
    ASSERT_EQ(read_instructions(bytes.data(), bytes.size(), read), nullptr);
    char helper[] = "KRON_EXEC_PID=1";
    char attempt[] = "KRON_ATTEMPT=1";
    for (char* const variable : {helper, attempt}) {
      ASSERT_EQ(*read.more, nullptr);
      *read.more++ = variable;
    }
    ASSERT_EQ(*read.more, nullptr);
    std::vector<std::string> variables;
    for (char** variable = read.variables; *variable != nullptr; ++variable) variables.emplace_back(*variable);
    EXPECT_EQ(variables.size(), count + 4 + 2);
    EXPECT_EQ(variables.back(), attempt);
    EXPECT_STREQ(read.arguments[0], "true");
    EXPECT_EQ(read.arguments[1], nullptr);
  }
}

TEST(Instructions, WithoutNewSettingsTheyAreWhatTheyWere) {
  const std::string plain = instructions_of(full_spec(), account(), {}, "").value();
  for (const Tag tag : {Tag::retry, Tag::backoff, Tag::fails_on, Tag::success_exit, Tag::memory_max, Tag::tasks_max,
                        Tag::cpu_max, Tag::env_file, Tag::credential, Tag::credentials_at, Tag::mask_output}) {
    for (const char size : {'\x00', '\x01', '\x04', '\x08', '\x20'}) {
      const std::string head{static_cast<char>(tag), size, 0, 0, 0};
      EXPECT_EQ(plain.find(head), std::string::npos) << static_cast<int>(tag);
    }
  }
}

TEST(Instructions, AFailureArrives) {
  std::string bytes = failure_instructions("r1", 126, "there is no user 'x'");
  Instructions read;
  ASSERT_EQ(read_instructions(bytes.data(), bytes.size(), read), nullptr);
  EXPECT_EQ(read.failure_code, 126);
  EXPECT_STREQ(read.failure, "there is no user 'x'");
}

TEST(Instructions, WithoutADirectoryItIsHomeOrTheRoot) {
  std::string bytes = instructions_of({.run_id = "r1", .command = {"true"}}, account(), {}, "").value();
  Instructions read;
  ASSERT_EQ(read_instructions(bytes.data(), bytes.size(), read), nullptr);
  EXPECT_STREQ(read.directory, "/home/me");
  EXPECT_TRUE(read.directory_may_fail);
  EXPECT_EQ(read.timeout, 0);
  EXPECT_FALSE(read.has_lease);
}

TEST(Instructions, TextsThatNoProcessCanHaveAreRefused) {
  RunSpec spec = full_spec();
  spec.command[1] = std::string("a\0b", 3);
  EXPECT_EQ(instructions_of(spec, account(), {}, "").error().code, Code::invalid);
  spec = full_spec();
  spec.out.path = std::string("/a\0b", 4);
  EXPECT_FALSE(instructions_of(spec, account(), {}, ""));
  spec = full_spec();
  spec.input = std::string(kMostInstructions, 'x');
  EXPECT_FALSE(instructions_of(spec, account(), {}, ""));
  spec.command.clear();
  EXPECT_FALSE(instructions_of(spec, account(), {}, ""));
}

// A kron-exec that does not know what a lease is must not run a command without one.
TEST(Instructions, AnUnknownTagOrALeaseThatSaysSomethingIsRefused) {
  const std::string known = instructions_of(full_spec(), account(), {}, "").value();
  const std::string lease = std::string(1, static_cast<char>(Tag::lease)) + std::string(4, '\0');
  const std::size_t at = known.rfind(lease);
  ASSERT_NE(at, std::string::npos);
  for (const auto& [tag, size] : {std::pair<int, int>{200, 0}, {255, 0}, {static_cast<int>(Tag::lease), 1}}) {
    std::string changed = known;
    changed[at] = static_cast<char>(tag);
    changed[at + 1] = static_cast<char>(size);
    if (size > 0) changed.insert(at + kRecordHead, std::string(static_cast<std::size_t>(size), 'x'));
    Instructions read;
    EXPECT_STREQ(read_instructions(changed.data(), changed.size(), read), "an instruction is unknown or malformed");
  }
}

TEST(Instructions, EverySettingOfAProcessArrives) {
  RunSpec spec = full_spec();
  int value = 1;
  for_each_setting(spec.process, [&](Tag, auto& setting) {
    using Setting = std::decay_t<decltype(*setting)>;
    if constexpr (std::is_same_v<Setting, ExitCodes>) {
      setting.emplace().add(200);
    } else {
      setting = static_cast<Setting>(value++);
    }
  });
  std::string bytes = instructions_of(spec, account(), {}, "").value();
  Instructions read;
  ASSERT_EQ(read_instructions(bytes.data(), bytes.size(), read), nullptr);
  EXPECT_EQ(read.process, spec.process);
  EXPECT_NE(read.process, ProcessSettings());
}

TEST(Instructions, ASettingThatIsNoNumberOfItsSizeIsRefused) {
  std::string bytes = instructions_of(full_spec(), account(), {}, "").value();
  const std::string nice = std::string(1, static_cast<char>(Tag::nice)) + std::string{4, 0, 0, 0};
  const std::size_t at = bytes.rfind(nice);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 1] = 5;
  bytes.insert(at + kRecordHead, 1, 'x');
  Instructions read;
  EXPECT_STREQ(read_instructions(bytes.data(), bytes.size(), read), "an instruction is unknown or malformed");
}

TEST(Instructions, CutOffOrLongerTheyAreRefused) {
  const std::string whole = instructions_of(full_spec(), account(), {}, "").value();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::string part = whole.substr(0, size);
    Instructions read;
    EXPECT_NE(read_instructions(part.data(), part.size(), read), nullptr) << size;
  }
  std::string longer = whole + "x";
  Instructions read;
  EXPECT_NE(read_instructions(longer.data(), longer.size(), read), nullptr);
}

TEST(Instructions, DamagedTheyNeverCrashTheReader) {
  const std::string whole = instructions_of(full_spec(), account(), {}, "").value();
  kron::testing::for_all(500, [&] {
    std::string damaged = whole;
    const int changes = *rc::gen::inRange(1, 5);
    for (int i = 0; i < changes; ++i) {
      damaged[*rc::gen::inRange<std::size_t>(0, damaged.size())] = *rc::gen::arbitrary<char>();
    }
    // An exact copy on the heap, so that a sanitizer sees the first byte read beyond it.
    std::vector<char> bytes(damaged.begin(), damaged.end());
    Instructions read;
    if (read_instructions(bytes.data(), bytes.size(), read) != nullptr) return;
    RC_ASSERT(read.run_id != nullptr);
    RC_ASSERT(std::strlen(read.run_id) < bytes.size());
    for (char** text = read.arguments; *text != nullptr; ++text) RC_ASSERT(std::strlen(*text) < bytes.size());
  });
}

}  // namespace
}  // namespace kron::runner
