#include "kron/queue/redis_queue.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "kron/queue/queue_service.h"
#include "kron/queue/redis_queue_rig.h"

// What a queue in Redis does beyond the contract of all queues (conformance_test.cc): many queues on one server, and
// all that a server and the way to it can do to them.
namespace kron::testing {
namespace {

// A day in the life of a queue: every verb at least once, and what each answered, without tokens.
class Scenario {
 public:
  explicit Scenario(RedisRig& rig) : rig_(rig) {}

  std::string run() {
    submit_tasks();
    end_attempts();
    change_tasks();
    read_tasks();
    return told_;
  }

 private:
  template <class T>
  void tell(std::string_view verb, const Result<T>& answer, auto text) {
    told_ += std::string(verb) + " " +
             (answer ? std::string(text(*answer)) : std::string(name_of(answer.error().code))) + "\n";
  }
  template <class T>
  void tell_word(std::string_view verb, const Result<T>& answer) {
    tell(verb, answer, [](const T& word) { return name_of(word); });
  }
  std::vector<Lease> lease(std::size_t count, bool starts) {
    const auto leases = rig_.queue().lease({.worker = "w", .count = count, .starts = starts});
    tell("lease", leases, [](const std::vector<Lease>& all) {
      std::string ids;
      for (const Lease& lease : all) ids += lease.task_id + "/" + std::to_string(lease.attempt) + " ";
      return ids;
    });
    return leases ? *leases : std::vector<Lease>();
  }

  void submit_tasks() {
    NewTask keyed = task_named("keyed");
    keyed.unique_key = "k";
    NewTask other = task_named("other");
    other.unique_key = "k";
    NewTask later = task_named("later");
    later.run_at = kQueueStart + Seconds(30);
    const std::vector<NewTask> tasks{keyed, other,           task_named("a"), task_named("a"), task_named("a", "SMS"),
                                     later, task_named("b"), task_named("c")};
    for (const auto& answer : rig_.queue().submit(tasks)) {
      tell("submit", answer, [](const SubmitAnswer& one) { return std::string(name_of(one.outcome)) + one.task_id; });
    }
  }

  void end_attempts() {
    const auto leases = lease(2, false);
    ASSERT_EQ(leases.size(), 2U);
    tell_word("start", rig_.queue().start(leases[0].key));
    tell_word("start", rig_.queue().start(leases[1].key));
    tell_word("renew", rig_.queue().renew(leases[0].key));
    const auto committed =
        rig_.queue().commit({.key = leases[0].key,
                             .result = "done",
                             .follow_ups = {task_named("child"), task_named("b"), task_named("child")},
                             .files = {{"out/x", "bytes"}}});
    tell("commit", committed, [](const CommitAnswer& answer) {
      std::string text(name_of(answer.outcome));
      for (const SubmitAnswer& one : answer.follow_ups) text += " " + std::string(name_of(one.outcome)) + one.task_id;
      return text;
    });
    const auto again = rig_.queue().commit({.key = leases[0].key, .result = "again"});
    tell("commit", again, [](const CommitAnswer& answer) { return name_of(answer.outcome); });
    const auto failed = rig_.queue().fail_attempt({leases[1].key, "no\tluck\n"});
    tell("fail", failed, [](const FailAnswer& answer) {
      return std::string(name_of(answer.outcome)) + " " + std::string(name_of(answer.state));
    });
    tell("fail", rig_.queue().fail_attempt({leases[1].key, "again"}),
         [](const FailAnswer& answer) { return name_of(answer.outcome); });
  }

  void change_tasks() {
    lease(2, true);
    tell_word("cancel", rig_.queue().cancel("b"));
    tell_word("cancel", rig_.queue().cancel("b"));
    tell_word("retry", rig_.queue().retry("b", 2));
    tell_word("retry", rig_.queue().retry("b", 2));
    rig_.clock.advance(Seconds(100));
    const auto expired = rig_.queue().expire();
    tell("expire", expired, [](const std::vector<Expired>& all) {
      std::string text;
      for (const Expired& one : all)
        text += one.task_id + " " + one.reason + " " + std::string(name_of(one.state)) + ",";
      return text;
    });
    lease(10, true);
  }

