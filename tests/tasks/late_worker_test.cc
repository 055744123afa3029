#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "kron/queue/task_file.h"
#include "kron/queue/transitions.h"
#include "kron/testing/scale.h"
#include "queue_server.h"
#include "worker.h"

// FM_001 with real processes: a worker is stopped past its lease, another does its task, the first goes on.
namespace kron::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kPatience = 60'000;  // milliseconds

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool wait_for(const auto& condition) {
  for (int waited = 0; waited < kPatience; waited += 10) {
    if (condition()) return true;
    ::usleep(10'000);
  }
  return false;
}

// A child that dies with the test.
class Child {
 public:
  explicit Child(const auto& body) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    body();
    ::_exit(0);
  }
  ~Child() {
    if (pid_ <= 0) return;
    signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void signal(int number) const { ::kill(pid_, number); }
  bool ended() {
    const bool is_over = wait_for([&] { return ::waitpid(pid_, nullptr, WNOHANG) == pid_; });
    if (is_over) pid_ = 0;
    return is_over;
  }
  void wait_until_stopped() const { ::waitpid(pid_, nullptr, WUNTRACED); }

 private:
  pid_t pid_;
};

class LateWorker : public ::testing::Test {
 protected:
  LateWorker() {
    // Nothing here is about the disk.
    const std::string base = fs::is_directory("/dev/shm") ? "/dev/shm/" : ::testing::TempDir();
    std::string pattern = base + "kron-late-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    for (const char* name : {"ran", "go"}) fs::create_directory(root_ / name);
  }
  ~LateWorker() override { fs::remove_all(root_); }

  // Every start of the command leaves a line, which is what an effect without the boundary would be. The first worker's
  // command waits to be let go.
  std::string script() const {
    return "echo $WHO >> " + path("ran") + "/$KRON_TASK_ID; [ $WHO = first ] && while [ ! -e " + path("go") +
           "/$KRON_TASK_ID ]; do sleep 0.02; done; echo $WHO > $KRON_STAGE_DIR/by";
  }

  void work(const std::string& who) const {
    ::setenv("WHO", who.c_str(), 1);
    const RealClock clock;
    const Descriptor log_file(::open(path(who + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    LineLog log(log_file.get(), clock, LogFormat::text, LogLevel::info);
    SocketClient client(path("socket"));
    const auto commands =
        cli::Commands::open(path(who), KRON_EXEC, clock, {.command = {"/bin/sh", "-c", script()}, .grace = Seconds(1)})
            .value();
    const cli::WorkerOptions options{.name = who, .lease = Seconds(1), .until = cli::WorkUntil::drained};
    if (!cli::Worker(client, *commands, clock, log, options).run()) ::_exit(1);
  }

  std::string path(const std::string& name) const { return (root_ / name).string(); }

  // `commits_late`: its command ends while the worker is stopped, so that the first thing it does then is to commit.
  void round(const std::string& task, bool commits_late) {
    SocketClient client(path("socket"));
    const NewTask submitted{.id = task, .type = "T"};
    ASSERT_TRUE(client.submit({&submitted, 1}).front());
    Child first([&] { work("first"); });
    ASSERT_TRUE(wait_for([&] { return text_of(root_ / "ran" / task) == "first\n"; }));
    first.signal(SIGSTOP);
    first.wait_until_stopped();
    if (commits_late) std::ofstream(root_ / "go" / task);
    Child second([&] { work("second"); });
    ASSERT_TRUE(second.ended());
    first.signal(SIGCONT);
    ASSERT_TRUE(first.ended());
  }

  void expect_one_effect(const std::string& task) const {
    EXPECT_EQ(text_of(root_ / "ran" / task), "first\nsecond\n") << "both have run";
    EXPECT_EQ(text_of(root_ / "data/effects" / task / "by"), "second\n");
    const auto after = parse_task(text_of(root_ / "data/tasks/completed" / (task + ".json")), task);
    ASSERT_TRUE(after);
    ASSERT_EQ(after->executions.size(), 2U);
    EXPECT_EQ(after->executions[0].status, ExecutionStatus::aborted);
    EXPECT_EQ(after->executions[0].reason, "lease expired");
    EXPECT_EQ(after->executions[1].status, ExecutionStatus::done);
    EXPECT_EQ(after->executions[1].lease_owner, "second");
  }

  fs::path root_;
};

TEST_F(LateWorker, IsToldAndItsTaskHasOneEffect) {
  const Child owner([&] { serve_queue(path("data"), path("socket")); });
  const int rounds = scaled(5);
  for (int i = 0; i < rounds && !HasFailure(); ++i) {
    const std::string task = "task-" + std::to_string(i);
    SCOPED_TRACE(task);
    round(task, i % 2 == 0);
    expect_one_effect(task);
  }
  const std::string log = text_of(path("first.log"));
  for (int i = 0; i < rounds; ++i) {
    EXPECT_NE(log.find("task_dropped task=task-" + std::to_string(i) + " "), std::string::npos) << log;
  }
  EXPECT_EQ(log.find("task_committed"), std::string::npos) << log;
  EXPECT_NE(log.find("reason=duplicate"), std::string::npos) << log;
}

}  // namespace
}  // namespace kron::testing
