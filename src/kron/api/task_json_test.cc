#include "kron/api/task_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kron::api {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(TaskJson, ReadsOneTaskOrMany) {
  const auto one = read_new_tasks(R"({"taskId":"a","payload":{"type":"MAIL","data":{"to": 1.50}}})").value();
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0]->id, "a");
  EXPECT_EQ(one[0]->data, R"({"to":1.50})") << "numbers keep their spelling";
  const auto many =
      read_new_tasks(R"({ "tasks": [ {"payload":{"type":"A"}}, {"payload":{"type":"B/"}}, {"nope":1} ] })").value();
  ASSERT_EQ(many.size(), 3U);
  EXPECT_THAT(many[0]->id, StartsWith("A-")) << "a new one";
  EXPECT_FALSE(many[1]);
  EXPECT_FALSE(many[2]);
}

TEST(TaskJson, RefusesWhatIsNoRequestAndNamesTheMember) {
  EXPECT_FALSE(read_new_tasks("[]"));
  EXPECT_FALSE(read_new_tasks(""));
  EXPECT_FALSE(read_new_tasks(R"({"tasks":[]})"));
  EXPECT_FALSE(read_new_tasks(R"({"tasks":[{"payload":{"type":"A"}}],"more":1})"));
  EXPECT_EQ(read_lease_request(R"({"worker":"w","n":0})").error().field, "n");
  EXPECT_EQ(read_lease_request(R"({"worker":"w","wait":"2m"})").error().field, "wait");
  EXPECT_EQ(read_lease_request(R"({"worker":"w","types":5,"x":1})").error().field, "x");
  EXPECT_EQ(read_lease_request(R"({"worker":"w","types":[]})").error().field, "types") << "not every type";
  EXPECT_FALSE(read_lease_request(R"({"n":1})")) << "a worker has a name";
  EXPECT_EQ(read_token("{}").error().field, "token");
  EXPECT_EQ(read_token(R"({"token":-1})").error().field, "token");
  EXPECT_EQ(read_token(R"({"token":"7"})").error().field, "token");
  EXPECT_THAT(read_commit(R"({"token":1,"followUps":[{"payload":{}}]})", "a.1").error().field,
              HasSubstr("followUps[0]"));
  EXPECT_EQ(read_commit(R"({"token":1,"lease":5})", "a.1").error().field, "lease");
  EXPECT_EQ(read_commit(R"({"token":1,"lease":{}})", "a.1").error().field, "lease.worker");
  EXPECT_EQ(read_commit(R"({"token":1,"lease":{"worker":"w","n":0}})", "a.1").error().field, "lease.n");
  EXPECT_EQ(read_commit(R"({"token":1,"lease":{"worker":"w","wait":"1s"}})", "a.1").error().field, "lease.wait")
      << "a commit is answered at once";
  EXPECT_EQ(read_retry(R"({"attempts":0})").error().field, "attempts");
  EXPECT_EQ(read_retry(R"({"note":"a\nb"})").error().field, "note");
  EXPECT_EQ(read_prune(R"({"state":"running"})", Instant(Seconds(0))).error().field, "state");
}