  void read_tasks() {
    tell("list", rig_.queue().list({}), [](const std::vector<Task>& all) {
      std::string text;
      for (const Task& task : all) {
        text += task.spec.id + " " + std::string(name_of(state_of(task))) + " " +
                std::to_string(task.executions.size()) + " " + task.result + ",";
      }
      return text;
    });
    tell("counts", rig_.queue().counts(), [](const TaskCounts& counts) {
      return std::to_string(counts.pending) + " " + std::to_string(counts.running);
    });
    const auto summary = rig_.queue().summary();
    tell("summary", summary, [](const TaskSummary& all) {
      std::string text;
      for (const auto& list : {all.types, all.ended, all.cancelled}) {
        for (const auto& one : list)
          text += one.type + std::string(name_of(one.state)) + std::to_string(one.count) + " ";
        text += "; ";
      }
      return text;
    });
    tell("effects", rig_.queue().effects_of("keyed"), [](const std::vector<StagedFile>& files) {
      std::string text;
      for (const StagedFile& file : files) text += file.path + "=" + file.bytes + " ";
      return text;
    });
    tell("prune", rig_.queue().prune({.over_before = kQueueStart + Seconds(1000)}),
         [](std::size_t count) { return std::to_string(count); });
    tell("limit", rig_.queue().set_limit("MAIL", 3) ? Result<int>(1) : fail(Code::unreachable, ""),
         [](int) { return "set"; });
    tell("get", rig_.queue().get("later"), [](const Task& task) { return std::string(name_of(state_of(task))); });
  }

