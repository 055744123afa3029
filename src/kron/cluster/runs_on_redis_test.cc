#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "kron/cluster/fake/direct_link.h"
#include "kron/cluster/keep_alive.h"
#include "kron/cluster/output_shipper.h"
#include "kron/cluster/rundata.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/fake_redis.h"
#include "kron/testing/scale.h"
#include "kron/testing/temporary_directory.h"

// Keep-alive and shipper with the real scripts, on a Redis in memory that loses requests and replies.
namespace kron::cluster {
namespace {

using kron::testing::FakeClock;
using kron::testing::FakeRedis;
using kron::testing::RedisFaults;

class RunsOnRedisTest : public ::testing::Test {
 protected:
  RunsOnRedisTest() { start(Dialect::seed); }

  void start(Dialect dialect) {
    dialect_ = dialect;
    shipper_.emplace(
        *runs_, link_, keys_, clock_, log_,
        OutputShipper::Options{.runs_directory = directory_.path() + "/runs", .host = "vm", .dialect = dialect});
    keep_.emplace(
        *runs_, link_, keys_, clock_, log_,
        KeepAlive::Options{
            .owner = "owner", .host = "vm", .dialect = dialect, .kill = [this](const ProcessIdentity& process) {
              killed_.push_back(process.pid);
            }});
    link_.on_lost_writes = [this](const auto&) { keep_->assert_runs(); };
  }

  RedisValue ask(const RedisCommand& command) { return redis_.execute(command).value; }

  // As a granted step leaves it.
  void claim(const std::string& run_id) {
    ActiveRun run;
    run.claim.grant = {.run_id = run_id,
                       .job = "job",
                       .start_time = "1000.000000",
                       .fence = 5,
                       .lock_key = keys_.lock("job"),
                       .ttl = Seconds(9),
                       .sent = clock_.boot_time()};
    run.claim.process = {77, 88, "boot"};
    run.deadline = lease_deadline(clock_.boot_time(), Seconds(9));
    ask({"HSET", keys_.rundata(), run_id, running_blob(dialect_, "vm", "job").with("1000.000000")});
    ask({"ZADD", keys_.active(), "1000.000000", run_id});
    ask({"HSET", keys_.claims(), run_id, "owner 5 1000.000000"});
    ask({"SET", keys_.fence(), "5"});
    ask({"SET", keys_.lock("job"), run_id, "PX", "9000"});
    run.file = runs_->claims().create(run.claim, run.deadline).value();
    runs_->add(std::move(run));
  }

  void write(const std::string& run_id, std::string_view text) {
    std::filesystem::create_directories(directory_.path() + "/runs/" + run_id);
    std::ofstream(directory_.path() + "/runs/" + run_id + "/output", std::ios::app | std::ios::binary) << text;
  }

  // All services go on until the run is told over.
  void finish(const std::string& run_id) {
    for (int turns = 0; runs_->has(run_id) && turns < 200'000; ++turns) {
      keep_->tick();
      if (shipper_->tick() > Nanoseconds(0)) clock_.advance(std::chrono::milliseconds(100));
      link_.pump();
    }
    EXPECT_FALSE(runs_->has(run_id)) << "its end was never answered";
  }

  std::vector<std::string> output(const std::string& run_id) {
    const bool is_list = dialect_ == Dialect::cronken;
    const RedisValue all = ask({is_list ? "LRANGE" : "ZRANGE", keys_.output(run_id), "0", "-1"});
    std::vector<std::string> lines;
    for (const RedisValue& item : all.items) {
      std::string line = item.text;
      const std::size_t nul = line.rfind('\0');
      const bool is_numbered = !is_list && nul != std::string::npos && nul + 1 < line.size() &&
                               line.find_first_not_of("0123456789", nul + 1) == std::string::npos;
      if (is_numbered) line.resize(nul);
      lines.push_back(std::move(line));
    }
    return lines;
  }
  RunData rundata(const std::string& run_id) {
    return parse_rundata(ask({"HGET", keys_.rundata(), run_id}).text).value_or(RunData{});
  }

