#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kron/runner/fake/runner_fixture.h"
#include "kron/runner/pidfd.h"
#include "kron/runner/protocol.h"

// What a run gets from files that its job names, by the real kron-exec.
namespace kron::runner {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class RunSecretsTest : public RunnerFixture {
 protected:
  RunSecretsTest() { start(); }

  void start() { start_daemon({.credentials = place_}); }

  std::string secret(const std::string& name, const std::string& content, mode_t mode = 0600) {
    const std::string path = directory_.file(name);
    { std::ofstream(path) << content; }
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }

  RunSpec with_variables(const std::string& run_id, const std::string& script, const std::string& content) {
    RunSpec spec = shell(run_id, script);
    spec.secrets.env_files = {secret("env", content)};
    return spec;
  }

  RunSpec with_credential(const std::string& run_id, const std::string& script) {
    RunSpec spec = shell(run_id, script);
    spec.secrets.credentials = {{"db", secret("db", "hunter2\n")}};
    return spec;
  }

  // Nothing is left of it, the directory for all of them neither.
  bool is_clean() const { return !std::filesystem::exists(place_); }

  const std::string place_ = directory_.file("credentials");
};

TEST_F(RunSecretsTest, VariablesComeFromTheFile) {
  RunSpec spec = with_variables("r1", "echo \"$A|$B|$PATH\"", "A=1\nB=\"two words\"\n");
  spec.environment = {{"A", "0"}, {"PATH", "/bin"}};
  EXPECT_EQ(output_of_script(spec), "1|two words|/bin\n");
}

TEST_F(RunSecretsTest, ALaterFileWinsAndNoneNamesTheRun) {
  RunSpec spec = with_variables("r1", "echo \"$A|$B|$KRON_RUN_ID\"", "A=1\nB=1\nKRON_RUN_ID=x\n");
  spec.secrets.env_files.push_back(secret("env2", "B=2\nB=3\n"));
  spec.environment = {{"KRON_RUN_ID", "r1"}};
  EXPECT_EQ(output_of_script(spec), "1|3|r1\n");
}

TEST_F(RunSecretsTest, ThePathOfTheFileFindsTheCommand) {
  RunSpec spec{.run_id = "r1", .command = {"mine"}};
  const std::string program = secret("mine", "#!/bin/sh\necho found\n", 0700);
  spec.secrets.env_files = {secret("env", "PATH=" + directory_.path() + "\n")};
  EXPECT_EQ(output_of_script(spec), "found\n");
}

TEST_F(RunSecretsTest, TheFileIsReadWhenTheRunIsLetGoAndOnceForAllAttempts) {
  RunSpec spec =
      with_variables("r1", "echo $A$KRON_ATTEMPT; echo A=3 > " + directory_.file("env") + "; exit 1", "A=1\n");
  spec.process.retry = 1;
  spec.process.backoff = 0;
  RunnerFixture::start(spec);
  secret("env", "A=2\n");
  ASSERT_TRUE(runner_->open_gate("r1"));
  EXPECT_EQ(wait_for("r1").attempts, 2U);
  EXPECT_THAT(output("r1"), StartsWith("21\n"));
  EXPECT_THAT(output("r1"), HasSubstr("]\n22\n"));
}

TEST_F(RunSecretsTest, AFileThatIsMissingOrBadEndsTheRunAndSaysWhy) {
  RunSpec spec = with_variables("r1", "echo ran", "");
  spec.process.retry = 3;
  spec.process.backoff = 0;
  spec.secrets.env_files = {directory_.file("none")};
  const RunExit missing = run(spec);
  EXPECT_EQ(missing.code, kCannotExecute);
  EXPECT_EQ(missing.failed, true);
  EXPECT_EQ(missing.attempts, 1U);
  EXPECT_EQ(missing.reason, "cannot read the env_file " + directory_.file("none") + ": No such file or directory");
  EXPECT_EQ(output("r1"), "[kron: " + missing.reason + "]\n");
  const RunExit bad = run(with_variables("r2", "echo ran", "A=1\nhunter2\n"));
  EXPECT_EQ(bad.code, kCannotExecute);
  EXPECT_THAT(bad.reason, HasSubstr("line 2: there is no ="));
  EXPECT_THAT(bad.reason, Not(HasSubstr("hunter2")));
  spec = with_variables("r3", "echo ran", "A=1\n");
  secret("env", "A=1\n", 0644);
  EXPECT_THAT(run(spec).reason, HasSubstr("others can read or write it"));
  spec = with_credential("r4", "echo ran");
  spec.secrets.credentials.emplace_back("other", directory_.file("none"));
  EXPECT_EQ(run(spec).reason, "cannot read the credential " + directory_.file("none") + ": No such file or directory");
  EXPECT_TRUE(is_clean());
  EXPECT_THAT(output("r2") + output("r3") + output("r4"), Not(HasSubstr("ran")));
}

TEST_F(RunSecretsTest, FailsOnNothingDoesNotExcuseIt) {
  RunSpec spec = with_variables("r1", "true", "");
  spec.secrets.env_files = {directory_.file("none")};
  spec.process.fails_on = FailsOn::nothing;
  EXPECT_EQ(run(spec).failed, true);
}

TEST_F(RunSecretsTest, ACredentialIsAFileOfTheJobsUserAloneAndGoesWithTheRun) {
  RunSpec spec = with_credential(
      "r1", "cat $CREDENTIALS_DIRECTORY/db; stat -c '%a %u' $CREDENTIALS_DIRECTORY $CREDENTIALS_DIRECTORY/db");
  const std::string user = std::to_string(::geteuid());
  EXPECT_EQ(output_of_script(spec), "hunter2\n500 " + user + "\n400 " + user + "\n");
  EXPECT_TRUE(is_clean());
}

TEST_F(RunSecretsTest, AnotherUserGetsHisOwn) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root runs commands as others";
  // Neither the fixture's directory nor the source is his: root's copy is made for him.
  start_daemon({.credentials = "/run/kron-credentials-test-" + std::to_string(::getpid())});
  const std::string trusted = "/run/kron-credentials-test-file-" + std::to_string(::getpid());
  { std::ofstream(trusted) << "hunter2\n"; }
  ASSERT_EQ(::chmod(trusted.c_str(), 0600), 0);
  RunSpec spec = shell("r1", "id -un; cat $CREDENTIALS_DIRECTORY/db; stat -c '%a %U' $CREDENTIALS_DIRECTORY/db; cat " +
                                 trusted + " 2>/dev/null || echo hidden");
  spec.user = "nobody";
  spec.directory = "/";
  spec.secrets.credentials = {{"db", trusted}};
  EXPECT_EQ(output_of_script(spec), "nobody\nhunter2\n400 nobody\nhidden\n");
  std::filesystem::remove(trusted);
}

