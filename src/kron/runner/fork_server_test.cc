#include <atomic>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

#include "kron/runner/fake/runner_fixture.h"
#include "kron/runner/instruction_writer.h"
#include "kron/runner/pidfd.h"
#include "kron/runner/process_identity.h"
#include "kron/runner/protocol.h"
#include "kron/testing/scale.h"

namespace kron::runner {
namespace {

// Whatever the rest of the program is run with, these have a server.
class ForkServerTest : public RunnerFixture {
 protected:
  ForkServerTest() {
    ::unsetenv("KRON_TEST_EXECUTES_HELPER");
    start_daemon();
    // Those of tests before: a run that is held when its runner goes ends by itself, and nobody waits for it.
    earlier_ = children();
  }
  ~ForkServerTest() override {
    if (was_set_) ::setenv("KRON_TEST_EXECUTES_HELPER", "1", 1);
  }

  RunSpec marking(const std::string& run_id) {
    return shell(run_id, "echo " + run_id + " >> " + directory_.file("ran"));
  }
  std::string ran() { return contents(directory_.file("ran")); }

  static bool has_ended(pid_t pid) {
    const Descriptor process(open_pidfd(pid));
    if (!process) return true;
    pollfd event{process.get(), POLLIN, 0};
    return ::poll(&event, 1, kPatience) == 1;
  }

  static std::set<pid_t> children() {
    std::ifstream list("/proc/thread-self/children");
    return {std::istream_iterator<pid_t>(list), std::istream_iterator<pid_t>()};
  }

  // Children that have not been reaped, and are not the server.
  std::set<pid_t> strays() const {
    std::set<pid_t> all = children();
    all.erase(runner_->fork_server());
    for (const pid_t earlier : earlier_) all.erase(earlier);
    return all;
  }

