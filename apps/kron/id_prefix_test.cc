#include "id_prefix.h"

#include <gtest/gtest.h>

#include "fake_krond.h"
#include "kron/testing/temporary_directory.h"

// Runs and tasks by the beginnings of their ids.
namespace kron::cli::id_prefix_test {
namespace {

constexpr char kAsked[] = "GET /runs?idPrefix=0f3c&limit=6";
constexpr char kWhole[] = "0f3c5a0000000000000000000000000a";

std::string run_json(const std::string& id, const std::string& job = "a") {
  return R"({"number":1,"job":")" + job + R"(","runId":")" + id +
         R"(","outcome":"executed","state":"ended","exitCode":0,"startedAt":"2026-03-01T00:00:00Z"})";
}

std::string page_of(const std::vector<std::string>& runs) {
  std::string list;
  for (const std::string& run : runs) list += (list.empty() ? "" : ",") + run;
  return R"({"runs":[)" + list + "]}";
}

// A krond with one run that begins with 0f3c.
struct WithOneRun {
  WithOneRun() {
    krond.on(kAsked, page_of({run_json(kWhole)}));
    krond.on(std::string("GET /runs/") + kWhole, run_json(kWhole));
  }
  FakeKrond krond;
};

TEST(IdPrefix, OfOneRunStandsForIt) {
  WithOneRun with;
  with.krond.on(std::string("GET /runs/") + kWhole + "/output", "hello\n");
  with.krond.on(std::string("POST /runs/") + kWhole + "/kill",
                std::string(R"({"signal":"KILL","runId":")") + kWhole + R"("})");
  EXPECT_THAT(with.krond.kron({"show", "0f3c"}).out, HasSubstr(std::string("run           ") + kWhole));
  EXPECT_EQ(with.krond.kron({"logs", "0f3c"}).out, "hello\n");
  EXPECT_EQ(with.krond.kron({"kill", "0f3c"}).out, std::string("sent KILL to ") + kWhole + "\n");
  EXPECT_EQ(with.krond.kron({"wait", "0f3c"}).status, 0);
}

TEST(IdPrefix, OfSeveralRunsNamesThem) {
  FakeKrond krond;
  krond.on(kAsked, page_of({run_json("0f3c01"), run_json("0f3c02", "b\\u001b")}));
  for (const char* verb : {"show", "logs", "kill", "wait"}) {
    const Ran ran = krond.kron({verb, "0f3c"});
    EXPECT_EQ(ran.status, 1) << verb;
    EXPECT_THAT(ran.err, HasSubstr("'0f3c' is the beginning of more than one run: 0f3c01 (a, 2026-03-01T00:00:00Z), "
                                   "0f3c02 ('b\\x1b, 2026-03-01T00:00:00Z'); type more of it"))
        << verb;
  }
  std::vector<std::string> many;
  for (int i = 0; i < 6; ++i) many.push_back(run_json("0f3c0" + std::to_string(i)));
  FakeKrond crowded;
  crowded.on(kAsked, page_of(many));
  EXPECT_THAT(crowded.kron({"kill", "0f3c"}).err,
              AllOf(HasSubstr("0f3c04 ("), HasSubstr(" and others; type more of it"), Not(HasSubstr("0f3c05"))));
}

TEST(IdPrefix, ThatIsItselfAnIdIsThatRun) {
  FakeKrond krond;
  krond.on(kAsked, page_of({run_json("0f3c01"), run_json("0f3c")}));
  krond.on("POST /runs/0f3c/kill", R"({"signal":"KILL","runId":"0f3c"})");
  EXPECT_EQ(krond.kron({"kill", "0f3c"}).out, "sent KILL to 0f3c\n");
}

TEST(IdPrefix, OfNoRunOrTooShortOrWholeIsUsedAsItIs) {
  FakeKrond krond;
  krond.on(kAsked, page_of({}));
  EXPECT_THAT(krond.kron({"kill", "0f3c"}).err, HasSubstr("POST /runs/0f3c/kill"));
  krond.kron({"kill", "0f3"});
  EXPECT_EQ(krond.asked().back(), "POST /runs/0f3/kill");
  krond.kron({"kill", kWhole});
  EXPECT_THAT(krond.asked(), ElementsAre(kAsked, "POST /runs/0f3c/kill", "POST /runs/0f3/kill",
                                         std::string("POST /runs/") + kWhole + "/kill"));
}

TEST(IdPrefix, OfAJobsNameIsTheJob) {
  WithOneRun with;
  with.krond.on("GET /jobs/0f3c", R"({"identity":"0f3c","schedule":"@daily","timezone":"UTC"})");
  EXPECT_THAT(with.krond.kron({"show", "0f3c"}).out, HasSubstr("job           0f3c\n"));
}

TEST(IdPrefix, OfTasksIsFoundInTheOrderOfTheirIds) {
  const testing::TemporaryDirectory directory;
  const std::string place = directory.file("queue");
  const auto task = [&](Words words) {
    words.insert(words.begin(), "task");
    words.insert(words.end(), {"--data-dir", place});
    return kron(words);
  };
  for (const char* id : {"mail-1", "mail-2a", "mail-2b", "mail-20", "other-1"}) {
    ASSERT_EQ(task({"submit", "--type", "mail", "--id", id}).status, 0);
  }
  EXPECT_THAT(task({"show", "othe"}).out, HasSubstr("other-1"));
  const Ran several = task({"show", "mail-2"});
  EXPECT_EQ(several.status, 1);
  EXPECT_THAT(several.err, HasSubstr("'mail-2' is the beginning of more than one task: mail-20 (PENDING), mail-2a "
                                     "(PENDING), mail-2b (PENDING); type more of it"));
  EXPECT_EQ(task({"cancel", "othe"}).out, "cancelled other-1\n");
  EXPECT_EQ(task({"retry", "othe"}).out, "retried other-1\n");
  EXPECT_EQ(task({"cancel", "mail"}).status, 1) << "several";
  EXPECT_THAT(task({"show", "oth"}).err, HasSubstr("'oth'")) << "too short";
  EXPECT_THAT(task({"show", "nobody"}).err, HasSubstr("'nobody'"));
}

}  // namespace
}  // namespace kron::cli::id_prefix_test
