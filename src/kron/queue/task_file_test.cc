#include "kron/queue/task_file.h"

#include <gtest/gtest.h>

#include "kron/json/document.h"
#include "kron/queue/opaque_json.h"
#include "kron/queue/queue_rig.h"
#include "kron/queue/transitions.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

using testing::for_all;
using testing::kQueueStart;
using testing::task_named;

// The example of seed 002, as it stands there.
constexpr std::string_view kSeedExample = R"({
  "taskId": "task-123",
  "state": "PENDING",
  "createdAt": "2026-01-06T10:15:30Z",
  "payload": {
    "type": "EMAIL_SEND",
    "data": {
      "to": "user@example.com"
    }
  }
}
)";

TEST(TaskFile, ReadsTheExampleOfTheSeed) {
  const auto task = parse_task(kSeedExample, "task-123");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->spec.id, "task-123");
  EXPECT_EQ(task->spec.type, "EMAIL_SEND");
  EXPECT_EQ(task->spec.data, R"({"to":"user@example.com"})");
  EXPECT_EQ(task->created_at, kQueueStart + Seconds(3600));
  EXPECT_EQ(state_of(*task), TaskState::pending);
}

TEST(TaskFile, WhatTheSeedCompletedIsDone) {
  std::string text(kSeedExample);
  text.replace(text.find("PENDING"), 7, "COMPLETED");
  const auto task = parse_task(text, "task-123");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(state_of(*task), TaskState::succeeded);
  EXPECT_EQ(parse_task(task_text(*task), "task-123"), *task);
}

TEST(TaskFile, HasTheMembersOfTheSeedAndTheContract) {
  NewTask spec = task_named("task-123", "EMAIL_SEND", R"({"to":"user@example.com"})");
  spec.unique_key = "k";
  Task task = new_task(spec, 4, kQueueStart);
  task = leased(task, {"w1", 9, Seconds(60), Holder::outside}, kQueueStart).value();
  task = started(task, kQueueStart + Seconds(1)).value();
  task = committed(task, {"ok", {task_named("child")}, "staging/task-123.9"}, kQueueStart + Seconds(2)).value();
  EXPECT_EQ(
      task_text(task),
      R"({"taskId":"task-123","state":"RUNNING","createdAt":"2026-01-06T09:15:30Z","updatedAt":"2026-01-06T09:15:32Z",)"
      R"("sequence":4,"attempt":1,"priority":0,"maxAttempts":5,"backoff":"10s","maxBackoff":"1h","uniqueKey":"k",)"
      R"("executions":[{"exec_id":"task-123.9","job_id":"task-123","attempt":1,"lease_owner":"w1",)"
      R"("lease_expires_at":"2026-01-06T09:16:30Z","token":9,"status":"COMMITTED","lease_term":"1m",)"
      R"("leased_at":"2026-01-06T09:15:30Z","started_at":"2026-01-06T09:15:31Z",)"
      R"("committed_at":"2026-01-06T09:15:32Z"}],"result":"ok","staging":"staging/task-123.9","followUps":[)"
      R"({"taskId":"child","priority":0,"maxAttempts":5,"backoff":"10s","maxBackoff":"1h",)"
      R"("payload":{"type":"MAIL","data":{"n":1}}}],)"
      R"("payload":{"type":"EMAIL_SEND","data":{"to":"user@example.com"}}})"
      "\n");
  task = finished(task, kQueueStart + Seconds(3)).value();
  EXPECT_NE(task_text(task).find(R"("state":"COMPLETED","outcome":"SUCCEEDED")"), std::string::npos);
}

TEST(TaskFile, KeepsThePayloadAsItWasSpelled) {
  for (const std::string data : {R"(1.0)", R"(1e5)", R"("\u00e9\/")", R"({"b":1,"a":[{},[],"}"],"c":-0.10})", "null",
                                 R"("a \" b ] }")", "[]", "true"}) {
    const auto spec = checked(task_named("a", "T", data));
    ASSERT_TRUE(spec) << data << ": " << spec.error().message;
    Task task = new_task(*spec, 1, kQueueStart);
    task.follow_ups = {*spec};
    const auto read = parse_task(task_text(task), "a");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->spec.data, data);
    EXPECT_EQ(read->follow_ups.at(0).data, data);
  }
}

