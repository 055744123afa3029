#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "fake_krond.h"
#include "kron/env/clock.h"
#include "kron/env/fake/silent_log.h"
#include "kron/json/document.h"
#include "task_owned_queue.h"

// `kron task …` on a queue directory of its own, and what it asks of a krond.
namespace kron::cli {
namespace {

class TaskVerbs : public ::testing::Test {
 protected:
  // `kron task WORD… --data-dir DIR`
  Ran task(std::vector<std::string> words, std::string_view input = {}) const {
    words.insert(words.begin(), "task");
    words.insert(words.end(), {"--data-dir", data()});
    return testing::kron(words, input);
  }
  std::string data() const { return directory_.file("data"); }

  testing::TemporaryDirectory directory_{testing::memory_directory()};
};

TEST_F(TaskVerbs, SubmitTellsTheOutcome) {
  EXPECT_EQ(task({"submit", "--type", "mail", "--id", "t1", "{\"to\":1}"}).out, "accepted t1\n");
  EXPECT_EQ(task({"submit", "--type", "mail", "--id", "t1", "{\"to\":1}"}).out, "already_known t1\n");
  const Ran other = task({"submit", "--type", "mail", "--id", "t1", "{\"to\":2}"});
  EXPECT_EQ(other.status, 4);
  EXPECT_THAT(other.err, HasSubstr("task t1 is there with another payload"));
  const Ran json = task({"submit", "--type", "mail", "--id", "t1", "{\"to\":2}", "--format", "json"});
  EXPECT_EQ(json.status, 4);
  EXPECT_EQ(json.out, "{\"taskId\":\"t1\",\"outcome\":\"conflict\"}\n");
  EXPECT_EQ(json.err, "");
}

TEST_F(TaskVerbs, AnIdOfItsOwnBeginsWithTheType) {
  const std::string first = task({"submit", "--type", "mail"}).out;
  EXPECT_THAT(first, StartsWith("accepted mail-"));
  EXPECT_NE(first, task({"submit", "--type", "mail"}).out);
}

TEST_F(TaskVerbs, DataComesFromAnArgumentAFileOrStandardInput) {
  std::ofstream(directory_.file("data.json")) << R"({"from":"file"})";
  EXPECT_EQ(task({"submit", "--type", "t", "--id", "a", "[1]"}).status, 0);
  EXPECT_EQ(task({"submit", "--type", "t", "--id", "b", "--data-file", directory_.file("data.json")}).status, 0);
  EXPECT_EQ(task({"submit", "--type", "t", "--id", "c", "-"}, R"({"from":"input"})").status, 0);
  EXPECT_EQ(task({"submit", "--type", "t", "--id", "d"}).status, 0);
  EXPECT_THAT(task({"show", "a"}).out, HasSubstr("[1]"));
  EXPECT_THAT(task({"show", "b"}).out, HasSubstr("file"));
  EXPECT_THAT(task({"show", "c"}).out, HasSubstr("input"));
  EXPECT_THAT(task({"show", "d"}).out, HasSubstr("null"));
  EXPECT_EQ(task({"submit", "--type", "t", "--data-file", directory_.file("nowhere")}).status, 2);
}

TEST_F(TaskVerbs, EveryFlagOfSubmitArrives) {
  EXPECT_EQ(
      task({"submit", "--type", "t", "--id", "a", "--priority", "-7", "--run-at", "2030-01-01T01:00:00+01:00",
            "--max-attempts", "3", "--backoff", "1m", "--max-backoff", "2h", "--timeout", "30s", "--unique-key", "k"})
          .status,
      0);
  const std::string out = task({"show", "a"}).out;
  for (const char* line :
       {"task        a\n", "type        t\n", "state       PENDING\n", "attempts    0 of 3\n", "priority    -7\n",
        "run at      2030-01-01T00:00:00Z\n", "back-off    1m to 2h\n", "timeout     30s\n", "unique key  'k'\n"}) {
    EXPECT_THAT(out, HasSubstr(line));
  }
}

TEST_F(TaskVerbs, WhatIsWrongWithATaskIsToldAndNothingIsMade) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--type", "t", "{"}, "payload: invalid JSON"},
      {{"--type", "t", "--priority", "101"}, "priority"},
      {{"--type", "t", "--max-attempts", "0"}, "ttempts"},
      {{"--type", "t", "--backoff", "soon"}, "--backoff: "},
      {{"--type", "t", "--max-backoff", "soon"}, "--max-backoff: "},
      {{"--type", "t", "--timeout", "1.5s"}, "--timeout: "},
      {{"--type", "t", "--delay", "x"}, "--delay: "},
      {{"--type", "t", "--run-at", "x"}, "--run-at: "},
      {{"--type", "t", "--id", "../x"}, "id"},
      {{"--type", "", "--id", "x"}, "type"},
  };
  for (const auto& [flags, told] : cases) {
    std::vector<std::string> words{"submit"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ran ran = task(words);
    EXPECT_EQ(ran.status, 1) << told << ran.err;
    EXPECT_THAT(ran.err, AllOf(StartsWith("kron task submit: "), HasSubstr(told)));
    words.insert(words.end(), {"--format", "json"});
    EXPECT_THAT(task(words).out, StartsWith(R"({"error":)")) << told;
  }
  EXPECT_FALSE(std::filesystem::exists(data()));
}

TEST_F(TaskVerbs, ADirectoryThatIsMisspeltIsToldNotMade) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"list"}, {"show", "a"}, {"cancel", "a"}, {"retry", "a"}, {"prune"}}) {
    EXPECT_EQ(task(words).status, 1) << words.front();
    EXPECT_FALSE(std::filesystem::exists(data())) << words.front();
  }
}