TEST_F(RunSecretsTest, WhateverTheJobPutsBesideItGoesToo) {
  const RunExit exit = run(with_credential(
      "r1",
      "cd $CREDENTIALS_DIRECTORY && chmod 700 . && mkdir -p a/b && echo x > a/b/c && ln -s /etc a/etc && chmod 0 a/b"));
  EXPECT_EQ(exit.code, 0) << exit.reason << output("r1");
  EXPECT_TRUE(is_clean());
  EXPECT_TRUE(std::filesystem::exists("/etc/passwd"));
}

TEST_F(RunSecretsTest, ATimeoutRemovesThemToo) {
  RunSpec spec = with_credential("r1", "sleep 1000");
  spec.timeout = std::chrono::milliseconds(50);
  spec.grace = Nanoseconds(0);
  EXPECT_THAT(run(spec).reason, StartsWith(kTimedOut));
  EXPECT_TRUE(is_clean());
}

TEST_F(RunSecretsTest, ACommandThatCannotBeExecutedLeavesNone) {
  RunSpec spec = with_credential("r1", "");
  spec.command = {"/nonexistent"};
  EXPECT_EQ(run(spec).code, kNotFound);
  EXPECT_TRUE(is_clean());
}

class KilledHelperTest : public RunSecretsTest {
 protected:
  // A run that has its credential and goes on.
  ProcessIdentity begun() {
    RunSpec spec = with_credential("r1", "echo > $TOLD; sleep 1000");
    spec.environment = {{"TOLD", told_}};
    const ProcessIdentity helper = start_and_open(spec);
    read_fifo(told_);
    EXPECT_TRUE(std::filesystem::exists(place_ + "/r1/db"));
    return helper;
  }
  void kill_helper(const ProcessIdentity& helper) {
    const Descriptor process(open_pidfd(helper.pid));
    ASSERT_EQ(::kill(helper.pid, SIGKILL), 0);
    pollfd event{process.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&event, 1, kPatience), 1);
  }

  std::string told_ = make_fifo("told");
};