  RedisRig& rig_;
  std::string told_;
};

TEST(RedisQueue, WhateverIsLostOnTheWayEveryVerbAnswersAsIfItWereAskedOnce) {
  RedisRig undisturbed;
  const std::string told = Scenario(undisturbed).run();
  EXPECT_NE(told.find("commit accepted acceptedchild already_knownb already_knownchild"), std::string::npos) << told;
  const std::uint64_t commands = undisturbed.redis.commands();
  using How = RedisFate::How;
  for (const How how : {How::request_lost, How::reply_lost, How::not_sent}) {
    for (std::uint64_t n = 0; n < commands; ++n) {
      RedisRig rig;
      rig.redis.plan(n, {.how = how});
      ASSERT_EQ(Scenario(rig).run(), told) << "the command number " << n << ", fate " << static_cast<int>(how);
    }
  }
}

TEST(RedisQueue, WhatIsExecutedOnceMoreLaterChangesNothing) {
  RedisRig undisturbed;
  const std::string told = Scenario(undisturbed).run();
  for (std::uint64_t n = 0; n < undisturbed.redis.commands(); ++n) {
    RedisRig rig;
    // The answer is lost, it is sent again, and the first copy comes even later.
    rig.redis.plan(n, {.how = RedisFate::How::request_lost, .repeated_after = 1});
    ASSERT_EQ(Scenario(rig).run(), told) << "the command number " << n;
  }
}

TEST(RedisQueue, AServerThatForgetsItsScriptsIsToldThemAgain) {
  RedisRig undisturbed;
  const std::string told = Scenario(undisturbed).run();
  RedisRig rig;
  for (int i = 0; i < 3; ++i) {
    rig.redis.flush_scripts();
    EXPECT_EQ(rig.submit(task_named("t" + std::to_string(i))), SubmitOutcome::accepted);
    rig.redis.flush_scripts();
    EXPECT_EQ(rig.lease({}).size(), 1U);
  }
  RedisFaults faults;
  faults.scripts_flushed = 0.01;
  RedisRig other;
  other.redis.set_faults(faults);
  EXPECT_EQ(Scenario(other).run(), told);
}

TEST(RedisQueue, WhileRedisIsAwayEveryVerbIsAnsweredAtOnceAndLaterItGoesOn) {
  RedisRig rig;
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one();
  rig.redis.refuse_connections(Error{Code::unreachable, "nobody there"});
  EXPECT_EQ(rig.queue().submit(task_named("b")).error().code, Code::unreachable);
  EXPECT_EQ(rig.queue().lease({.worker = "w"}).error().code, Code::unreachable);
  EXPECT_EQ(rig.queue().start(lease.key).error().code, Code::unreachable);
  EXPECT_EQ(rig.queue().renew(lease.key).error().code, Code::unreachable);
  EXPECT_EQ(rig.queue().commit({.key = lease.key, .result = ""}).error().code, Code::unreachable);
  EXPECT_EQ(rig.queue().fail_attempt({lease.key, ""}).error().code, Code::unreachable);
  EXPECT_EQ(rig.queue().cancel("a").error().code, Code::unreachable);
  EXPECT_EQ(rig.queue().retry("a", 1).error().code, Code::unreachable);
  EXPECT_EQ(rig.queue().expire().error().code, Code::unreachable);
  EXPECT_EQ(rig.queue().get("a").error().code, Code::unreachable);
  EXPECT_EQ(rig.queue().list({}).error().code, Code::unreachable);
  EXPECT_EQ(rig.queue().counts().error().code, Code::unreachable);
  EXPECT_EQ(rig.queue().summary().error().code, Code::unreachable);
  EXPECT_EQ(rig.queue().prune({.over_before = kQueueStart}).error().code, Code::unreachable);
  EXPECT_FALSE(rig.queue().has_stopped());
  rig.redis.refuse_connections(std::nullopt);
  EXPECT_EQ(rig.queue().renew(lease.key).error().code, Code::unreachable) << "it is not tried again at once";
  rig.clock.advance(Seconds(1));
  EXPECT_EQ(rig.commit(lease.key), LeaseOutcome::accepted);
}

TEST(RedisQueue, AFullRedisRefusesAndNothingIsDoneByHalf) {
  RedisRig rig;
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one();
  rig.redis.set_out_of_memory(true);
  EXPECT_EQ(rig.queue().submit(task_named("b")).error().code, Code::io);
  const auto commit = rig.queue().commit({.key = lease.key, .result = "r", .follow_ups = {task_named("child")}});
  EXPECT_EQ(commit.error().code, Code::io);
  EXPECT_NE(commit.error().message.find("OOM"), std::string::npos) << commit.error().message;
  EXPECT_EQ(rig.state("a"), TaskState::running);
  EXPECT_EQ(rig.queue().get("child").error().code, Code::not_found);
  rig.redis.set_out_of_memory(false);
  EXPECT_EQ(rig.commit(lease.key), LeaseOutcome::accepted);
}

TEST(RedisQueue, AnyHostServesAnyWorkerAndFencesTheLateOnes) {
  RedisRig rig;
  const auto other = rig.another();
  rig.submit(task_named("a"));
  const Lease first = rig.lease_one("w1");
  EXPECT_EQ(other->renew(first.key), LeaseOutcome::accepted);
  rig.clock.advance(Seconds(60));
  EXPECT_EQ(other->expire().value().size(), 1U);
  EXPECT_EQ(rig.queue().expire().value().size(), 0U) << "each lease ends once";
  rig.clock.advance(Seconds(10));
  const Lease second = other->lease({.worker = "w2", .starts = true}).value().at(0);
  EXPECT_GT(second.key.token, first.key.token);
  EXPECT_EQ(rig.commit(first.key), LeaseOutcome::lease_lost);
  EXPECT_EQ(rig.commit(second.key), LeaseOutcome::accepted);
  EXPECT_EQ(other->commit({.key = first.key, .result = ""}).value().outcome, LeaseOutcome::duplicate);
}

TEST(RedisQueue, AServerThatLostItsLastWritesNeverGivesATokenTwice) {
  RedisRig rig;
  rig.redis.keep_log_of(100);
  rig.submit(task_named("a"));
  const Lease lost = rig.lease_one("w1");
  rig.redis.restart_without(1);  // the lease; the other server knows nothing of it
  rig.clock.advance(Nanoseconds(1'000'000));
  const Lease lease = rig.lease_one("w2");
  EXPECT_EQ(lease.task_id, "a");
  EXPECT_NE(lease.key.token, lost.key.token);
  EXPECT_EQ(rig.queue().commit({.key = lost.key, .result = "stale"}).error().code, Code::not_found);
  EXPECT_EQ(rig.commit(lease.key, "good"), LeaseOutcome::accepted);
  EXPECT_EQ(rig.queue().get("a")->result, "good");
}

TEST(RedisQueue, ACommitThatTheServerLostCanBeRepeatedAndIsOne) {
  RedisRig rig;
  rig.redis.keep_log_of(100);
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one("w1");
  const CommitRequest commit{.key = lease.key, .result = "r", .follow_ups = {task_named("child")}};
  EXPECT_EQ(rig.queue().commit(commit).value().outcome, LeaseOutcome::accepted);
  rig.redis.restart_without(1);
  EXPECT_EQ(rig.state("a"), TaskState::running);
  EXPECT_EQ(rig.queue().get("child").error().code, Code::not_found) << "all of it, or nothing";
  EXPECT_EQ(rig.queue().commit(commit).value().outcome, LeaseOutcome::accepted);
  EXPECT_EQ(rig.queue().commit(commit).value().outcome, LeaseOutcome::duplicate);
}

TEST(RedisQueue, AServerThatComesBackEmptyHasNoTasksAndTakesNewOnes) {
  RedisRig rig;
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one();
  rig.redis.restart_empty();
  EXPECT_EQ(rig.queue().commit({.key = lease.key, .result = ""}).error().code, Code::not_found);
  EXPECT_EQ(rig.queue().expire().value().size(), 0U);
  EXPECT_EQ(rig.queue().list({}).value().size(), 0U);
  EXPECT_EQ(rig.queue().counts().value(), TaskCounts{});
  rig.clock.advance(Nanoseconds(1'000'000));
  EXPECT_EQ(rig.submit(task_named("a")), SubmitOutcome::accepted);
  EXPECT_GT(rig.lease_one().key.token, lease.key.token);
}

TEST(RedisQueue, AServersClockThatIsSetAnHourOffLosesNothingAndCommitsNothingTwice) {
  for (const Seconds jump : {Seconds(3600), Seconds(-3600)}) {
    RedisRig rig;
    rig.submit(task_named("a"));
    const Lease lease = rig.lease_one();
    rig.server_ahead += jump;
    rig.submit(task_named("b"));
    EXPECT_EQ(rig.lease_one().task_id, "b") << "a new task waits for nothing";
    const bool is_forward = jump > Seconds(0);
    EXPECT_EQ(rig.queue().expire().value().size(), is_forward ? 1U : 0U);
    EXPECT_EQ(rig.commit(lease.key), is_forward ? LeaseOutcome::lease_lost : LeaseOutcome::accepted);
    rig.server_ahead -= jump;
    rig.submit(task_named("c"));
    const auto ids = rig.lease_ids({.worker = "w", .count = 10});
    EXPECT_TRUE(std::ranges::find(ids, "c") != ids.end());
    // The leases that were granted ahead end with their term, and back-offs of that time hold nothing up.
    rig.clock.advance(Seconds(60));
    ASSERT_TRUE(rig.queue().expire());
    rig.clock.advance(Seconds(20));
    for (const Lease& again : rig.lease({.worker = "w", .count = 10, .starts = true})) {
      EXPECT_EQ(rig.commit(again.key), LeaseOutcome::accepted);
    }
    for (const char* id : {"a", "b", "c"}) EXPECT_EQ(rig.state(id), TaskState::succeeded) << id;
  }
}

TEST(RedisQueue, ATaskWhoseKeyWasEvictedIsPassedOverAndTold) {
  RedisRig rig;
  for (const char* id : {"waits", "runs", "good"}) rig.submit(task_named(id));
  NewTask later = task_named("later");
  later.run_at = kQueueStart + Seconds(10);
  rig.submit(later);
  rig.execute({"DEL", rig.key("t:waits")});
  EXPECT_EQ(rig.lease_one().task_id, "runs");
  EXPECT_TRUE(rig.has_told_of("t:waits"));
  rig.execute({"DEL", rig.key("t:runs"), rig.key("t:later")});
  rig.clock.advance(Seconds(60));
  EXPECT_EQ(rig.queue().expire().value().size(), 0U);
  EXPECT_TRUE(rig.has_told_of("t:runs"));
  EXPECT_EQ(rig.lease_one().task_id, "good");
  EXPECT_TRUE(rig.has_told_of("t:later"));
  EXPECT_EQ(rig.queue().counts().value(), (TaskCounts{0, 1}));
  EXPECT_EQ(rig.submit(task_named("waits")), SubmitOutcome::accepted) << "its id is free";
}

TEST(RedisQueue, WhatAnIndexHasLostIsPutBack) {
  for (const char* name : {"ready:MAIL", "delayed", "leased", "pending", "running"}) {
    RedisRig rig;
    NewTask later = task_named("later");
    later.run_at = kQueueStart + Seconds(30);
    for (const NewTask& task : {task_named("runs"), task_named("waits"), later}) rig.submit(task);
    EXPECT_EQ(rig.lease_one().task_id, "runs");
    rig.execute({"DEL", rig.key(name)});
    rig.clock.advance(Seconds(60));
    ASSERT_TRUE(rig.queue().expire());
    rig.clock.advance(Seconds(100));
    ASSERT_TRUE(rig.queue().expire());
    EXPECT_EQ(rig.lease({.worker = "w", .count = 10}).size(), 3U) << name;
  }
}

TEST(RedisQueue, TheHolderOfAUniqueKeyThatIsGoneHoldsItNoMore) {
  RedisRig rig;
  NewTask first = task_named("a");
  first.unique_key = "k";
  rig.submit(first);
  rig.execute({"DEL", rig.key("t:a")});
  NewTask second = task_named("b");
  second.unique_key = "k";
  EXPECT_EQ(rig.submit(second), SubmitOutcome::accepted);
}

TEST(RedisQueue, AKeyOfAnotherTypeIsNamedAndNothingIsWritten) {
  for (const char* name : {"live", "delayed", "pending", "keys", "number"}) {
    RedisRig rig;
    rig.execute({"XADD", rig.key(name), "*", "a", "b"});
    const auto answer = rig.queue().submit(task_named("a"));
    ASSERT_FALSE(answer) << name;
    EXPECT_EQ(answer.error().code, Code::io);
    EXPECT_NE(answer.error().message.find(rig.key(name)), std::string::npos) << answer.error().message;
    EXPECT_EQ(rig.queue().get("a").error().code, Code::not_found) << name;
  }
  RedisRig rig;
  rig.execute({"SET", rig.key("t:a"), "x"});
  rig.execute({"SET", rig.key("ready:SMS"), "x"});
  const auto answers = rig.queue().submit(std::vector{task_named("a"), task_named("b"), task_named("c", "SMS")});
  EXPECT_NE(answers[0].error().message.find(rig.key("t:a")), std::string::npos);
  EXPECT_EQ(answers[1].value().outcome, SubmitOutcome::accepted);
  EXPECT_NE(answers[2].error().message.find(rig.key("ready:SMS")), std::string::npos);
  EXPECT_EQ(rig.lease_one().task_id, "b");
  EXPECT_EQ(rig.queue().get("a").error().code, Code::io);
}

TEST(RedisQueue, WhatBecomesReadyIsToldToOthersWhoMayWaitForIt) {
  RedisRig rig;
  const auto subscription = rig.redis.subscription();
  const std::string channel = rig.queue().keys().wake();
  ASSERT_TRUE(subscription->subscribe(std::span(&channel, 1), Nanoseconds(0)));
  const auto heard = [&] {
    std::string types;
    while (auto message = subscription->next(Nanoseconds(0)).value()) types += message->payload + " ";
    return types;
  };
  rig.submit(task_named("a"));
  EXPECT_EQ(heard(), "MAIL ");
  rig.submit(task_named("b"));
  EXPECT_EQ(heard(), "") << "who waited has been told";
  NewTask later = task_named("c", "SMS");
  later.run_at = kQueueStart + Seconds(10);
  rig.submit(later);
  EXPECT_EQ(heard(), "");
  ASSERT_TRUE(rig.queue().set_limit("MAIL", 1));
  EXPECT_EQ(heard(), "MAIL ");
  const Lease lease = rig.lease_one();
  EXPECT_TRUE(rig.lease({}).empty());
  ASSERT_TRUE(rig.queue().commit({.key = lease.key, .result = "", .follow_ups = {task_named("f", "FAX")}}));
  const std::string told = heard();
  EXPECT_NE(told.find("MAIL"), std::string::npos) << "there is room";
  EXPECT_NE(told.find("FAX"), std::string::npos);
  ASSERT_TRUE(rig.queue().fail_attempt({rig.lease_one().key, "x", true, false}));
  EXPECT_EQ(heard(), "MAIL ");
}

TEST(RedisQueue, LimitsLiveInRedisAndHoldForAllHosts) {
  RedisRig rig;
  const auto other = rig.another();
  for (const char* id : {"a", "b", "c"}) rig.submit(task_named(id));
  ASSERT_TRUE(other->set_limit("MAIL", 1));
  EXPECT_EQ(rig.queue().limits().value(), (std::vector<std::pair<std::string, int>>{{"MAIL", 1}}));
  EXPECT_EQ(rig.lease({.worker = "w", .count = 10}).size(), 1U);
  EXPECT_EQ(other->lease({.worker = "w"}).value().size(), 0U);
  ASSERT_TRUE(other->set_limit("MAIL", 0));
  EXPECT_EQ(rig.lease({}).size(), 0U);
  ASSERT_TRUE(other->set_limit("MAIL", std::nullopt));
  EXPECT_EQ(rig.lease({.worker = "w", .count = 10}).size(), 2U);
  EXPECT_EQ(other->set_limit("no type", 1).error().code, Code::invalid);
  EXPECT_EQ(other->set_limit("MAIL", -1).error().code, Code::invalid);
  EXPECT_TRUE(other->set_limit("MAIL", kMostRedisLimit));
  EXPECT_EQ(other->set_limit("MAIL", kMostRedisLimit + 1).error().code, Code::invalid);
  rig.execute({"HSET", rig.key("limits"), "MAIL", "many"});
  EXPECT_TRUE(rig.queue().limits().value().empty());
  EXPECT_TRUE(rig.has_told_of("limits"));
}

TEST(RedisQueue, StagedFilesAreKeptUpToTheirLimit) {
  RedisRig rig;
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one();
  CommitRequest commit{.key = lease.key, .result = ""};
  commit.files = {{"one", std::string(kMostRedisStagedBytes, 'x')}, {"two", "y"}};
  const auto refused = rig.queue().commit(commit);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_NE(refused.error().message.find("shared storage"), std::string::npos);
  EXPECT_EQ(rig.state("a"), TaskState::running);
  commit.files[1].bytes.clear();
  EXPECT_EQ(rig.queue().commit(commit).value().outcome, LeaseOutcome::accepted);
  EXPECT_EQ(rig.queue().effects_of("a").value().size(), 2U);
}

TEST(RedisQueue, OneAnswerCarriesNoMoreThanItsBytesAndAtLeastOneLease) {
  RedisRig rig;
  const std::string half = "\"" + std::string(kMostPayloadBytes - 2, 'x') + "\"";
  for (int i = 0; i < 10; ++i) rig.submit(task_named("t" + std::to_string(i), "MAIL", half));
  const std::size_t most = kMostRedisLeaseBytes / kMostPayloadBytes;
  EXPECT_EQ(rig.lease({.worker = "w", .count = 10}).size(), most);
  EXPECT_EQ(rig.lease({.worker = "w", .count = 10}).size(), 10 - most);
}

TEST(RedisQueue, ManyThatArriveTogetherGoTogether) {
  RedisRig rig;
  std::vector<NewTask> tasks;
  for (int i = 0; i < 300; ++i) tasks.push_back(task_named("t" + std::to_string(i)));
  rig.submit(task_named("first"));
  const std::uint64_t before = rig.redis.commands("EVALSHA");
  for (const auto& answer : rig.queue().submit(tasks)) EXPECT_TRUE(answer);
  EXPECT_LE(rig.redis.commands("EVALSHA") - before, 5U);
  const std::vector<LeaseRequest> requests(100, LeaseRequest{.worker = "w", .count = 3, .starts = true});
  std::vector<CommitRequest> commits;
  for (const auto& leases : rig.queue().lease(requests)) {
    ASSERT_EQ(leases.value().size(), 3U);
    for (const Lease& lease : *leases) commits.push_back({.key = lease.key, .result = "r"});
  }
  EXPECT_LE(rig.redis.commands("EVALSHA") - before, 6U);
  for (const auto& answer : rig.queue().commit(commits)) EXPECT_EQ(answer.value().outcome, LeaseOutcome::accepted);
  EXPECT_LE(rig.redis.commands("EVALSHA") - before, 11U);
  EXPECT_EQ(rig.queue().counts().value(), (TaskCounts{1, 0}));
}

// Counts pipelines.
class CountingConnection : public RedisConnection {
 public:
  CountingConnection(std::unique_ptr<RedisConnection> connection, int& calls)
      : connection_(std::move(connection)), calls_(calls) {}
  Status connect(Nanoseconds timeout) override { return connection_->connect(timeout); }
  bool is_connected() const override { return connection_->is_connected(); }
  void close() override { connection_->close(); }
  std::vector<RedisReply> call(std::span<const RedisCommand> commands, Nanoseconds timeout) override {
    ++calls_;
    return connection_->call(commands, timeout);
  }

