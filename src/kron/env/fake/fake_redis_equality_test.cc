#include "kron/env/fake/fake_redis_equality.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "kron/env/fake/fake_redis_commands.h"
#include "kron/testing/golden.h"
#include "kron/testing/scale.h"

// A FakeRedis that accepts what Redis rejects would prove nothing: it must answer as a real server does.
namespace kron::testing {
namespace {

class FakeRedisEquality : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!twins_.has_real_one()) GTEST_SKIP() << "no Redis here; scripts/deps test installs it";
  }

  void expect_alike(const std::vector<RedisCommand>& commands) {
    for (const RedisCommand& command : commands) EXPECT_EQ(twins_.difference({command}), "");
  }

  // Rounds of random calls from nothing on; which script answered which word.
  std::set<std::string> compare_scripts(const std::string& directory,
                                        const std::map<std::string, ScriptGenerator>& generators, int rounds) {
    std::set<std::string> answers;
    std::vector<ScriptText> scripts = scripts_in(directory);
    for (ScriptText& script : scripts) {
      EXPECT_EQ(twins_.difference({{"SCRIPT", "LOAD", script.text}}), "") << script.name;
      script.sha1 = twins_.answer().text;
    }
    for (int round = 0; round < rounds && !HasFailure(); ++round) {
      Random random(static_cast<std::uint64_t>(round));
      twins_.empty();
      EXPECT_EQ(twins_.difference({{"SADD", "of_another_type", "x"}, {"HSET", "jobs", "job1", "{}", "job2", "{}"}}),
                "");
      for (int i = 0; i < 500 && !HasFailure(); ++i) {
        const std::vector<RedisCommand> call = random_script_call(random, twins_.fake(), scripts, generators);
        EXPECT_EQ(twins_.difference(call), "") << "round " << round;
        const auto script = std::find_if(scripts.begin(), scripts.end(),
                                         [&](const auto& one) { return one.sha1 == call.back().at(1); });
        const RedisValue& answer = twins_.answer();
        if (answer.items.empty()) answers.insert(script->name + " refused");
        for (const RedisValue& item : answer.items) answers.insert(script->name + " " + item.text);
      }
      EXPECT_EQ(twins_.difference_of_data(), "") << "round " << round;
    }
    return answers;
  }

  // What all pages of both have together, from a key that comes in several; `width`: of an element.
  std::set<std::string> names_in_pages(const std::string& scan, const std::string& key, std::size_t width) {
    const auto all_pages = [&](const auto& ask) {
      std::set<std::string> names;
      std::string cursor = "0";
      int pages = 0;
      do {
        const RedisValue page = ask({scan, key, cursor, "COUNT", "50"});
        if (page.items.size() != 2) return names;
        cursor = page.items[0].text;
        for (std::size_t i = 0; i < page.items[1].items.size(); i += width) names.insert(page.items[1].items[i].text);
        pages += 1;
      } while (cursor != "0" && pages < 1000);
      EXPECT_GE(pages, 10);
      return names;
    };
    const auto names = all_pages([&](const RedisCommand& command) { return twins_.fake().execute(command).value; });
    EXPECT_EQ(names, all_pages([&](const RedisCommand& command) { return twins_.real().call(command); }));
    return names;
  }

  Twins twins_;
};

TEST_F(FakeRedisEquality, HoldsForRandomCommands) {
  constexpr int kOfARound = 500;
  for (int round = 0; round < scaled(100); ++round) {
    Random random(static_cast<std::uint64_t>(round));
    twins_.empty();
    for (int i = 0; i < kOfARound; i += 50) {
      std::vector<RedisCommand> commands;
      for (int j = 0; j < 50; ++j) commands.push_back(random_command(random));
      ASSERT_EQ(twins_.difference(commands), "") << "round " << round;
    }
    ASSERT_EQ(twins_.difference_of_data(), "") << "round " << round;
  }
}

TEST_F(FakeRedisEquality, HoldsForRandomCallsOfTheScriptsOfTheCluster) {
  const std::set<std::string> answers =
      compare_scripts(data_path("../../src/kron/cluster/scripts"), cluster_generators(), scaled(100));
  // All that a script can say was said, or the arguments are not good enough.
  for (const char* answer :
       {"step ok",     "step again",     "step newer",       "step gone",    "step early",    "step late",
        "step paused", "step known",     "step held",        "step refused", "end ended",     "end over",
        "end alive",   "end refused",    "keep kept",        "push ok",      "push gap",      "define ok",
        "define same", "define changed", "stale_runs stale", "sweep swept",  "raise ok",      "raise lost",
        "make made",   "make there",     "make early",       "restore done", "restore newer", "restore gone",
        "join joined", "leave left",     "leave not_ours",   "assert ok",    "assert over",   "assert taken"}) {
    EXPECT_TRUE(answers.contains(answer)) << answer;
  }
}

