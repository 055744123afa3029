#include <gtest/gtest.h>

#include "kron/queue/redis_queue_rig.h"
#include "kron/queue/redis_task.h"
#include "kron/testing/property.h"

// Whatever stands in Redis, nothing crashes, hangs or believes it; and what is good beside it is served.
namespace kron::testing {
namespace {

const std::vector<std::string> kOddTexts{"",
                                         "x",
                                         "-1",
                                         "0",
                                         "1.5",
                                         "9007199254740993",
                                         "99999999999999999999",
                                         "nan",
                                         "inf",
                                         "P",
                                         "L",
                                         "R",
                                         "S",
                                         "F",
                                         "1\t2\t3\n",
                                         "\xff\xfe",
                                         "null",
                                         "{",
                                         "1767690930",
                                         std::string(70'000, 'x'),
                                         std::string("\0a", 2)};
const std::vector<std::string> kFieldNames{"s", "y", "d", "p", "r", "m", "b", "o", "k", "c", "u", "q", "i",
                                           "n", "x", "t", "w", "h", "T", "e", "a", "l", "g", "R", "F"};
const std::vector<std::string> kKeyNames{"t:a",     "t:b",       "t:c",    "ready:MAIL", "delayed", "leased",
                                         "live",    "succeeded", "failed", "over",       "keys",    "pending",
                                         "running", "limits",    "number", "effects:a"};

void spoil_a_key(RedisRig& rig) {
  const std::string key = rig.key(*rc::gen::elementOf(kKeyNames));
  const std::string text = *rc::gen::elementOf(kOddTexts);
  const std::string id = *rc::gen::element<std::string>("a", "b", "c", "nobody", "../x", "");
  switch (*rc::gen::inRange(0, 9)) {
    case 0:
      rig.execute({"DEL", key});
      break;
    case 1:
      rig.execute({"DEL", key});
      rig.execute({"SET", key, text});
      break;
    case 2:
      rig.execute({"DEL", key});
      rig.execute({"RPUSH", key, text});
      break;
    case 3:
      rig.execute({"ZADD", key,
                   *rc::gen::element<std::string>("0", "-inf", "inf", "1767690000", "1e17", "99999999999999984",
                                                  "-99999999999999984"),
                   id});
      break;
    case 4:
      rig.execute({"ZADD", rig.key("ready:MAIL"), "0", text.substr(0, 100) + id});
      break;
    case 5:
      rig.execute({"HSET", key, *rc::gen::elementOf(kOddTexts), text});
      break;
    default:
      rig.execute({"HSET", rig.key("t:" + id), *rc::gen::elementOf(kFieldNames), text});
  }
}

// Every verb; the answers are not looked at, but for what an error must not be.
void use_every_verb(RedisRig& rig, const std::vector<Lease>& held) {
  RedisQueue& queue = rig.queue();
  const auto look = [](const auto& answer) {
    if (answer) return;
    RC_ASSERT(answer.error().code != Code::internal);
    RC_ASSERT(!answer.error().message.empty());
  };
  look(queue.submit(task_named(*rc::gen::element<std::string>("a", "b", "c", "d"))));
  look(queue.lease({.worker = "w", .count = 3, .starts = true}));
  for (const Lease& lease : held) {
    look(queue.start(lease.key));
    look(queue.renew(lease.key));
    look(queue.fail_attempt({lease.key, "x"}));
    look(queue.commit({.key = lease.key, .result = "r", .follow_ups = {task_named("f")}, .files = {{"x", "y"}}}));
  }
  for (const char* id : {"a", "b", "c", "nobody"}) {
    look(queue.cancel(id));
    look(queue.retry(id, 1));
    look(queue.get(id));
    look(queue.effects_of(id));
  }
  rig.clock.advance(Seconds(61));
  look(queue.expire());
  look(queue.list({}));
  look(queue.list({.state = TaskState::failed}));
  look(queue.counts());
  look(queue.summary());
  look(queue.limits());
  look(queue.prune({.over_before = kQueueStart + Seconds(10)}));
  queue.next_ready();
  queue.next_expiry();
}

TEST(RedisContents, WhateverStandsThereNothingCrashes) {
  for_all(300, [] {
    RedisRig rig;
    for (const char* id : {"a", "b", "c"}) RC_ASSERT(rig.queue().submit(task_named(id)).has_value());
    const auto held = rig.queue().lease({.worker = "w", .count = 2, .starts = true}).value();
    const int spoilt = *rc::gen::inRange(1, 6);
    for (int i = 0; i < spoilt; ++i) spoil_a_key(rig);
    use_every_verb(rig, held);
    use_every_verb(rig, held);
  });
}

TEST(RedisContents, ATaskThatCannotBeReadIsNamedAndTheOthersAreServed) {
  for (const std::string& field : kFieldNames) {
    RedisRig rig;
    rig.submit(task_named("bad"));
    rig.submit(task_named("good"));
    rig.execute({"HSET", rig.key("t:bad"), field, "\xff"});
    const auto task = rig.queue().get("bad");
    if (!task) {
      EXPECT_EQ(task.error().code, Code::io) << field;
      EXPECT_NE(task.error().message.find(rig.key("t:bad")), std::string::npos) << task.error().message;
    }
    const auto all = rig.queue().list({}).value();
    EXPECT_EQ(all.back().spec.id, "good");
    auto ids = rig.lease_ids({.worker = "w", .count = 5});
    EXPECT_EQ(ids.empty() ? "" : ids.back(), "good") << field;
    // It is told of when it is read, or it is a task all the same.
    EXPECT_TRUE(task || rig.has_told_of("t:bad")) << field;
  }
}

TEST(RedisContents, ATaskIsReadAsItWasWritten) {
  for_all(100, [] {
    RedisRig rig;
    NewTask task = task_named("a", "MAIL", R"({"x":[1,2]})");
    task.priority = *rc::gen::inRange(-kMostPriority, kMostPriority + 1);
    task.retry = {*rc::gen::inRange(2, 10), Seconds(*rc::gen::inRange(0, 100)), Seconds(*rc::gen::inRange(0, 10'000))};
    if (*rc::gen::arbitrary<bool>()) task.run_at = kQueueStart - Seconds(*rc::gen::inRange(0, 1000));
    if (*rc::gen::arbitrary<bool>()) task.timeout = Seconds(*rc::gen::inRange(10, 1000));
    if (*rc::gen::arbitrary<bool>()) task.unique_key = "k \"\\";
    MemoryRig memory;
    const std::string reason = *rc::gen::element<std::string>("x", "tab\tand\nnewline \\ \\n", "", "ü");
    const std::string worker = *rc::gen::element<std::string>("w", "häns \\t", "a b");
    for (QueueRig* one : std::initializer_list<QueueRig*>{&rig, &memory}) {
      RC_ASSERT(one->submit(task) == SubmitOutcome::accepted);
      const Lease lease = one->lease_one(worker);
      one->clock.advance(Seconds(3));
      RC_ASSERT(one->queue().fail_attempt({lease.key, reason}).has_value());
      one->clock.advance(Seconds(100'000));
      const Lease second = one->lease_one(worker);
      one->clock.advance(Seconds(3));
      RC_ASSERT(one->commit(second.key, "result") == LeaseOutcome::accepted);
    }
    Task mine = rig.queue().get("a").value();
    Task model = memory.queue().get("a").value();
    // Numbers are the server's.
    mine.sequence = model.sequence;
    for (std::size_t i = 0; i < mine.executions.size(); ++i) {
      mine.executions[i].token = model.executions[i].token;
      mine.executions[i].exec_id = model.executions[i].exec_id;
    }
    RC_ASSERT(mine == model);
  });
}

}  // namespace
}  // namespace kron::testing