 private:
  std::unique_ptr<RedisConnection> connection_;
  int& calls_;
};

TEST(RedisQueue, WhatArrivesTogetherOfWhateverKindMakesOneTrip) {
  RedisRig rig;
  int calls = 0;
  const auto open = [&](bool) {
    auto connection = std::make_unique<CountingConnection>(rig.redis.connection(), calls);
    return OpenedQueue{std::make_unique<RedisQueue>(std::move(connection), rig.clock, rig.log, redis_options({}))};
  };
  QueueService service(open, rig.clock, rig.log, {.place = "Redis"});
  Questions first;
  first.opens.push_back({{}, [](Status) {}});
  first.gets.push_back({"nobody", [](auto) {}});  // it is connected, and has its scripts
  service.take(std::move(first));
  service.work();
  for (const char* id : {"starts", "renews", "commits"}) rig.submit(task_named(id));
  const auto held = rig.lease({.worker = "w", .count = 3, .starts = true});
  ASSERT_EQ(held.size(), 3U);

  std::string told;
  Questions questions;
  questions.submissions.push_back({{task_named("new"), task_named("../bad")}, [&](auto answers) {
                                     told += std::string(name_of(answers.at(0)->outcome)) + " " +
                                             std::string(name_of(answers.at(1).error().code)) + ",";
                                   }});
  questions.starts.push_back({held[0].key, [&](auto answer) { told += name_of(*answer); }});
  questions.renewals.push_back({held[1].key, [&](auto answer) { told += name_of(*answer); }});
  questions.commits.push_back({{.key = held[2].key, .result = "r", .follow_ups = {task_named("child")}},
                               [&](auto answer) { told += name_of(answer->outcome); }});
  for (int worker = 1; worker <= 3; ++worker) {
    questions.leases.push_back({static_cast<std::uint64_t>(worker),
                                {.worker = "w" + std::to_string(worker)},
                                Nanoseconds(Seconds(30)),
                                [&, worker](auto leases) {
                                  told += "," + std::to_string(worker) + leases->at(0).task_id;
                                  return true;
                                }});
  }
  service.take(std::move(questions));
  calls = 0;
  service.work();
  EXPECT_EQ(told, "accepted invalid,acceptedacceptedaccepted,1new,2child") << "and the third waits";
  EXPECT_EQ(calls, 1);
  service.work();
  rig.clock.advance(Seconds(30));
  told.clear();
  Questions last;
  last.submissions.push_back({{task_named("last")}, [](auto) {}});
  service.take(std::move(last));
  service.work();
  EXPECT_EQ(told, ",3last");
  service.end();
}

// Does something between the reading of tasks and the writing of what was judged by it.
class MeddlingConnection : public RedisConnection {
 public:
  MeddlingConnection(std::unique_ptr<RedisConnection> connection, std::string verb, std::function<void()> meddle)
      : connection_(std::move(connection)), verb_(std::move(verb)), meddle_(std::move(meddle)) {}
  Status connect(Nanoseconds timeout) override { return connection_->connect(timeout); }
  bool is_connected() const override { return connection_->is_connected(); }
  void close() override { connection_->close(); }
  std::vector<RedisReply> call(std::span<const RedisCommand> commands, Nanoseconds timeout) override {
    const bool settles = commands.front().size() > 7 && commands.front()[7] == verb_;
    if (settles && meddle_) std::exchange(meddle_, nullptr)();
    return connection_->call(commands, timeout);
  }

