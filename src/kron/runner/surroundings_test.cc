#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>

#include "kron/runner/fake/runner_fixture.h"
#include "kron/runner/instruction_writer.h"

namespace kron::runner {
namespace {

// What a command finds around it.
class SurroundingsTest : public RunnerFixture {
 protected:
  static bool is_root() { return ::geteuid() == 0; }
};

TEST_F(SurroundingsTest, TheEnvironmentIsCleanAndComplete) {
  ::setenv("KRON_TEST_LEAK", "leaked", 1);
  RunSpec spec{.run_id = "r1", .command = {"env"}, .environment = {{"A", "1 2"}, {"LOGNAME", "me"}}};
  const std::string text = output_of_script(spec);
  EXPECT_NE(text.find("A=1 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("LOGNAME=me\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nHOME=/"), text.find("HOME=/")) << text;
  EXPECT_NE(text.find("USER="), std::string::npos) << text;
  EXPECT_NE(text.find(std::string("PATH=") + kDefaultPath + "\n"), std::string::npos) << text;
  EXPECT_NE(text.find("KRON_EXEC_PID="), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6) << text;
}

TEST_F(SurroundingsTest, TheProgramIsLookedUpInTheCommandsOwnPath) {
  const std::string program = directory_.file("only-here");
  { std::ofstream(program) << "#!/bin/sh\necho found\n"; }
  ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
  RunSpec spec{.run_id = "r1", .command = {"only-here"}, .environment = {{"PATH", directory_.path()}}};
  EXPECT_EQ(output_of_script(spec), "found\n");
  spec.run_id = "r2";
  spec.environment.clear();
  EXPECT_EQ(run(spec).code, 127);
}

TEST_F(SurroundingsTest, StandardInputIsEmptyOrTheGivenText) {
  EXPECT_EQ(output_of_script(shell("r1", "cat; readlink /proc/self/fd/0")), "/dev/null\n");
  RunSpec spec = shell("r2", "cat");
  spec.input = "first line\nsecond line\n";
  EXPECT_EQ(output_of_script(spec), *spec.input);
  spec.run_id = "r3";
  spec.input = std::string(1 << 20, 'x');
  EXPECT_EQ(output_of_script(spec), *spec.input);
  spec.run_id = "r4";
  spec.input = "";
  EXPECT_EQ(output_of_script(spec), "");
}

TEST_F(SurroundingsTest, TheDirectoryIsTheGivenOneOrHome) {
  RunSpec spec = shell("r1", "pwd -P");
  spec.directory = directory_.path();
  EXPECT_EQ(output_of_script(spec), directory_.path() + "\n");
  spec.run_id = "r2";
  spec.directory = "~";
  spec.environment = {{"HOME", directory_.path()}};
  EXPECT_EQ(output_of_script(spec), directory_.path() + "\n");
  spec.run_id = "r3";
  spec.directory = "/nonexistent/directory";
  const RunExit exit = run(spec);
  EXPECT_EQ(exit.code, 126);
  EXPECT_EQ(exit.reason, "cannot enter the directory /nonexistent/directory: No such file or directory");
}

TEST_F(SurroundingsTest, UmaskNiceAndLimitsHold) {
  RunSpec spec = shell("r1", "umask; nice; ulimit -f; ulimit -n; ulimit -c; ulimit -Hn");
  spec.process.umask = 0027;
  spec.process.nice = 5;
  spec.limits = {{RLIMIT_FSIZE, 1 << 20}, {RLIMIT_NOFILE, 99}, {RLIMIT_CORE, 0}};
  EXPECT_EQ(output_of_script(spec), "0027\n5\n2048\n99\n0\n99\n");
}

TEST_F(SurroundingsTest, TheLimitOfOpenFilesIsNotTheDaemonsRaisedOne) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{before.rlim_max > 512 ? 512 : before.rlim_max, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  start_daemon();
  rlimit raised{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &raised), 0);
  EXPECT_EQ(raised.rlim_cur, before.rlim_max);
  EXPECT_EQ(output_of_script(shell("r1", "ulimit -Sn")), std::to_string(low.rlim_cur) + "\n");
}

TEST_F(SurroundingsTest, TheDaemonLeavesNoCoreAndACommandMay) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &before), 0);
  const rlimit some{std::min<rlim_t>(before.rlim_max, 1 << 20), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_CORE, &some), 0);
  start_daemon();
  rlimit own{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &own), 0);
  EXPECT_LE(own.rlim_cur, 1U);
  EXPECT_EQ(own.rlim_max, before.rlim_max) << "else no command could have its own back";
  RunSpec shows = shell("r1", "grep core /proc/self/limits | tr -s ' ' | cut -d' ' -f5");
  EXPECT_EQ(output_of_script(shows), std::to_string(some.rlim_cur) + "\n");
  shows.run_id = "r2";
  shows.limits = {{RLIMIT_CORE, 0}};
  EXPECT_EQ(output_of_script(shows), "0\n");
  ::setrlimit(RLIMIT_CORE, &before);
}