TEST(TaskFile, RefusesWhatIsNoTask) {
  const std::string good = task_text(new_task(task_named("a"), 1, kQueueStart));
  ASSERT_TRUE(parse_task(good, "a"));
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string bad[] = {
      "",
      "[]",
      "nul",
      std::string(good.size(), '\0'),
      good.substr(0, good.size() / 2),
      with(R"("taskId":"a")", R"("taskId":"b")"),
      with(R"("taskId":"a",)", ""),
      with("PENDING", "WAITING"),
      with(R"("priority":0)", R"("priority":101)"),
      with(R"("priority":0)", R"("priority":"high")"),
      with(R"("maxAttempts":5)", R"("maxAttempts":0)"),
      with(R"("backoff":"10s")", R"("backoff":"ten")"),
      with(R"("createdAt":"2026)", R"("createdAt":"x026)"),
      with(R"("executions":[])", R"("executions":[{}])"),
      with(R"("executions":[])", R"("executions":[7])"),
      with(R"("executions":[])", R"("executions":[{"exec_id":"x.1","token":1,"status":"DONE"}])"),
      with(R"("executions":[])", R"("executions":[],"followUps":[{"taskId":"../x"}])"),
      with(R"("type":"MAIL")", R"("type":"../MAIL")"),
      with(R"("payload":)", R"("payloads":)"),
      with(R"("n":1)", R"("n":tr ue)"),
      with(R"("n":1)", R"("n":1,"n":2)"),
  };
  for (const std::string& text : bad) {
    const auto task = parse_task(text, "a");
    ASSERT_FALSE(task) << text;
    EXPECT_EQ(task.error().code, Code::invalid) << text;
  }
}