TEST_F(TaskVerbs, ListIsInOrderOfIdsWithItsFilters) {
  for (const char* id : {"b", "a", "c"}) task({"submit", "--type", id, "--id", id});
  task({"cancel", "c"});
  const Ran all = task({"list"});
  EXPECT_THAT(all.out, StartsWith("a     a     PENDING      0/5  "));
  EXPECT_LT(all.out.find("\nb "), all.out.find("\nc "));
  EXPECT_THAT(task({"list", "--state", "FAILED"}).out, AllOf(StartsWith("c "), Not(HasSubstr("\na "))));
  EXPECT_THAT(task({"list", "--type", "b"}).out, StartsWith("b "));
  EXPECT_THAT(task({"list", "--after", "b"}).out, StartsWith("c "));
  const Ran limited = task({"list", "--limit", "1"});
  EXPECT_EQ(limited.err, "kron task list: there may be more: --after a\n");
  EXPECT_EQ(task({"list", "--type", "zzz"}).out, "");
  EXPECT_EQ(parse_json(task({"list", "--type", "b", "--format", "json"}).out).value().find("taskId") != nullptr, true);
}

TEST_F(TaskVerbs, ColumnsFitLongIds) {
  const std::string id(100, 'x');
  task({"submit", "--type", "t", "--id", id});
  task({"submit", "--type", "a-longer-type", "--id", "y"});
  const Ran ran = task({"list"});
  EXPECT_THAT(ran.out, AllOf(StartsWith(id + "  t              PENDING"),
                             HasSubstr("\ny" + std::string(101, ' ') + "a-longer-type  PENDING")));
}

TEST_F(TaskVerbs, CancelAndRetryTellEachOutcomeAndTheWorstStatusCounts) {
  for (const char* id : {"a", "b"}) task({"submit", "--type", "t", "--id", id});
  const Ran cancelled = task({"cancel", "a", "nobody", "b"});
  EXPECT_EQ(cancelled.status, 1);
  EXPECT_EQ(cancelled.out, "cancelled a\ncancelled b\n");
  EXPECT_THAT(cancelled.err, StartsWith("kron task cancel: "));
  const Ran again = task({"cancel", "a"});
  EXPECT_EQ(again.status, 1);
  EXPECT_EQ(again.err, "kron task cancel: task a is over already\n");
  EXPECT_EQ(task({"retry", "a"}).out, "retried a\n");
  const Ran pending = task({"retry", "a"});
  EXPECT_EQ(pending.status, 1);
  EXPECT_EQ(pending.err, "kron task retry: task a is not FAILED, so there is nothing to retry\n");
  EXPECT_EQ(task({"retry", "--all-failed", "--type", "zzz"}).out, "");
  EXPECT_EQ(task({"retry", "--all-failed", "--attempts", "2"}).out, "retried b\n");
  EXPECT_EQ(task({"cancel", "b", "nobody", "--format", "json"}).out.substr(0, 39),
            "{\"taskId\":\"b\",\"outcome\":\"cancelled\"}\n{\"");
}

TEST_F(TaskVerbs, PruneRemovesWhatIsLongOver) {
  for (const char* id : {"a", "b"}) task({"submit", "--type", "t", "--id", id});
  task({"cancel", "a"});
  EXPECT_EQ(task({"prune"}).out, "0 removed\n") << "not thirty days ago";
  EXPECT_EQ(task({"prune", "--older-than", "0s", "--state", "succeeded"}).out, "0 removed\n");
  const Ran ran = task({"prune", "--older-than", "x"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("--older-than: "));
}

TEST_F(TaskVerbs, ABatchAnswersEachLine) {
  const Ran ran = task({"submit-batch", "--format", "json"}, R"({"taskId":"a","payload":{"type":"t"}})"
                                                             "\n\n  \n"
                                                             R"({"taskId":"a","payload":{"type":"t","data":1}})"
                                                             "\n"
                                                             R"({"taskId":"b"})"
                                                             "\n{\n"
                                                             R"({"taskId":"a","payload":{"type":"t"}})");
  EXPECT_EQ(ran.status, 4) << "one is in conflict";
  std::istringstream lines(ran.out);
  std::vector<std::string> answers;
  for (std::string line; std::getline(lines, line);) answers.push_back(line);
  ASSERT_EQ(answers.size(), 5U) << ran.out;
  EXPECT_EQ(answers[0], R"({"line":1,"taskId":"a","outcome":"accepted"})");
  EXPECT_EQ(answers[1], R"({"line":4,"taskId":"a","outcome":"conflict"})") << "empty lines count and say nothing";
  EXPECT_THAT(answers[2], StartsWith(R"({"line":5,"error":)"));
  EXPECT_THAT(answers[3], StartsWith(R"({"line":6,"error":)"));
  EXPECT_EQ(answers[4], R"({"line":7,"taskId":"a","outcome":"already_known"})");
}

TEST_F(TaskVerbs, ABatchForPeopleIsSummedUp) {
  const std::string path = directory_.file("tasks.jsonl");
  std::ofstream(path) << R"({"taskId":"a","payload":{"type":"t"}})"
                      << "\n{\n";
  const Ran ran = task({"submit-batch", path});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "1 accepted, 0 already known, 0 duplicate, 0 in conflict, 1 refused\n");
  EXPECT_THAT(ran.err, StartsWith("kron task submit-batch: line 2: "));
  EXPECT_EQ(task({"submit-batch", directory_.file("nowhere")}).status, 2);
  EXPECT_EQ(task({"submit-batch", directory_.path()}).status, 2) << "a directory";
}

