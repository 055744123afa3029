#include "cluster_edit.h"

#include <gtest/gtest.h>

#include "kron/cluster/definition_edit.h"
#include "kron/env/fake/fake_redis.h"

namespace kron::cli {
namespace {

using kron::testing::FakeRedis;
using kron::testing::RedisFate;

constexpr const char* kDefinition =
    R"({"cron_args":{"second":"5"},"job_args":{"cmd":"x","lock":true,"ttl":10},"mine":1.50})";

class ClusterEdit : public ::testing::Test {
 protected:
  RedisValue redis(const RedisCommand& command) { return server_.execute(command).value; }
  std::string definition(const std::string& name = "job") { return redis({"HGET", "{c}:jobs", name}).text; }
  void put(const std::string& text, const std::string& name = "job") { redis({"HSET", "{c}:jobs", name, text}); }
  bool is_paused(const std::string& name = "job") { return redis({"SISMEMBER", "{c}:jobs:paused", name}).integer == 1; }

  FakeRedis server_{[] { return WallTime(std::chrono::seconds(1'800'000'000)); }};
  ClusterSession session_{server_.connection(), "{c}"};
};

Result<std::optional<std::string>> paused_text(const std::string& /*name*/, const std::string& text) {
  const auto wanted = cluster::with_paused(text, jobs::ClusterPause{});
  return wanted ? std::optional(*wanted) : std::nullopt;
}

TEST_F(ClusterEdit, ScriptsThatRedisDoesNotKnowAreLoaded) {
  put(kDefinition);
  for (int round = 0; round < 2; ++round) {
    server_.flush_scripts();
    std::vector<Edit> edits{{"job", definition()}};
    ASSERT_TRUE(apply(session_, edits, paused_text, true));
    EXPECT_TRUE(is_paused());
  }
}

TEST_F(ClusterEdit, WhatSomebodyElseWroteMeanwhileIsNotOverwritten) {
  put(kDefinition);
  std::vector<Edit> edits{{"job", definition()}};
  int calls = 0;
  const auto change = [&](const std::string& name, const std::string& text) {
    if (++calls == 1) put(R"({"theirs":2})");
    return paused_text(name, text);
  };
  ASSERT_TRUE(apply(session_, edits, change, true));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(definition(), R"({"theirs":2,"job_state":{"paused":true}})");
}

TEST_F(ClusterEdit, AFightOverADefinitionEndsInAConflict) {
  put(kDefinition);
  std::vector<Edit> edits{{"job", definition()}};
  int calls = 0;
  const auto change = [&](const std::string& name, const std::string& text) {
    put(R"({"theirs":)" + std::to_string(++calls) + "}");
    return paused_text(name, text);
  };
  const Status done = apply(session_, edits, change, true);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::conflict);
}

TEST_F(ClusterEdit, AJobThatIsRemovedMeanwhileStaysSo) {
  put(kDefinition);
  std::vector<Edit> edits{{"job", definition()}};
  redis({"HDEL", "{c}:jobs", "job"});
  ASSERT_TRUE(apply(session_, edits, paused_text, true));
  EXPECT_EQ(edits.front().outcome, Edit::Outcome::gone);
  EXPECT_FALSE(is_paused());
}

TEST_F(ClusterEdit, WhatIsNoJsonIsPausedBySetAlone) {
  put("junk");
  std::vector<Edit> edits{{"job", definition()}};
  ASSERT_TRUE(apply(session_, edits, paused_text, true));
  EXPECT_EQ(definition(), "junk");
  EXPECT_TRUE(is_paused());
}

TEST_F(ClusterEdit, ALostAnswerIsUnreachableAndTheCallCanBeRepeated) {
  put(kDefinition);
  std::vector<Edit> edits{{"job", definition()}};
  server_.decide([](const RedisCommand& command) -> std::optional<RedisFate> {
    if (command.front() != "EVALSHA") return std::nullopt;
    return RedisFate{.how = RedisFate::How::reply_lost};
  });
  const Status done = apply(session_, edits, paused_text, true);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::unreachable);
  EXPECT_NE(done.error().message.find("may or may not"), std::string::npos);
  server_.decide({});
  ASSERT_TRUE(apply(session_, edits, paused_text, true));
  EXPECT_TRUE(is_paused());
}

TEST_F(ClusterEdit, AnEventWhoseAnswerIsLostIsSentAgain) {
  auto heard = server_.subscription();
  const std::vector<std::string> channels{"{c}:__events__"};
  ASSERT_TRUE(heard->subscribe(channels, Seconds(1)));
  server_.plan(0, {.how = RedisFate::How::request_lost});
  const auto count = tell(session_, cluster::events::Reload{});
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ(*count, 1);
  const auto message = heard->next(Nanoseconds(0));
  ASSERT_TRUE(message && *message);
  EXPECT_EQ(cluster::parse_event((*message)->payload), cluster::Event(cluster::events::Reload{}));
}

TEST_F(ClusterEdit, ANewDefinitionIsAddedOnceAndReplacedWhenAsked) {
  EXPECT_EQ(write_definition(session_, "job", kDefinition, false), DefinitionWritten::added);
  EXPECT_EQ(write_definition(session_, "job", R"({"other":1})", false), DefinitionWritten::kept);
  EXPECT_EQ(definition(), kDefinition);
  EXPECT_EQ(write_definition(session_, "job", R"({"other":1})", true), DefinitionWritten::replaced);
  EXPECT_EQ(definition(), R"({"other":1})");
  EXPECT_FALSE(is_paused());
}

TEST_F(ClusterEdit, AReplacedJobStaysPausedUnlessItsTextSaysOtherwise) {
  put(R"({"old":1,"job_state":{"paused":true}})");
  redis({"SADD", "{c}:jobs:paused", "job"});
  EXPECT_EQ(write_definition(session_, "job", R"({"new":1})", true), DefinitionWritten::replaced);
  EXPECT_EQ(definition(), R"({"new":1,"job_state":{"paused":true}})");
  put(R"({"old":1,"job_state":{"paused":true,"kron_pause":{"by":"anna"}}})");
  EXPECT_EQ(write_definition(session_, "job", R"({"new":1})", true), DefinitionWritten::replaced);
  EXPECT_EQ(definition(), R"({"new":1,"job_state":{"paused":true,"kron_pause":{"by":"anna"}}})");
  EXPECT_TRUE(is_paused());
  EXPECT_EQ(write_definition(session_, "job", R"({"new":1,"job_state":{"paused":false}})", true),
            DefinitionWritten::replaced);
  EXPECT_FALSE(is_paused());
}

TEST_F(ClusterEdit, PruningRemovesNothingOfAJobThatIsThere) {
  put(kDefinition);
  redis({"HSET", "{c}:kron:state", "job", "{}"});
  const std::vector<std::string> fields{"job"};
  EXPECT_EQ(prune_job(session_, "job", fields), 0);
  redis({"HDEL", "{c}:jobs", "job"});
  EXPECT_EQ(prune_job(session_, "job", fields), 1);
  EXPECT_EQ(redis({"HLEN", "{c}:kron:state"}).integer, 0);
}

TEST_F(ClusterEdit, PruningTakesThousandsOfRunsAPieceAtATime) {
  for (int n = 0; n < 1234; ++n) {
    const std::string id = "run" + std::to_string(n);
    redis({"HSET", "{c}:rundata", id, "{}"});
    for (const char* key : {"{c}:results:success", "{c}:results:job:success"}) redis({"ZADD", key, "1", id});
  }
  redis({"ZADD", "{c}:results:success", "1", "another"});
  EXPECT_EQ(prune_job(session_, "job", {}), 1234);
  EXPECT_EQ(redis({"HLEN", "{c}:rundata"}).integer, 0);
  EXPECT_EQ(redis({"ZCARD", "{c}:results:success"}).integer, 1);
  EXPECT_EQ(redis({"EXISTS", "{c}:results:job:success"}).integer, 0);
}

TEST_F(ClusterEdit, StateFieldsBelongToTheirJobs) {
  for (const char* field : {"a", "a\nh1", "corrupt\na", "corrupt\na\nh1", "b"})
    redis({"HSET", "{c}:kron:state", field, "{}"});
  const auto fields = read_state_fields(session_);
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->size(), 2U);
  EXPECT_EQ(fields->at("a").size(), 4U);
  EXPECT_EQ(fields->at("b").size(), 1U);
}

TEST_F(ClusterEdit, AKeyOfAnotherTypeIsAConflictAndARightThatIsMissingARefusal) {
  redis({"SET", "{c}:jobs", "x"});
  EXPECT_EQ(read_definitions(session_).error().code, Code::conflict);
  server_.deny("HSCAN");
  EXPECT_EQ(read_definitions(session_).error().code, Code::refused);
}

}  // namespace
}  // namespace kron::cli