TEST_F(FakeRedisEquality, HoldsForRandomCallsOfTheScriptsOfATaskQueue) {
  const std::set<std::string> answers = compare_scripts(data_path("redis/queue"), queue_generators(), scaled(40));
  for (const char* answer :
       {"q_submit accepted", "q_submit already_known", "q_submit conflict", "q_submit duplicate", "q_start accepted",
        "q_start lease_lost", "q_start not_found", "q_commit accepted", "q_commit duplicate", "q_commit not_started",
        "q_commit lease_lost", "q_commit conflict", "q_abort accepted", "q_abort lease_lost", "q_abort duplicate"}) {
    EXPECT_TRUE(answers.contains(answer)) << answer;
  }
}

TEST_F(FakeRedisEquality, HoldsForRandomCallsOfTheScriptsOfTheTaskQueue) {
  const std::set<std::string> answers =
      compare_scripts(data_path("../../src/kron/queue/scripts"), task_queue_generators(), scaled(40));
  for (const char* answer : {"submit accepted",  "submit already_known",
                             "submit conflict",  "submit duplicate",
                             "lease mail",       "start accepted",
                             "start lease_lost", "start not_found",
                             "start duplicate",  "commit accepted",
                             "commit duplicate", "commit not_started",
                             "commit conflict",  "commit lease_lost",
                             "settle settled",   "settle changed",
                             "settle not_found", "settle taken",
                             "overdue t1",       "prune 1",
                             "lease refused",    "summary 1"}) {
    EXPECT_TRUE(answers.contains(answer)) << answer;
  }
}

TEST_F(FakeRedisEquality, HoldsForCommandsWithTheirArityAndFlags) {
  for (const fake_redis::Command& command : fake_redis::all_commands()) {
    const std::string name = fake_redis::in_small_letters(command.name);
    const RedisValue told = twins_.real().call({"COMMAND", "INFO", name});
    ASSERT_EQ(told.items.at(0).items.size(), 10U) << name;
    EXPECT_EQ(told.items[0].items[1].integer, command.arity) << name;
    unsigned flags = fake_redis::kReads;
    for (const RedisValue& flag : told.items[0].items[2].items) {
      if (flag.text == "write") flags |= fake_redis::kWrites;
      if (flag.text == "denyoom") flags |= fake_redis::kDeniedWhenFull;
      if (flag.text == "noscript") flags |= fake_redis::kNotInScripts;
    }
    EXPECT_EQ(command.flags, flags) << name;
  }
}

TEST_F(FakeRedisEquality, HoldsForWhatLuaReturnsAndRefuses) {
  for (const std::string& script : read_lines(data_path("redis/lua.txt"))) {
    std::string text = script;
    for (std::size_t at = 0; (at = text.find("\\n", at)) != std::string::npos;) text.replace(at, 2, "\n");
    EXPECT_EQ(twins_.difference({{"EVAL", text, "1", "key", "argument"}}), "");
  }
}

TEST_F(FakeRedisEquality, HoldsForHowScriptsAreCalled) {
  const std::string sha1 = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";  // of "return 1"
  expect_alike({{"EVALSHA", sha1, "0"},
                {"SCRIPT", "EXISTS", sha1, "x"},
                {"EVAL", "return 1", "0"},
                {"EVALSHA", sha1, "0"},
                {"EVALSHA", "E0E1F9FABFC9D4800C877A703B823AC0578FF8DB", "0"},
                {"SCRIPT", "EXISTS", sha1, "x"},
                {"SCRIPT", "FLUSH"},
                {"EVALSHA", sha1, "0"},
                {"SCRIPT", "LOAD", "return 1"},
                {"EVALSHA", sha1, "0"},
                {"SCRIPT", "FLUSH", "ASYNC"},
                {"SCRIPT", "FLUSH", "x"},
                {"SCRIPT", "LOAD", "return ("},
                {"SCRIPT", "LOAD"},
                {"SCRIPT", "x"},
                {"SCRIPT"},
                {"EVAL", "return 1", "x"},
                {"EVAL", "return 1", "-1"},
                {"EVAL", "return 1", "1"},
                {"EVAL", "return (", "x"},
                {"EVAL", "return {KEYS, ARGV}", "2", "a", "b", "c"},
                {"EVAL", "redis.call('SELECT', 3) return redis.call('SET', 'in3', 'x')", "0"},
                {"GET", "in3"},
                {"EVAL", "return 1"}});
}

TEST_F(FakeRedisEquality, HoldsForAStreamThatIsTrimmedByNodes) {
  for (int i = 1; i < 1000; ++i) {
    const std::string id = std::to_string(i) + "-1";
    const std::string rough = i % 3 == 0 ? "=" : "~";
    const std::string most = std::to_string(i % 7 == 0 ? 40 : 250);
    ASSERT_EQ(twins_.difference({{"XADD", "s", "MAXLEN", rough, most, id, "f", "v"}, {"XLEN", "s"}}), "") << i;
  }
  EXPECT_EQ(twins_.difference_of_data(), "");
}

