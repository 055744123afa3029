#include <csignal>

#include "kron/runner/fake/runner_fixture.h"
#include "kron/runner/protocol.h"

namespace kron::runner {
namespace {

// What the record of a run says of its end, where the job has rules of its own.
class FailuresTest : public RunnerFixture {
 protected:
  RunExit end_of(std::string script, std::optional<FailsOn> on, std::initializer_list<int> fine = {}) {
    RunSpec spec = with(std::move(script), on, fine);
    return run(spec);
  }

  RunSpec with(std::string script, std::optional<FailsOn> on, std::initializer_list<int> fine = {}) {
    RunSpec spec = shell("r" + std::to_string(++count_), std::move(script));
    spec.process.fails_on = on;
    for (const int code : fine) {
      if (!spec.process.success_exit) spec.process.success_exit.emplace();
      spec.process.success_exit->add(code);
    }
    return spec;
  }

  std::string last_output() { return output("r" + std::to_string(count_)); }

 private:
  int count_ = 0;
};

TEST_F(FailuresTest, WithoutARuleTheExitCodeDecides) {
  EXPECT_EQ(end_of("echo x >&2", {}).failed, false);
  EXPECT_EQ(end_of("exit 2", {}).failed, true);
  EXPECT_EQ(run({.run_id = "missing", .command = {"/nonexistent/program"}}).failed, true);
}

TEST_F(FailuresTest, ExitCodesThatAreFineAreNoFailure) {
  const RunExit exit = end_of("exit 2", {}, {0, 2});
  EXPECT_EQ(exit.code, 2);
  EXPECT_EQ(exit.failed, false);
  EXPECT_EQ(exit.reason, "");
  EXPECT_EQ(end_of("exit 3", {}, {0, 2}).failed, true);
  EXPECT_EQ(end_of("exit 0", {}, {2}).failed, true);
}

TEST_F(FailuresTest, AnythingOnStandardErrorIsAFailureWhereTheJobSaysSo) {
  RunExit exit = end_of("echo out; echo oops >&2", FailsOn::standard_error);
  EXPECT_EQ(exit.code, 0);
  EXPECT_EQ(exit.failed, true);
  EXPECT_EQ(exit.reason, kWroteErrors);
  EXPECT_EQ(exit.output_bytes, 9U);
  EXPECT_NE(last_output().find("out\n"), std::string::npos);
  EXPECT_NE(last_output().find("oops\n"), std::string::npos);
  exit = end_of("echo out", FailsOn::standard_error);
  EXPECT_EQ(exit.failed, false);
  EXPECT_EQ(exit.reason, "");
  exit = end_of("echo oops >&2; exit 4", FailsOn::standard_error);
  EXPECT_EQ(exit.failed, true);
  EXPECT_EQ(exit.reason, "") << "its exit code is reason enough";
}

TEST_F(FailuresTest, StandardErrorIsSeenEvenWhereItIsKeptNowhere) {
  RunSpec spec = with("echo oops >&2", FailsOn::standard_error);
  spec.err = {OutputKind::discard};
  const RunExit exit = run(spec);
  EXPECT_EQ(exit.failed, true);
  EXPECT_EQ(exit.output_bytes, 0U);
  EXPECT_EQ(last_output(), "");
}

TEST_F(FailuresTest, NothingMeansNothingThatTheCommandDoes) {
  EXPECT_EQ(end_of("exit 9", FailsOn::nothing).failed, false);
  EXPECT_EQ(end_of("kill -SEGV $$", FailsOn::nothing).failed, false);
  RunSpec spec = with("exec sleep 1000", FailsOn::nothing, {143});
  spec.timeout = std::chrono::milliseconds(50);
  const RunExit exit = run(spec);
  EXPECT_EQ(exit.code, 128 + SIGTERM);
  EXPECT_EQ(exit.failed, true);
}

TEST_F(FailuresTest, RetriesGoByIt) {
  RunSpec fine = with("exit 2", {}, {0, 2});
  fine.process.retry = 3;
  fine.process.backoff = 0;
  EXPECT_EQ(run(fine).attempts, 1U);
  RunSpec noisy = with("[ $KRON_ATTEMPT = 3 ] || echo oops >&2", FailsOn::standard_error);
  noisy.process.retry = 5;
  noisy.process.backoff = 0;
  const RunExit exit = run(noisy);
  EXPECT_EQ(exit.attempts, 3U);
  EXPECT_EQ(exit.failed, false);
  EXPECT_EQ(exit.reason, "");
}

}  // namespace
}  // namespace kron::runner