TEST(TaskJson, ReadsWhatAWorkerSays) {
  const auto lease =
      read_lease_request(R"({"worker":"w","types":["A","B"],"n":5,"wait":"30s","term":"2m","start":true})").value();
  EXPECT_EQ(lease.request.types, (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(lease.request.count, 5U);
  EXPECT_EQ(lease.wait, Seconds(30));
  EXPECT_EQ(lease.request.term, Seconds(120));
  EXPECT_TRUE(lease.request.starts);
  EXPECT_EQ(read_token(R"({"token":7})").value(), 7U);
  const auto commit =
      read_commit(R"({"token":7,"result":"ok","followUps":[{"taskId":"n","payload":{"type":"B","data":[ 1 ]}}]})",
                  "a.7")
          .value();
  EXPECT_EQ(commit.request.key.exec_id, "a.7");
  EXPECT_EQ(commit.request.follow_ups[0].data, "[1]");
  EXPECT_FALSE(commit.then);
  const auto both =
      read_commit(R"({"token":7,"lease":{"worker":"w","types":["A"],"n":2,"term":"2m","start":true}})", "a.7").value();
  EXPECT_EQ(both.request.key.token, 7U);
  ASSERT_TRUE(both.then);
  EXPECT_EQ(both.then->worker, "w");
  EXPECT_EQ(both.then->types, std::vector<std::string>{"A"});
  EXPECT_EQ(both.then->count, 2U);
  EXPECT_EQ(both.then->term, Seconds(120));
  EXPECT_TRUE(both.then->starts);
  const auto failed = read_fail(R"({"token":7,"reason":"no","counts":false})", "a.7").value();
  EXPECT_FALSE(failed.counts);
  EXPECT_EQ(read_retry("").value().attempts, 1);
  EXPECT_EQ(read_retry(R"({"attempts":3,"note":"again"})").value().attempts, 3);
  EXPECT_EQ(read_retry(R"({"note":"again"})").value().note, "again");
  const Instant now{Seconds(1'000'000)};
  EXPECT_EQ(read_prune("", now).value().over_before, now - std::chrono::days(7));
  EXPECT_EQ(read_prune(R"({"olderThan":"1h","state":"failed"})", now).value().over_before, now - Seconds(3600));
}

TEST(TaskJson, APayloadIsParsedWithItsBodyAndMayBeSpreadOverLines) {
  const auto tasks =
      read_new_tasks(
          "{\n \"tasks\" : [\n  {\"taskId\":\"a\",\n   \"payload\": {\"data\": [ 1.50 ,\n 2 ],\n"
          "\"type\":\"A\"}},\n\n  {\"taskId\":\"b\",\"payload\":{\"type\":\"B\",\n\"data\":\n-0e1\n}}\n]}")
          .value();
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0]->data, "[1.50,2]");
  EXPECT_EQ(tasks[1]->data, "-0e1");
  EXPECT_TRUE(tasks[0]->data_is_parsed.value);
}

TEST(TaskJson, APayloadIsRefusedAloneAndAmongOthersWhenItIsOneByteTooLarge) {
  const auto is_read = [](std::size_t size) {
    const std::string task = R"({"payload":{"type":"A","data":")" + std::string(size - 2, 'x') + R"("}})";
    const auto one = read_new_tasks(task);
    const auto many = read_new_tasks(R"({"tasks":[)" + task + "]}");
    const bool is_one = one && one->front();
    EXPECT_EQ(is_one, many && many->front()) << size;
    return is_one;
  };
  EXPECT_TRUE(is_read(kMostPayloadBytes));
  EXPECT_FALSE(is_read(kMostPayloadBytes + 1));
}

TEST(TaskJson, APayloadMayBeAsDeepAloneAsAmongOthersAndNoDeeper) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  const auto is_read = [&](std::size_t depth) {
    const std::string task = R"({"payload":{"type":"A","data":)" + nested(depth) + "}}";
    const auto one = read_new_tasks(task);
    const auto many = read_new_tasks(R"({"tasks":[)" + task + "]}");
    const auto follow_up = read_commit(R"({"token":1,"followUps":[)" + task + "]}", "a.1");
    const bool is_one = one && one->front();
    EXPECT_EQ(is_one, many && many->front()) << depth;
    EXPECT_EQ(is_one, follow_up.has_value()) << depth;
    return is_one;
  };
  EXPECT_TRUE(is_read(kMostPayloadDepth));
  EXPECT_FALSE(is_read(kMostPayloadDepth + 1));
}

TEST(TaskJson, AKeyThatIsGivenTwiceIsRefusedWhereverItStands) {
  EXPECT_FALSE(read_new_tasks(R"({"taskId":"a","payload":{"type":"A","data":{"x":1,"x":2}}})"));
  EXPECT_FALSE(read_new_tasks(R"({"taskId":"a","taskId":"b","payload":{"type":"A"}})"));
}

}  // namespace
}  // namespace kron::api