 private:
  std::set<pid_t> earlier_;
  bool was_set_ = std::getenv("KRON_TEST_EXECUTES_HELPER") != nullptr;
};

TEST_F(ForkServerTest, OneServesAllRunsAndTheyAreOurOwnChildren) {
  EXPECT_EQ(runner_->fork_server(), 0);
  const ProcessIdentity first = start(marking("r1"));
  const pid_t server = runner_->fork_server();
  ASSERT_GT(server, 0);
  const ProcessIdentity second = start(marking("r2"));
  EXPECT_EQ(runner_->fork_server(), server);
  EXPECT_NE(first.pid, second.pid);
  EXPECT_NE(first.pid, server);
  EXPECT_EQ(parent_of(first.pid), ::getpid());
  EXPECT_EQ(parent_of(second.pid), ::getpid());
  for (const char* run : {"r1", "r2"}) {
    EXPECT_TRUE(runner_->open_gate(run));
    EXPECT_EQ(wait_for(run).code, 0);
  }
  EXPECT_EQ(strays(), std::set<pid_t>());
}

TEST_F(ForkServerTest, AHelperIsNamedAfterItsRunAndLeadsAGroupOfItsOwn) {
  const ProcessIdentity held =
      start_and_open(shell("the-run", "cat /proc/$PPID/cmdline; cut -d' ' -f5 /proc/$PPID/stat"));
  EXPECT_EQ(wait_for("the-run").code, 0);
  const std::string text = output("the-run");
  const std::string program = std::string(KRON_EXEC) + '\0' + "the-run" + '\0';
  EXPECT_EQ(text.substr(0, program.size()), program);
  EXPECT_EQ(text.substr(text.find_last_of('\0') + 1), std::to_string(held.pid) + "\n");
}

TEST_F(ForkServerTest, AHelperHoldsNothingOfTheServersNorOfOtherRuns) {
  start(marking("held"));
  start_and_open(shell("r1", "for fd in /proc/$PPID/fd/*; do readlink $fd; done"));
  EXPECT_EQ(wait_for("r1").code, 0);
  const std::string text = output("r1");
  std::size_t sockets = 0;
  for (std::size_t at = text.find("socket:"); at != std::string::npos; at = text.find("socket:", at + 1)) ++sockets;
  EXPECT_EQ(sockets, 1U) << text;
  EXPECT_EQ(text.find("memfd:"), std::string::npos) << text;
}

TEST_F(ForkServerTest, LongInstructionsGoByAFile) {
  RunSpec spec = shell("r1", "wc -c; ls /proc/self/fd | wc -l");
  spec.input = std::string(3 * kMostInRequest, 'x');
  EXPECT_EQ(output_of_script(spec), std::to_string(3 * kMostInRequest) + "\n4\n");
  EXPECT_GT(runner_->fork_server(), 0);
}

TEST_F(ForkServerTest, OneThatIsKilledIsReplacedAndItsRunsLiveOn) {
  const std::string fifo = make_fifo("go");
  start(marking("held"));
  start_and_open(shell("running", "read line < " + fifo + "; exit 7"));
  const pid_t killed = runner_->fork_server();
  ASSERT_EQ(::kill(killed, SIGKILL), 0);
  EXPECT_TRUE(has_ended(killed));
  EXPECT_EQ(run(marking("next")).code, 0);
  EXPECT_GT(runner_->fork_server(), 0);
  EXPECT_NE(runner_->fork_server(), killed);
  EXPECT_TRUE(runner_->open_gate("held"));
  EXPECT_EQ(wait_for("held").code, 0);
  write_fifo(fifo, "go\n");
  EXPECT_EQ(wait_for("running").code, 7);
  EXPECT_EQ(ran(), "next\nheld\n");
  EXPECT_EQ(strays(), std::set<pid_t>());
}

TEST_F(ForkServerTest, OneThatIsStoppedIsGivenUpAndTheRunStartsOnce) {
  start_daemon({.server_patience = std::chrono::milliseconds(100)});
  run(marking("first"));
  const pid_t stopped = runner_->fork_server();
  ASSERT_EQ(::kill(stopped, SIGSTOP), 0);
  EXPECT_EQ(run(marking("r1")).code, 0);
  EXPECT_EQ(runner_->fork_server(), 0);  // nor is another tried at once
  EXPECT_EQ(run(marking("r2")).code, 0);
  EXPECT_EQ(runner_->fork_server(), 0);
  EXPECT_TRUE(has_ended(stopped));
  EXPECT_EQ(ran(), "first\nr1\nr2\n");
  EXPECT_EQ(strays(), std::set<pid_t>());
}

// If a helper were made and lost, it would be a child that nobody reaps.
TEST_F(ForkServerTest, OneThatIsKilledAtAnyMomentOfAStartMakesNoRunTwiceAndLosesNone) {
  std::atomic<int> target = -1;
  std::atomic<bool> is_over = false;
  std::thread killer([&] {
    std::minstd_rand random(1);
    while (!is_over) {
      const int process = target.exchange(-1);
      if (process < 0) continue;
      for (volatile unsigned spin = static_cast<unsigned>(random()) % 100'000; spin > 0;) spin = spin - 1;
      (void)signal_pidfd(process, SIGKILL);
      ::close(process);
    }
  });
  std::string expected;
  run(marking("first"));
  for (int i = 0; i < kron::testing::scaled(100); ++i) {
    const std::string id = "r" + std::to_string(i);
    if (runner_->fork_server() > 0) {
      if (const int old = target.exchange(open_pidfd(runner_->fork_server())); old >= 0) ::close(old);
    }
    EXPECT_EQ(run(marking(id)).code, 0);
    expected += id + "\n";
  }
  is_over = true;
  killer.join();
  EXPECT_EQ(ran(), "first\n" + expected);
  EXPECT_EQ(strays(), std::set<pid_t>());
}

TEST_F(ForkServerTest, AHelperThatComesLateFindsItsRunAbandonedAndTouchesNothing) {
  EXPECT_EQ(run(marking("r1")).code, 0);
  const HelperProgram program(KRON_EXEC);
  const Descriptor runs = out_of_the_way(Descriptor(::open(directory_.file("runs").c_str(), O_RDONLY | O_CLOEXEC)));
  const auto server = ForkServer::start(program, runs.get(), std::chrono::milliseconds(kPatience));
  ASSERT_TRUE(server);
  Accounts accounts(clock_);
  const std::string instructions = instructions_of(marking("r1"), **accounts.find("", ""), {}, "").value();
  Gate gate = *make_gate();
  EXPECT_TRUE(tell(gate.ours, kAbandon));
  const ForkServer::Forked late = server->fork(instructions, gate);
  ASSERT_GT(late.pid, 0);
  int status = -1;
  EXPECT_EQ(::waitpid(late.pid, &status, 0), late.pid);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ran(), "r1\n");
  EXPECT_EQ(runner_->earlier_run("r1")->code, 0);
}

TEST_F(ForkServerTest, ItEndsWithItsDaemon) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    start(marking("held"));
    const pid_t server = runner_->fork_server();
    (void)!::write(ends[1], &server, sizeof server);
    ::kill(::getpid(), SIGKILL);
  }
  pid_t server = 0;
  EXPECT_EQ(::read(ends[0], &server, sizeof server), ssize_t{sizeof server});
  EXPECT_EQ(::waitpid(daemon, nullptr, 0), daemon);
  EXPECT_GT(server, 0);
  EXPECT_TRUE(has_ended(server));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(ForkServerTest, ItEndsWithItsRunner) {
  run(marking("r1"));
  const pid_t server = runner_->fork_server();
  runner_.reset();
  EXPECT_EQ(start_time_of(server), std::nullopt);
  start_daemon();
}

TEST_F(ForkServerTest, AProgramThatDoesNotServeIsExecutedForEachRunAndAskedOnce) {
  const std::string program = directory_.file("helper");
  {
    std::ofstream(program) << "#!/bin/sh\n[ \"$1\" = --serve ] && echo asked >> " << directory_.file("ran")
                           << " && exit 64\nexec " << KRON_EXEC << "\n";
  }
  ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
  Result<std::unique_ptr<RealProcessRunner>> other =
      RealProcessRunner::create({.helper = program, .state_directory = directory_.path()}, clock_);
  ASSERT_TRUE(other);
  runner_ = *std::move(other);
  EXPECT_EQ(run(marking("r1")).code, 0);
  EXPECT_EQ(run(marking("r2")).code, 0);
  EXPECT_EQ(ran(), "asked\nr1\nr2\n");
  EXPECT_EQ(runner_->fork_server(), 0);
}

// Whether the limit of processes lets us have `count` more at once. Who waits for a process has taken it off the count.
bool may_have_more(int count) {
  std::vector<pid_t> made;
  while (std::ssize(made) < count) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::pause());
    if (child < 0) break;
    made.push_back(child);
  }
  for (const pid_t child : made) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  return std::ssize(made) == count;
}