TEST_F(KilledHelperTest, KrondRemovesWhatItLeft) {
  const ProcessIdentity helper = begun();
  kill_helper(helper);
  EXPECT_EQ(wait_for("r1").code, std::nullopt);
  EXPECT_TRUE(is_clean());
}

TEST_F(KilledHelperTest, TheNextKrondRemovesWhatWasLeftWhileThereWasNone) {
  const ProcessIdentity helper = begun();
  runner_.reset();
  kill_helper(helper);
  EXPECT_TRUE(std::filesystem::exists(place_ + "/r1/db"));
  start();
  EXPECT_TRUE(is_clean());
}

TEST_F(KilledHelperTest, TheNextKrondLeavesThoseOfRunsThatGoOn) {
  const ProcessIdentity helper = begun();
  start();
  EXPECT_TRUE(std::filesystem::exists(place_ + "/r1/db"));
  EXPECT_EQ(runner_->adopt("r1", helper), std::nullopt);
  runner_->kill("r1");
  EXPECT_EQ(wait_for("r1").code, 128 + SIGKILL);
  EXPECT_TRUE(is_clean());
}

TEST_F(RunSecretsTest, WithoutAPlaceForCredentialsTheRunEnds) {
  start_daemon();
  const RunExit exit = run(with_credential("r1", "true"));
  EXPECT_EQ(exit.code, kCannotExecute);
  EXPECT_THAT(exit.reason, HasSubstr("no directory for credentials"));
}

// Others could put there what they like.
TEST_F(RunSecretsTest, APlaceThatOthersCanWriteIsNotUsed) {
  ASSERT_EQ(::mkdir(place_.c_str(), 0777), 0);
  ASSERT_EQ(::chmod(place_.c_str(), 0777), 0);
  EXPECT_THAT(run(with_credential("r1", "true")).reason, HasSubstr("cannot make the directory for the credentials"));
}

TEST_F(RunSecretsTest, OutputIsMaskedOnRequest) {
  RunSpec spec =
      with_credential("r1", "echo $A; cat $CREDENTIALS_DIRECTORY/db; printf swo; sleep 0.2; echo rdfish 1>&2");
  spec.secrets.env_files = {secret("env", "A=swordfish\nB=abc\n")};
  EXPECT_EQ(output_of_script(spec), "swordfish\nhunter2\nswordfish\n");
  spec.run_id = "r2";
  spec.secrets.mask_output = true;
  EXPECT_EQ(output_of_script(spec), "[masked]\n[masked]\n[masked]\n");
}

TEST_F(RunSecretsTest, WhatIsKeptBackComesAtTheEndOfEachAttempt) {
  RunSpec spec = with_variables("r1", "printf swordfis; exit 1", "A=swordfish\n");
  spec.secrets.mask_output = true;
  spec.process.retry = 1;
  spec.process.backoff = 0;
  run(spec);
  EXPECT_EQ(output("r1"), "swordfis\n[kron: attempt 2 of 2, 0s after exit 1]\nswordfis");
}

TEST_F(RunSecretsTest, MaskedOutputIsMaskedAcrossWritesOfAnySize) {
  RunSpec spec = with_variables("r1", "yes \"x swordfish y\" | head -c 1500000", "A=swordfish\n");
  spec.secrets.mask_output = true;
  const std::string all = output_of_script(spec);
  EXPECT_THAT(all, Not(HasSubstr("swordfish")));
  EXPECT_THAT(all, StartsWith("x [masked] y\nx [masked] y\n"));
}

}  // namespace
}  // namespace kron::runner
