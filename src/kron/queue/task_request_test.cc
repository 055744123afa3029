#include "kron/queue/task_request.h"

#include <gtest/gtest.h>

namespace kron {
namespace {

TEST(TaskRequest, HasTheMembersThatAreTheSubmittersToDecide) {
  const auto task = parse_new_task(
      R"({ "taskId": "report-1", "payload": {"type": "REPORT", "data": { "n" : 1.50, "s": "a b" }}, "priority": -3,)"
      R"( "runAt": "2026-03-01T00:00:00Z", "maxAttempts": 7, "backoff": "1m", "maxBackoff": "2h", "timeout": "30s",)"
      R"( "uniqueKey": "k k" })");
  ASSERT_TRUE(task) << task.error().message;
  const NewTask expected{.id = "report-1",
                         .type = "REPORT",
                         .data = R"({"n":1.50,"s":"a b"})",
                         .priority = -3,
                         .run_at = instant_of(1'772'323'200),
                         .retry = {7, Seconds(60), Seconds(7200)},
                         .timeout = Seconds(30),
                         .unique_key = "k k"};
  EXPECT_EQ(*task, expected);
}

TEST(TaskRequest, NeedsNothingButAType) {
  const auto task = parse_new_task(R"({"payload":{"type":"T"}})");
  ASSERT_TRUE(task);
  EXPECT_EQ(*task, (NewTask{.id = "", .type = "T"}));
}

TEST(TaskRequest, IsRefusedWithWhatIsWrong) {
  struct Case {
    std::string json;
    std::string_view problem;
  };
  const std::string deep = std::string(80, '[') + std::string(80, ']');
  for (const auto& [json, problem] : {
           Case{"", "JSON"},
           Case{"[]", "a JSON object"},
           Case{R"({"payload":{}})", "type"},
           Case{R"({"taskId":"a"})", "payload"},
           Case{R"({"taskId":"","payload":{"type":"T"}})", "task id"},
           Case{R"({"taskId":"../a","payload":{"type":"T"}})", "task id"},
           Case{R"({"taskId":".a","payload":{"type":"T"}})", "task id"},
           Case{R"({"taskId":"a\u0000b","payload":{"type":"T"}})", "task id"},
           Case{R"({"taskID":"a","payload":{"type":"T"}})", "taskId"},
           Case{R"({"payload":{"type":"T","date":1}})", "data"},
           Case{R"({"payload":{"type":"a/b"}})", "task type"},
           Case{R"({"payload":{"type":"T"},"priority":"high"})", "priority"},
           Case{R"({"payload":{"type":"T"},"priority":101})", "priority"},
           Case{R"({"payload":{"type":"T"},"timeout":"soon"})", "timeout"},
           Case{R"({"payload":{"type":"T","data":)" + deep + "}}", "deep"},
       }) {
    const auto task = parse_new_task(json);
    ASSERT_FALSE(task) << json;
    EXPECT_EQ(task.error().code, Code::invalid);
    EXPECT_NE((task.error().field + " " + task.error().message).find(problem), std::string::npos)
        << json << ": " << task.error().message;
  }
}

TEST(TaskRequest, IsParsedOnceAndNotAgainWhenItIsSubmitted) {
  const auto task = parse_new_task(R"({"taskId":"a","payload":{"type":"T","data":[ 1 ]}})");
  ASSERT_TRUE(task);
  EXPECT_TRUE(task->data_is_parsed.value);
  NewTask other = *task;
  other.data = "[ ";  // what only a parser refuses
  EXPECT_TRUE(checked(other));
  other.data_is_parsed = {};
  EXPECT_FALSE(checked(other)) << "data that nobody has parsed is";
  EXPECT_TRUE(checked(NewTask{.id = "a", .type = "T"})->data_is_parsed.value);
  other.data_is_parsed = {true};
  other.data = std::string(kMostPayloadBytes + 1, '1');
  EXPECT_FALSE(checked(other)) << "its size is checked nevertheless";
}

}  // namespace
}  // namespace kron