// A thread that has been joined counts until the system has cleared it away, and making a runner tries one. It may be
// gone from /proc and still count.
void wait_until_may_have_more(int count) {
  bool may = may_have_more(count);
  for (int i = 0; i < kPatience && !may; ++i) {
    ::usleep(1000);
    may = may_have_more(count);
  }
  EXPECT_TRUE(may);
}

// root has no such limit: the daemon is another user.
TEST_F(ForkServerTest, ALimitOfProcessesFailsTheStartAndNotTheServer) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become a user with no other processes";
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer has a thread of its own in each process, which counts";
#endif
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    const std::string program = directory_.file("kron-exec");
    std::filesystem::copy_file(KRON_EXEC, program);
    const uid_t user = 40'000 + static_cast<uid_t>(::getpid()) % 20'000;
    EXPECT_EQ(::mkdir(directory_.file("state").c_str(), 0700), 0);
    EXPECT_EQ(::chown(directory_.file("state").c_str(), user, user), 0);
    EXPECT_EQ(::setresuid(user, user, user), 0);
    const rlimit limit{3, 3};  // the daemon, its server, and one helper
    EXPECT_EQ(::setrlimit(RLIMIT_NPROC, &limit), 0);
    runner_ =
        RealProcessRunner::create({.helper = program, .state_directory = directory_.file("state")}, clock_).value();
    wait_until_may_have_more(2);
    start(shell("r1", "true"));
    const pid_t server = runner_->fork_server();
    EXPECT_GT(server, 0);
    const Result<ProcessIdentity> refused = runner_->start(shell("r2", "true"));
    const std::string reason = refused ? "none" : refused.error().message;
    EXPECT_NE(reason.find("ulimit -u"), std::string::npos) << reason;
    EXPECT_EQ(runner_->fork_server(), server);
    runner_->abandon("r1");
    while (runner_->alive() > 0) {
      pollfd event{runner_->descriptor(), POLLIN, 0};
      if (::poll(&event, 1, kPatience) != 1) break;
      (void)runner_->drain_exits();
    }
    start(shell("r2", "true"));
    EXPECT_EQ(runner_->fork_server(), server);
    ::_exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(daemon, &status, 0), daemon);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace kron::runner