  kron::testing::TemporaryDirectory directory_;
  FakeClock clock_{instant_of(1000)};
  kron::testing::CapturingLog log_;
  FakeRedis redis_{[this] { return clock_.wall(); }};
  Keys keys_{"{c}"};
  testing::DirectLink link_{redis_.connection(), keys_, clock_};
  std::optional<ActiveRuns> runs_{std::in_place, Claims::open(directory_.path()).value()};
  Dialect dialect_ = Dialect::seed;
  std::optional<OutputShipper> shipper_;
  std::optional<KeepAlive> keep_;
  std::vector<pid_t> killed_;
};

std::vector<std::string> many_lines(int count) {
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) {
    switch (i % 7) {
      case 0:
        lines.emplace_back("again");  // the same as others before it
        break;
      case 1:
        lines.emplace_back();
        break;
      case 2:
        lines.push_back(std::string("\xff\xfe\0\x80", 4) + std::to_string(i));
        break;
      case 3:
        lines.push_back(std::string("ends like a number\0", 19) + "17");
        break;
      default:
        lines.push_back("line " + std::to_string(i));
    }
  }
  return lines;
}

TEST_F(RunsOnRedisTest, ManyLinesArriveCompleteAndInOrderAlthoughRepliesAreLost) {
  const int count = kron::testing::scaled(20'000);
  for (const Dialect dialect : {Dialect::seed, Dialect::cronken}) {
    const std::string run_id = dialect == Dialect::seed ? "r1" : "r2";
    start(dialect);
    claim(run_id);
    redis_.set_faults({.request_lost = 0.05, .reply_lost = 0.1, .scripts_flushed = 0.01});
    std::vector<std::string> lines = many_lines(count);
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    const std::size_t half = text.size() / 2;
    write(run_id, text.substr(0, half));
    for (int turn = 0; turn < 50; ++turn) {
      clock_.advance(std::chrono::milliseconds(100));
      keep_->tick();
      shipper_->tick();
      link_.pump();
    }
    write(run_id, text.substr(half));
    runs_->end({run_id, 0, ""}, true);
    finish(run_id);
    redis_.set_faults({});
    if (dialect == Dialect::cronken) {
      for (std::string& line : lines) line += "\n";
    }
    const std::vector<std::string> read = output(run_id);
    ASSERT_EQ(read.size(), lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(read[i], lines[i]) << i;
    EXPECT_GT(ask({"TTL", keys_.output(run_id)}).integer, 86'000);
    EXPECT_EQ(ask({"ZSCORE", keys_.results("success"), run_id}).kind, RedisValue::Kind::text);
  }
}

TEST_F(RunsOnRedisTest, TheEndIsInEveryPlaceAndTheLockIsFree) {
  claim("r1");
  write("r1", "one\ntwo\n");
  clock_.advance(Seconds(2));
  RunExit exit{"r1", 137, "killed"};
  exit.signal = 9;
  runs_->end(exit, true);
  finish("r1");
  const RunData run = rundata("r1");
  EXPECT_EQ(run.status, RunStatus::fail);
  EXPECT_EQ(run.retcode, -9);
  EXPECT_EQ(run.output, "one\ntwo\n");
  EXPECT_EQ(run.duration, 2.0);
  EXPECT_EQ(ask({"ZCARD", keys_.active()}).integer, 0);
  EXPECT_EQ(ask({"HLEN", keys_.claims()}).integer, 0);
  EXPECT_EQ(ask({"EXISTS", keys_.lock("job")}).integer, 0);
  EXPECT_EQ(ask({"ZCARD", keys_.results("job", "fail")}).integer, 1);
  EXPECT_EQ(ask({"XLEN", keys_.outcomes()}).integer, 1);
  EXPECT_EQ(output("r1"), (std::vector<std::string>{"one", "two"}));
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path() + "/claims"));
}

TEST_F(RunsOnRedisTest, ALockIsHeldAsLongAsItsRunLivesAndItsDeadlineNeverPassesItsExpiry) {
  claim("r1");
  for (int turn = 0; turn < 600; ++turn) {
    clock_.advance(std::chrono::milliseconds(100));
    keep_->tick();
    ASSERT_EQ(ask({"GET", keys_.lock("job")}).text, "r1");
    const Nanoseconds left = std::chrono::milliseconds(ask({"PTTL", keys_.lock("job")}).integer);
    runs_->with("r1", [&](const ActiveRun& run) {
      ASSERT_GT(run.file.deadline(), clock_.boot_time());
      ASSERT_LE(run.file.deadline(), clock_.boot_time() + left);
    });
  }
  EXPECT_GT(std::stod(ask({"ZSCORE", keys_.active(), "r1"}).text), 1025.0) << "it beats, too";
  EXPECT_TRUE(killed_.empty());
}

TEST_F(RunsOnRedisTest, ALockThatAnotherHasEndsTheRun) {
  claim("r1");
  ask({"SET", keys_.lock("job"), "another", "PX", "9000"});
  clock_.advance(Seconds(3));
  keep_->tick();
  EXPECT_EQ(killed_, (std::vector<pid_t>{77}));
  EXPECT_EQ(ask({"GET", keys_.lock("job")}).text, "another");
  runs_->end({"r1", 137, "killed"}, true);
  finish("r1");
  EXPECT_EQ(ask({"GET", keys_.lock("job")}).text, "another") << "it is not ours to release";
}

TEST_F(RunsOnRedisTest, AFrozenRunThatComesBackDoesNotBecomeASuccess) {
  claim("r1");
  ask({"ZREM", keys_.active(), "r1"});
  ask({"HSET", keys_.rundata(), "r1", R"({"job_name":"job","status":"frozen"})"});
  runs_->end({"r1", 0, ""}, true);
  finish("r1");
  EXPECT_EQ(rundata("r1").status, RunStatus::frozen);
  EXPECT_EQ(ask({"ZCARD", keys_.results("success")}).integer, 0);
}

TEST_F(RunsOnRedisTest, AfterRedisHasLostItsWritesARunIsThereAgain) {
  claim("r1");
  clock_.advance(Seconds(1));
  link_.look();
  redis_.restart_empty();
  clock_.advance(Seconds(3));
  keep_->tick();
  for (int turn = 0; turn < 20; ++turn) link_.pump();
  EXPECT_TRUE(killed_.empty());
  EXPECT_EQ(ask({"GET", keys_.lock("job")}).text, "r1");
  EXPECT_EQ(rundata("r1").status, RunStatus::running);
  EXPECT_EQ(ask({"ZCARD", keys_.active()}).integer, 1);
  runs_->end({"r1", 0, ""}, true);
  finish("r1");
  EXPECT_EQ(rundata("r1").status, RunStatus::success);
}

}  // namespace
}  // namespace kron::cluster
