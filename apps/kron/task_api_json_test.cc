#include "task_api_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/json/document.h"

// The words between `kron task` and krond: what is sent, and what is made of answers, strange ones too.
namespace kron::cli {
namespace {

using ::testing::HasSubstr;

NewTask task_named(const std::string& id) {
  NewTask task;
  task.id = id;
  task.type = "mail";
  task.data = R"({"n":1.50})";
  return task;
}

TEST(TaskApiJson, WhatIsSent) {
  EXPECT_EQ(token_json({"x.1", 7}), R"({"token":7})");
  EXPECT_EQ(lease_json({.worker = "w", .count = 3, .term = Seconds(90), .starts = true}, Seconds(30)),
            R"({"worker":"w","n":3,"wait":"30s","term":"1m30s","start":true})");
  EXPECT_THAT(lease_json({.worker = "w", .types = {"a", "b\""}}, Seconds(0)), HasSubstr(R"("types":["a","b\""])"));
  EXPECT_EQ(fail_json({{"x.1", 7}, "no", false}), R"({"token":7,"reason":"no","counts":false})");
  EXPECT_EQ(fail_json({{"x.1", 7}, ""}), R"({"token":7,"counts":true})");
  EXPECT_EQ(commit_json({{"x.1", 7}, "ok\n"}), R"({"token":7,"result":"ok\n"})");
  EXPECT_EQ(commit_json({{"x.1", 7}, ""}), R"({"token":7})");
  const LeaseRequest then{.worker = "w", .types = {"a"}, .starts = true};
  EXPECT_EQ(commit_json({{"x.1", 7}, "ok"}, &then),
            R"({"token":7,"result":"ok","lease":{"worker":"w","types":["a"],"n":1,"term":"1m","start":true}})");
}

TEST(TaskApiJson, TasksAreSentAsTheyAreWritten) {
  const std::vector<NewTask> tasks{task_named("a"), task_named("b")};
  const std::string text = submit_json(tasks);
  EXPECT_THAT(text, HasSubstr("1.50")) << "numbers keep their spelling";
  EXPECT_EQ(parse_json(text).value().find("tasks")->as<Node::List>()->size(), 2U);
  EXPECT_EQ(submit_json({}), R"({"tasks":[]})");
  const std::string commit = commit_json({{"x.1", 7}, "r", {task_named("c")}});
  EXPECT_EQ(parse_json(commit).value().find("followUps")->as<Node::List>()->size(), 1U);
}

TEST(TaskApiJson, PruneSendsAnAgeThatIsNeverNegative) {
  const Instant now = *parse_rfc3339("2026-03-02T00:00:00Z");
  EXPECT_EQ(prune_json({.over_before = now - Seconds(86400)}, now), R"({"olderThan":"1d"})");
  EXPECT_EQ(prune_json({.over_before = now + Seconds(5), .state = TaskState::failed}, now),
            R"({"olderThan":"0s","state":"failed"})");
}

TEST(TaskApiJson, AnswersToASubmitAreOneForEach) {
  const auto answers =
      submit_answers_in(R"({"answers":[{"taskId":"a","outcome":"accepted"},{"taskId":"b","outcome":"conflict"},)"
                        R"({"error":{"type":"urn:kron:invalid","status":400,"detail":"bad type","field":"type"}}]})",
                        3);
  ASSERT_TRUE(answers);
  EXPECT_EQ((*answers)[0]->outcome, SubmitOutcome::accepted);
  EXPECT_EQ((*answers)[1]->outcome, SubmitOutcome::conflict);
  ASSERT_FALSE((*answers)[2]);
  EXPECT_THAT((*answers)[2].error().message, HasSubstr("bad type"));
  EXPECT_EQ(submit_answers_in(R"({"answers":[]})", 1).error().code, Code::internal);
  EXPECT_FALSE(submit_answers_in(R"({"answers":[{"outcome":"sure"}]})", 1)->front());
}

TEST(TaskApiJson, LeasesAreWholeOrStrange) {
  constexpr char kWhole[] =
      R"({"leases":[{"execId":"x.1","token":7,"taskId":"x","attempt":2,"leaseExpiresAt":"2026-03-01T00:01:00Z",)"
      R"("timeout":"30s","payload":{"type":"mail","data":{ "n" : 1.50 }}}]})";
  const auto leases = leases_in(kWhole);
  ASSERT_TRUE(leases);
  const Lease& lease = leases->front();
  EXPECT_EQ(lease.key.exec_id, "x.1");
  EXPECT_EQ(lease.key.token, 7U);
  EXPECT_EQ(lease.attempt, 2);
  EXPECT_EQ(lease.type, "mail");
  EXPECT_EQ(lease.data, R"({"n":1.50})");
  EXPECT_EQ(lease.timeout, Seconds(30));
  EXPECT_TRUE(leases_in(R"({"leases":[]})")->empty());
  for (const char* strange :
       {R"({"leases":[{}]})", R"({"leases":[{"execId":"x.1","token":7,"taskId":"x","payload":{"data":1}}]})",
        R"({"leases":[{"execId":"x.1","taskId":"x","leaseExpiresAt":"2026-03-01T00:01:00Z"}]})",
        R"({"leases":[{"execId":"","taskId":"x","leaseExpiresAt":"2026-03-01T00:01:00Z","payload":{"data":1}}]})",
        R"({"leases":[{"execId":"x","taskId":"x","leaseExpiresAt":"2026-03-01T00:01:00Z","timeout":"?",)"
        R"("payload":{"data":1}}]})",
        "no json"}) {
    const auto read = leases_in(strange);
    ASSERT_FALSE(read) << strange;
    EXPECT_EQ(read.error().code, Code::internal) << strange;
  }
}

TEST(TaskApiJson, EveryOutcomeHasItsWordAndNoOtherIsTaken) {
  EXPECT_EQ(lease_outcome_in(R"({"result":"accepted"})").value(), LeaseOutcome::accepted);
  EXPECT_EQ(lease_outcome_in(R"({"result":"lease_lost"})").value(), LeaseOutcome::lease_lost);
  EXPECT_EQ(lease_outcome_in(R"({"result":"duplicate"})").value(), LeaseOutcome::duplicate);
  EXPECT_EQ(commit_answer_in(R"({"result":"committed"})")->outcome, LeaseOutcome::accepted);
  EXPECT_EQ(commit_answer_in(R"({"result":"duplicate"})")->outcome, LeaseOutcome::duplicate);
  EXPECT_EQ(commit_answer_in(R"({"result":"committed","followUps":[{"taskId":"n","outcome":"already_known"}]})")
                ->follow_ups.front()
                .outcome,
            SubmitOutcome::already_known);
  EXPECT_EQ(fail_answer_in(R"({"result":"accepted","state":"FAILED"})")->state, TaskState::failed);
  EXPECT_EQ(cancel_outcome_in(R"({"outcome":"cancelled"})").value(), CancelOutcome::cancelled);
  EXPECT_EQ(cancel_outcome_in(R"({"outcome":"committed"})").value(), CancelOutcome::committed);
  EXPECT_EQ(cancel_outcome_in(R"({"outcome":"already_over"})").value(), CancelOutcome::already_over);
  EXPECT_EQ(retry_outcome_in(R"({"outcome":"retried"})").value(), RetryOutcome::retried);
  EXPECT_EQ(retry_outcome_in(R"({"outcome":"not_failed"})").value(), RetryOutcome::not_failed);
  EXPECT_EQ(removed_in(R"({"removed":3})").value(), 3U);
  for (const char* strange : {"{}", R"({"result":"sure","outcome":"sure"})", "[]", "3", "", "{"}) {
    EXPECT_EQ(lease_outcome_in(strange).error().code, Code::internal) << strange;
    EXPECT_EQ(commit_answer_in(strange).error().code, Code::internal) << strange;
    EXPECT_EQ(fail_answer_in(strange).error().code, Code::internal) << strange;
    EXPECT_EQ(cancel_outcome_in(strange).error().code, Code::internal) << strange;
    EXPECT_EQ(retry_outcome_in(strange).error().code, Code::internal) << strange;
  }
}

}  // namespace
}  // namespace kron::cli