 private:
  std::unique_ptr<RedisConnection> connection_;
  std::string verb_;
  std::function<void()> meddle_;
};

TEST(RedisQueue, WhoFailsAnAttemptThatRunsOutMeanwhileIsTooLate) {
  RedisRig rig;
  bool has_meddled = false;
  RedisQueue queue(std::make_unique<MeddlingConnection>(rig.redis.connection(), "fail",
                                                        [&] {
                                                          has_meddled = true;
                                                          rig.clock.advance(Seconds(60));
                                                        }),
                   rig.clock, rig.log, redis_options({}));
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one();
  EXPECT_EQ(queue.fail_attempt({lease.key, "no"}).value().outcome, LeaseOutcome::lease_lost);
  EXPECT_TRUE(has_meddled);
  EXPECT_EQ(rig.state("a"), TaskState::running) << "until its end is seen to";
}

TEST(RedisQueue, ALeaseThatHasNotEndedWhenItsEndIsWrittenGoesOn) {
  RedisRig rig;
  bool has_meddled = false;
  RedisQueue queue(std::make_unique<MeddlingConnection>(rig.redis.connection(), "expire",
                                                        [&] {
                                                          has_meddled = true;
                                                          rig.server_ahead -= Seconds(30);  // it is set
                                                        }),
                   rig.clock, rig.log, redis_options({}));
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one();
  rig.clock.advance(Seconds(61));
  EXPECT_TRUE(queue.expire().value().empty());
  EXPECT_TRUE(has_meddled);
  EXPECT_EQ(rig.commit(lease.key), LeaseOutcome::accepted);
}

TEST(RedisQueue, AUniqueKeyIsForgottenWithItsTask) {
  RedisRig rig;
  NewTask keyed = task_named("a");
  keyed.unique_key = "k";
  rig.submit(keyed);
  EXPECT_EQ(rig.execute({"HGET", rig.key("keys"), "k"}).text, "a");
  EXPECT_EQ(rig.commit(rig.lease_one().key), LeaseOutcome::accepted);
  EXPECT_EQ(rig.execute({"EXISTS", rig.key("keys")}).integer, 0);
}

TEST(RedisQueue, ManyThatAreCancelledOrRetriedAreReadTogetherAndWrittenTogether) {
  RedisRig rig;
  int calls = 0;
  RedisQueue queue(std::make_unique<CountingConnection>(rig.redis.connection(), calls), rig.clock, rig.log,
                   redis_options({}));
  std::vector<std::string> ids;
  std::vector<RetryRequest> retries;
  for (int i = 0; i < 100; ++i) {
    ids.push_back("t" + std::to_string(i));
    retries.push_back({ids.back(), 1});
    rig.submit(task_named(ids.back()));
  }
  EXPECT_TRUE(queue.counts());  // it is connected, and has its scripts
  calls = 0;
  for (const auto& answer : queue.cancel_all(ids)) EXPECT_EQ(answer, CancelOutcome::cancelled);
  EXPECT_EQ(calls, 2);
  for (const auto& answer : queue.retry_all(retries)) EXPECT_EQ(answer, RetryOutcome::retried);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(queue.counts().value(), (TaskCounts{100, 0}));
}

TEST(RedisQueue, ItLooksAgainEverySoOftenThoughNobodyTellsIt) {
  RedisRig rig;
  RedisQueueOptions options = redis_options({});
  options.looks_every = std::chrono::seconds(1);
  RedisQueue queue(rig.redis.connection(), rig.clock, rig.log, options);
  EXPECT_EQ(queue.next_ready(), kQueueStart + Seconds(1));
  EXPECT_EQ(queue.next_expiry(), Nanoseconds(Seconds(1)));
  rig.clock.advance(Seconds(1));
  ASSERT_TRUE(queue.lease({.worker = "w"}));
  ASSERT_TRUE(queue.expire());
  EXPECT_EQ(queue.next_ready(), kQueueStart + Seconds(2));
  EXPECT_EQ(queue.next_expiry(), Nanoseconds(Seconds(2)));
  rig.clock.jump(Seconds(-3600));
  EXPECT_LE(queue.next_ready(), now(rig.clock) + Seconds(1)) << "a clock that was set back holds nothing up";
}

}  // namespace
}  // namespace kron::testing