TEST(TaskFile, WhateverIsWrittenReadsBackTheSame) {
  for_all(200, [] {
    const auto text = [] { return *rc::gen::container<std::string>(rc::gen::inRange('a', 'z')); };
    const auto number = [](int from, int to) { return *rc::gen::inRange(from, to); };
    NewTask spec = task_named("t" + text(), "T", R"({"k":")" + text() + R"("})");
    spec.priority = number(-100, 100);
    if (number(0, 2) == 1) spec.run_at = instant_of(number(0, 2'000'000'000));
    if (number(0, 2) == 1) spec.timeout = Seconds(number(1, 100000));
    spec.retry = {number(1, 1000), Seconds(number(0, 100000)), Seconds(number(0, 100000))};
    spec.unique_key = text();
    Task task = new_task(spec, static_cast<std::uint64_t>(number(0, 1 << 30)), instant_of(number(0, 2'000'000'000)));
    const int executions = number(0, 4);
    for (int i = 0; i < executions; ++i) {
      Execution e;
      e.token = static_cast<std::uint64_t>(number(0, 1 << 30));
      e.exec_id = exec_id_of(spec.id, e.token);
      e.attempt = i + 1;
      e.lease_owner = text();
      e.status = static_cast<ExecutionStatus>(number(0, 5));
      e.holder = static_cast<Holder>(number(0, 2));
      e.lease_term = Seconds(number(1, 1000));
      e.lease_expires_at = instant_of(number(0, 2'000'000'000));
      if (number(0, 2) == 1) e.started_at = instant_of(number(0, 2'000'000'000));
      if (number(0, 2) == 1) e.finished_at = instant_of(number(0, 2'000'000'000));
      e.final = number(0, 2) == 1;
      e.reason = text();
      task.executions.push_back(e);
    }
    task.result = text();
    if (number(0, 2) == 1) task.follow_ups.push_back(task_named("f" + text()));
    if (directory_of(task) == TaskDirectory::completed && task.executions.empty()) return;
    const auto read = parse_task(task_text(task), spec.id);
    RC_ASSERT(read.has_value());
    RC_ASSERT(*read == task);
  });
}

TEST(TaskFile, OnlyNamesOfTasksStandForTasks) {
  EXPECT_EQ(task_of_file_name("task-123.json"), "task-123");
  EXPECT_EQ(task_of_file_name("a.json.json"), "a.json");
  for (const char* name : {".tmp-a.json", "a", "a.json.corrupt.2026-01-06T09:15:30Z", ".json", "..json", "a b.json"}) {
    EXPECT_FALSE(task_of_file_name(name)) << name;
  }
}

TEST(TaskId, IsRefusedWithTheRule) {
  for (const std::string& id :
       {std::string(""), std::string("."), std::string(".."), std::string("../etc/passwd"), std::string("a/b"),
        std::string(".hidden"), std::string("-x"), std::string("_x"), std::string("a b"), std::string("a\0b", 3),
        std::string("é"), std::string(129, 'a'), std::string("a\n")}) {
    const Status status = check_task_id(id);
    ASSERT_FALSE(status) << id;
    EXPECT_EQ(status.error().code, Code::invalid);
    EXPECT_NE(status.error().message.find("letters, digits"), std::string::npos);
  }
  EXPECT_TRUE(check_task_id(std::string(128, 'a')));
  EXPECT_TRUE(check_task_id("A-1_b.c..d"));
}

TEST(TaskId, OfAScheduledPeriodIsTheSameForEveryRepetition) {
  const std::string id = scheduled_task_id("nightly report/é", "job-1", "2026-03-01T00:00:00Z");
  EXPECT_EQ(id, scheduled_task_id("nightly report/é", "job-1", "2026-03-01T00:00:00Z"));
  EXPECT_EQ(id.substr(0, 18), "nightly-report----");
  EXPECT_EQ(id.size(), 17U + 1 + 20);
  EXPECT_NE(id, scheduled_task_id("nightly report/é", "job-1", "2026-03-02T00:00:00Z"));
  EXPECT_TRUE(check_task_id(scheduled_task_id("", "x", "y")));
  EXPECT_TRUE(check_task_id(scheduled_task_id(".é", "x", "y")));
  EXPECT_TRUE(check_task_id(scheduled_task_id(std::string(500, 'x'), "x", "y")));
}

TEST(NewTask, IsRefusedBeyondTheLimits) {
  const auto refused = [](auto change) {
    NewTask task = task_named("a");
    change(task);
    const auto result = checked(task);
    return !result && result.error().code == Code::invalid;
  };
  EXPECT_TRUE(refused([](NewTask& t) { t.data = '"' + std::string(10'000'000, 'x') + '"'; }));
  EXPECT_TRUE(refused([](NewTask& t) { t.data = std::string(100'000, '[') + std::string(100'000, ']'); }));
  EXPECT_TRUE(refused([](NewTask& t) { t.data = "{"; }));
  EXPECT_TRUE(refused([](NewTask& t) { t.data = "1 2"; }));
  EXPECT_TRUE(refused([](NewTask& t) { t.data = "\"\xff\""; }));
  EXPECT_TRUE(refused([](NewTask& t) { t.type = ""; }));
  EXPECT_TRUE(refused([](NewTask& t) { t.type = std::string(65, 'T'); }));
  EXPECT_TRUE(refused([](NewTask& t) { t.priority = 101; }));
  EXPECT_TRUE(refused([](NewTask& t) { t.retry.max_attempts = 0; }));
  EXPECT_TRUE(refused([](NewTask& t) { t.retry.backoff = Seconds(-1); }));
  EXPECT_TRUE(refused([](NewTask& t) { t.timeout = Seconds(0); }));
  EXPECT_TRUE(refused([](NewTask& t) { t.run_at = instant_of(-1); }));
  EXPECT_TRUE(refused([](NewTask& t) { t.unique_key = std::string("a\0b", 3); }));
  EXPECT_FALSE(refused([](NewTask& t) { t.data = '"' + std::string(kMostPayloadBytes - 2, 'x') + '"'; }));
}

TEST(OpaqueJson, LosesOnlyBlanksBetweenTokens) {
  EXPECT_EQ(without_blanks(" { \"a b\" : [ 1 ,\t2 ]\r\n} "), R"({"a b":[1,2]})");
  EXPECT_EQ(without_blanks(R"("x \" y")"), R"("x \" y")");
  EXPECT_EQ(without_blanks("\"unfinished \\"), "\"unfinished \\");
}

TEST(OpaqueJson, FindsTheEndOfAValue) {
  const std::string_view json = R"({"a":[1,{"b":"]"}],"c":12,"d":"x","e":null})";
  EXPECT_EQ(value_at(json, 5), R"([1,{"b":"]"}])");
  EXPECT_EQ(value_at(json, json.find("12")), "12");
  EXPECT_EQ(value_at(json, json.find("\"x")), R"("x")");
  EXPECT_EQ(value_at(json, json.find("null")), "null");
  EXPECT_EQ(value_at(json, 0), json);
}

TEST(OpaqueJson, FindsTheValuesOfADocumentInItsText) {
  for (const std::string_view mark : {"", "\xEF\xBB\xBF"}) {
    const std::string json = std::string(mark) +
                             "{ \"a\" : [ 1 ,\n\t{ \"b\": \"]\\n\" } ] ,\n\n \"c\":-1.50e2 ,\"d\": \"x\",\r\n"
                             " \"e\"\n:\nnull\n}\n";
    const auto document = parse_json(json);
    ASSERT_TRUE(document) << document.error().message;
    JsonSource source(json);
    const auto text_of = [&](const char* key) { return source.text_of(*document->find(key)); };
    EXPECT_EQ(text_of("a"), "[ 1 ,\n\t{ \"b\": \"]\\n\" } ]");
    EXPECT_EQ(text_of("e"), "null");
    EXPECT_EQ(text_of("c"), "-1.50e2") << "further up again";
    EXPECT_EQ(text_of("d"), "\"x\"");
    EXPECT_EQ(source.text_of(*document), json.substr(mark.size(), json.size() - mark.size() - 1));
  }
}

TEST(OpaqueJson, KnowsHowDeepItIs) {
  EXPECT_EQ(depth_of("1"), 0U);
  EXPECT_EQ(depth_of(R"({"[[[":"}"})"), 1U);
  EXPECT_EQ(depth_of(R"([[],{"a":[1]}])"), 3U);
}

}  // namespace
}  // namespace kron