TEST_F(SurroundingsTest, AFileSizeLimitIsTheCommandsAndNotOfItsCapturedOutput) {
  RunSpec spec = shell("r1", "head -c 100000 /dev/zero");
  spec.limits = {{RLIMIT_FSIZE, 4096}};
  EXPECT_EQ(run(spec).output_bytes, 100'000U);
}

TEST_F(SurroundingsTest, TheCommandLeadsASessionAndAGroupOutsideItsParents) {
  const std::string text = output_of_script(shell("r1", "ps -o pid=,pgid=,sid= -p $$ -p $PPID"));
  std::istringstream lines(text);
  long parent = 0, parent_group = 0, parent_session = 0, own = 0, group = 0, session = 0;
  lines >> parent >> parent_group >> parent_session >> own >> group >> session;
  EXPECT_EQ(own, group) << text;
  EXPECT_EQ(own, session) << text;
  EXPECT_EQ(parent, parent_group) << text;
  EXPECT_NE(parent, own) << text;
}

TEST_F(SurroundingsTest, NoSignalIsBlockedOrIgnored) {
  ::signal(SIGPIPE, SIG_IGN);
  const std::string text = output_of_script(
      shell("r1", "while read -r key value; do case $key in Sig[BI]*) echo $value;; esac; done < /proc/self/status"));
  ::signal(SIGPIPE, SIG_DFL);
  std::istringstream values(text);
  std::uint64_t blocked = 1, ignored = 1;
  values >> std::hex >> blocked >> ignored;
  constexpr std::uint64_t kThreadSignals = 0x180000000;  // 32 and 33 are glibc's own: its posix_spawn ignores them
  EXPECT_EQ(blocked, 0U) << text;
  EXPECT_EQ(ignored & ~kThreadSignals, 0U) << text;
}

TEST_F(SurroundingsTest, NoDescriptorLeaksIntoTheCommand) {
  const int leaky = ::open("/dev/zero", O_RDONLY);  // not close-on-exec
  const ProcessIdentity held = start(shell("held", "true"));
  const std::string text = output_of_script(shell("r1", "ls /proc/self/fd | wc -l"));
  EXPECT_EQ(text, "4\n");  // the three standard ones, and that of ls for the directory
  ::close(leaky);
  runner_->abandon("held");
  EXPECT_GT(held.pid, 0);
}

TEST_F(SurroundingsTest, AnotherUserMeansItsIdsGroupsHomeAndName) {
  if (!is_root()) GTEST_SKIP() << "only root may change the user";
  RunSpec spec = shell("r1", "id -u; id -g; id -G; echo $USER $LOGNAME $HOME; pwd");
  spec.user = "nobody";
  EXPECT_EQ(output_of_script(spec), "65534\n65534\n65534\nnobody nobody /nonexistent\n/\n");
  spec = shell("r2", "id -u; id -g");
  spec.user = "nobody";
  spec.group = "daemon";
  EXPECT_EQ(output_of_script(spec), "65534\n1\n");
  spec = shell("r3", "id -u; id -g");
  spec.group = "daemon";
  EXPECT_EQ(output_of_script(spec), "0\n1\n");
}

TEST_F(SurroundingsTest, AFileForOutputIsOpenedWithTheRightsOfTheUser) {
  if (!is_root()) GTEST_SKIP() << "only root may change the user";
  RunSpec spec = shell("r1", "echo text");
  spec.user = "nobody";
  spec.out = {OutputKind::file, directory_.file("roots-own")};
  const RunExit exit = run(spec);
  EXPECT_EQ(exit.code, 126);
  EXPECT_EQ(exit.reason, "cannot write to " + spec.out.path + ": Permission denied");
}

}  // namespace
}  // namespace kron::runner