TEST_F(TaskVerbs, ALineThatIsTooLongIsRefusedAlone) {
  const Ran ran = task({"submit-batch"}, std::string(std::size_t{3} << 20U, 'x') + "\n" +
                                             R"({"taskId":"a","payload":{"type":"t"}})" + "\n");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("line 1: the line is longer than "));
  EXPECT_THAT(ran.out, StartsWith("1 accepted"));
}

TEST_F(TaskVerbs, ALineThatBeginsWithMoreBlanksThanALineMayHaveIsNotTakenForAnEmptyOne) {
  const Ran ran = task({"submit-batch"},
                       std::string(std::size_t{3} << 20U, ' ') + R"({"taskId":"a","payload":{"type":"t"}})" + "\n");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("line 1: the line is longer than "));
}

TEST_F(TaskVerbs, ADirectoryThatAnotherHasIsInConflict) {
  task({"submit", "--type", "t", "--id", "a"});
  const RealClock clock;
  testing::SilentLog log;
  const auto owner = OwnedQueue::open(data(), false, clock, log);
  ASSERT_TRUE(owner);
  EXPECT_EQ(task({"list"}).status, 4);
  EXPECT_EQ(task({"submit", "--type", "t"}).status, 4);
}

TEST(TaskVerbsOfKrond, AskForWhatTheFlagsSay) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"task", "cancel", "a.b"}, "POST /tasks/a.b/cancel"},
      {{"task", "show", "a"}, "GET /tasks/a"},
      {{"task", "retry", "a", "--attempts", "2"}, R"(POST /tasks/a/retry {"attempts":2})"},
  };
  for (const auto& [words, request] : cases) {
    FakeKrond krond;
    krond.on("GET /status", "{}");
    const Ran ran = krond.kron(words);
    EXPECT_EQ(ran.status, 1) << request << ran.err;
    EXPECT_THAT(krond.asked(), ::testing::Contains(std::string(request)));
  }
}

TEST(TaskVerbsOfKrond, AnIdThatNoTaskCanHaveIsNotAskedFor) {
  FakeKrond krond;
  krond.on("GET /status", "{}");
  const Ran ran = krond.kron({"task", "cancel", "a/b"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("a/b"));
  EXPECT_THAT(krond.asked(), ::testing::Not(::testing::Contains(HasSubstr("/tasks"))));
}

TEST(TaskVerbsOfKrond, EveryErrorHasItsStatus) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"task", "cancel", "a"}, "POST /tasks/a/cancel"},
      {{"task", "show", "a"}, "GET /tasks/a"},
      {{"task", "retry", "a"}, "POST /tasks/a/retry"},
      {{"task", "list"}, "GET /tasks?limit=100"},
      {{"task", "submit", "--type", "t", "--id", "a"}, "POST /tasks"},
      {{"task", "prune"}, "POST /tasks/prune"},
  };
  const std::pair<Code, int> codes[] = {
      {Code::invalid, 1}, {Code::not_found, 1}, {Code::refused, 4}, {Code::io, 2}, {Code::internal, 70}};
  for (const auto& [words, request] : cases) {
    for (const auto& [code, status] : codes) {
      FakeKrond krond;
      krond.on("GET /status", "{}");
      krond.refuse(request, {code, "because"});
      const Ran ran = krond.kron(words);
      EXPECT_THAT(ran.err, HasSubstr("because")) << request << " " << name_of(code);
      EXPECT_EQ(ran.status, status) << request << " " << name_of(code);
    }
  }
}

TEST(TaskVerbsOfKrond, AKrondThatIsNotThereIsStatusThree) {
  const testing::TemporaryDirectory directory;
  for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{
           {"list"}, {"show", "a"}, {"cancel", "a"}, {"retry", "a"}, {"prune"}, {"submit", "--type", "t"}}) {
    std::vector<std::string> words{"task"};
    words.insert(words.end(), verb.begin(), verb.end());
    words.insert(words.end(), {"--socket", directory.file("no.sock")});
    EXPECT_EQ(testing::kron(words).status, 3) << verb.front();
  }
}

}  // namespace
}  // namespace kron::cli