// What Redis keeps as a table comes in pages, in an order of its own.
TEST_F(FakeRedisEquality, HoldsForWhatPagesOfALargeHashHaveTogether) {
  RedisCommand put{"HSET", "h"};
  for (int i = 0; i < 1000; ++i) put.insert(put.end(), {"field" + std::to_string(i), "value"});
  ASSERT_EQ(twins_.difference({put}), "");
  EXPECT_EQ(names_in_pages("HSCAN", "h", 2).size(), 1000U);
}

TEST_F(FakeRedisEquality, HoldsForWhatPagesOfALargeSetHaveTogether) {
  RedisCommand put{"SADD", "s"};
  for (int i = 0; i < 1000; ++i) put.push_back("member" + std::to_string(i));
  ASSERT_EQ(twins_.difference({put}), "");
  EXPECT_EQ(names_in_pages("SSCAN", "s", 1).size(), 1000U);
}

TEST_F(FakeRedisEquality, HoldsForWhatPagesOfALargeSortedSetHaveTogether) {
  RedisCommand put{"ZADD", "z"};
  for (int i = 0; i < 1000; ++i) put.insert(put.end(), {std::to_string(i / 2), "member" + std::to_string(i)});
  ASSERT_EQ(twins_.difference({put}), "");
  EXPECT_EQ(names_in_pages("ZSCAN", "z", 2).size(), 1000U);
}

// Whatever the cursor and the count are.
TEST_F(FakeRedisEquality, HoldsForASetOfNumbersThatComesAtOnce) {
  RedisCommand put{"SADD", "s"};
  for (int i = -20; i < 20; ++i) put.push_back(std::to_string(i * 1'000'000));
  expect_alike({put, {"SSCAN", "s", "0", "COUNT", "3"}, {"SSCAN", "s", "7", "COUNT", "1", "MATCH", "*1000000"}});
}

const std::vector<RedisCommand> kWhenLimited{
    {"SET", "a", "b"},
    {"GET", "a"},
    {"DEL", "x"},
    {"EXPIRE", "a", "100000"},
    {"HDEL", "h", "f"},
    {"PUBLISH", "a", "b"},
    {"XADD", "s", "1-1", "a", "b"},
    {"EVAL", "return 1", "0"},
    {"EVAL", "return redis.call('GET', 'a')", "0"},
    {"EVAL", "return redis.pcall('GET', 'a')", "0"},
    {"EVAL", "return redis.call('SET', 'a', 'b')", "0"},
    {"EVAL", "return redis.pcall('SET', 'a', 'b')", "0"},
    {"EVAL", "redis.call('GET', 'x')\nreturn redis.call('SET', 'a', 'b')", "0"},
    {"EVAL", "redis.call('DEL', 'x')\nreturn redis.call('SET', 'a', 'b')", "0"},
    {"EVAL", "redis.call('PUBLISH', 'x', 'y')\nreturn redis.call('ZADD', 'z', 1, 'b')", "0"},
    {"SCRIPT", "LOAD", "return 2"},
    {"GET"},
    {"WAIT", "0", "0"},
    {"ROLE"},
};

TEST_F(FakeRedisEquality, HoldsForAServerThatIsFull) {
  twins_.real().call({"CONFIG", "SET", "maxmemory", "1"});
  twins_.fake().set_out_of_memory(true);
  expect_alike(kWhenLimited);
}

TEST_F(FakeRedisEquality, HoldsForAServerThatIsReadOnly) {
  twins_.real().call({"SET", "a", "1"});
  (void)twins_.fake().execute({"SET", "a", "1"});
  twins_.real().call({"REPLICAOF", "127.0.0.1", "1"});
  twins_.fake().set_read_only(true);
  expect_alike(kWhenLimited);
}

TEST_F(FakeRedisEquality, HoldsForAServerThatDeniesCommands) {
  twins_.real().call({"ACL", "SETUSER", "default", "-get", "-script|load", "-set"});
  for (const char* command : {"GET", "SCRIPT|LOAD", "SET"}) twins_.fake().deny(command);
  expect_alike(kWhenLimited);
}

TEST_F(FakeRedisEquality, HoldsForTheTime) {
  const RedisValue before = twins_.real().call({"TIME"});
  const RedisValue told = twins_.fake().execute({"TIME"}).value;
  const RedisValue after = twins_.real().call({"TIME"});
  const auto microseconds = [](const RedisValue& time) {
    return std::stoll(time.items.at(0).text) * 1'000'000 + std::stoll(time.items.at(1).text);
  };
  EXPECT_LE(microseconds(before), microseconds(told));
  EXPECT_LE(microseconds(told), microseconds(after));
}

}  // namespace
}  // namespace kron::testing
