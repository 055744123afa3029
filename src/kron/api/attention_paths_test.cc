#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"
#include "kron/api/paths.h"

namespace kron::api::attention_paths_test {
namespace {

using namespace std::chrono_literals;
using history::Entry;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::utc;

const Instant kMidnight = utc("2026-03-01T00:00:00Z");

class AttentionPathsTest : public ApiRig {
 protected:
  Node attention() {
    const http::Response response = ask("GET", "/api/v1/attention");
    EXPECT_EQ(response.status, 200) << response.body;
    return parse_json(response.body).value();
  }
  // After what was found before is not fresh any more.
  Node attention_anew() {
    do_on_loop([&] { host_.clock.advance(60s); });
    return attention();
  }

  static std::vector<std::string> texts(const Node& answer, std::string_view name) {
    std::vector<std::string> found;
    for (const Node& item : *answer.find("items")->as<Node::List>()) {
      found.push_back(*item.find(name)->as<std::string>());
    }
    return found;
  }
  static std::int64_t number(const Node& answer, std::string_view name) {
    return *answer.find(name)->as<std::int64_t>();
  }

  void tell(const std::string& job, int exit, Seconds after = 0s, Seconds length = 5s) {
    history_->add({.job = job,
                   .outcome = Outcome::executed,
                   .period = kMidnight + after,
                   .chosen = kMidnight + after,
                   .run_id = job + std::to_string(++runs_),
                   .started_at = kMidnight + after,
                   .ended_at = kMidnight + after + length,
                   .exit_code = exit});
  }

  int runs_ = 0;
};

TEST_F(AttentionPathsTest, OfAQuietHostThereIsNothing) {
  tell("c", 1);
  tell("c", 0, 60s);
  const Node answer = attention();
  EXPECT_EQ(number(answer, "jobs"), 3);
  EXPECT_EQ(number(answer, "jobsInNeed"), 0);
  EXPECT_EQ(number(answer, "more"), 0);
  EXPECT_THAT(texts(answer, "name"), IsEmpty());
}

TEST_F(AttentionPathsTest, JobsThatFailAreNamedAndThoseThatAreGoneAreNot) {
  tell("a/b", 3);
  tell("a/b", 3, 60s);
  tell("c", 0);
  tell("gone", 1);
  const Node answer = attention();
  EXPECT_THAT(texts(answer, "name"), ElementsAre("a/b"));
  EXPECT_THAT(texts(answer, "matter"), ElementsAre("failing"));
  EXPECT_THAT(texts(answer, "what"), ElementsAre("failed 2 times in a row"));
  EXPECT_THAT(texts(answer, "since"), ElementsAre("2026-03-01T00:00:00Z"));
  EXPECT_EQ(number(answer, "jobsInNeed"), 1);
}

TEST_F(AttentionPathsTest, WhatIsWrongWithKrondIsNamed) {
  do_on_loop([&] {
    status_.broken = Error{Code::io, "the disk is full"};
    status_.not_scheduled = {{"d", "its record is damaged"}};
    status_.job_files.reload_failed = Error{Code::unreadable, "gone"};
    status_.job_files.refused = {{.file = "/etc/krond.d/x.kron", .reason = "no such zone", .errors = 2}};
  });
  const Node answer = attention();
  EXPECT_THAT(texts(answer, "matter"), ElementsAre("not ready", "file refused", "reload failed", "not scheduled"));
  EXPECT_THAT(texts(answer, "reason"),
              ElementsAre("the disk is full", "no such zone", "gone", "its record is damaged"));
}

TEST_F(AttentionPathsTest, AMessageThatWasTriedInVainIsNamedAlsoWhileItIsTriedAgain) {
  do_on_loop([&] { status_.notifies = true; });
  const http::Response submitted =
      ask("POST", "/api/v1/tasks",
          R"({"taskId":"m","payload":{"type":"kron.notify","data":{"destination":"ops"}},"backoff":"0s"})");
  EXPECT_LT(submitted.status, 300) << submitted.body;
  EXPECT_THAT(texts(attention(), "matter"), IsEmpty()) << "it is on its way";
  const auto lease = [&] {
    return parse_json(ask("POST", "/api/v1/leases", R"({"worker":"w","start":true,"term":"1h"})").body).value();
  };
  const Node first = lease();
  EXPECT_THAT(texts(attention_anew(), "matter"), IsEmpty()) << "nobody knows yet how that ends";
  const Node& held = first.find("leases")->as<Node::List>()->front();
  const std::string token = std::to_string(*held.find("token")->as<std::int64_t>());
  const http::Response failed = ask("POST", "/api/v1/leases/" + *held.find("execId")->as<std::string>() + "/fail",
                                    R"({"token":)" + token + R"(,"reason":"status 500"})");
  EXPECT_EQ(failed.status, 200) << failed.body;
  EXPECT_THAT(texts(attention_anew(), "reason"), ElementsAre("status 500"));
  EXPECT_EQ(lease().find("leases")->as<Node::List>()->size(), 1U);
  const Node answer = attention_anew();
  EXPECT_THAT(texts(answer, "matter"), ElementsAre("not notified"));
  EXPECT_THAT(texts(answer, "reason"), ElementsAre("status 500"));
}

TEST_F(AttentionPathsTest, WhatKeepsAllMessagesIsNamed) {
  do_on_loop([&] {
    status_.notifies = true;
    status_.not_delivered = "there is no kron beside krond";
    status_.not_queued = DaemonStatus::NotQueued{3, "the disk is full"};
  });
  const Node answer = attention();
  EXPECT_THAT(texts(answer, "matter"), ElementsAre("not notified", "not notified"));
  EXPECT_THAT(texts(answer, "reason"), ElementsAre("there is no kron beside krond", "the disk is full"));
  EXPECT_THAT(texts(answer, "what"),
              ElementsAre("nothing delivers notifications", "3 messages wait for the queue of tasks"));
}

TEST_F(AttentionPathsTest, ARunThatTakesTooLongIsMeasuredByThoseBeforeIt) {
  for (int i = 0; i < 5; ++i) tell("c", 0, Seconds(60 * i), 10s);
  do_on_loop([&] { host_.runner.behave([](const auto&) { return testing::Behaviour{.runs_for = 100h}; }); });
  EXPECT_EQ(ask("POST", "/api/v1/jobs/c/trigger").status, 200);
  EXPECT_EQ(ask("POST", "/api/v1/jobs/d/trigger").status, 200);
  EXPECT_THAT(texts(attention(), "matter"), IsEmpty()) << "they have just begun";
  const Node answer = attention_anew();
  EXPECT_THAT(texts(answer, "name"), ElementsAre("c")) << "nobody knows how long the other one usually takes";
  EXPECT_THAT(texts(answer, "matter"), ElementsAre("too long"));
}

TEST_F(AttentionPathsTest, ConstraintsAndPauses) {
  jobs::JobDefinition narrow = testing::job({.schedule = "0 3 * * *", .window = "1h"}, "narrow");
  ASSERT_TRUE(add_clause(narrow.job.constraints.only, "between", "03:30-03:30"));
  jobs::JobDefinition wide = testing::job({.schedule = "0 3 * * *", .window = "1h"}, "wide");
  ASSERT_TRUE(add_clause(wide.job.constraints.only, "between", "03:00-03:50"));
  do_on_loop([&] { ASSERT_TRUE(host_.reload({narrow, wide, noon_job("c")})); });
  EXPECT_EQ(ask("POST", "/api/v1/jobs/c/pause").status, 200);
  EXPECT_THAT(texts(attention(), "name"), ElementsAre("narrow"));
  do_on_loop([&] { host_.clock.advance(8 * 24h); });
  const Node answer = attention_anew();
  EXPECT_THAT(texts(answer, "matter"), ElementsAre("may have no time", "long paused"));
  EXPECT_THAT(texts(answer, "name"), ElementsAre("narrow", "c"));
}

TEST_F(AttentionPathsTest, ThoseWhoAskWithinASecondCostOneLook) {
  EXPECT_THAT(texts(attention(), "name"), IsEmpty());
  const int before = loop_->items();
  tell("c", 1);
  for (int i = 0; i < 50; ++i) EXPECT_THAT(texts(attention(), "name"), IsEmpty());
  EXPECT_EQ(loop_->items(), before) << "the loop was asked nothing";
  do_on_loop([&] { host_.clock.advance(1s); });
  EXPECT_THAT(texts(attention(), "name"), ElementsAre("c"));
}

TEST_F(AttentionPathsTest, ManyBadJobsAreCountedAndSomeAreLookedAt) {
  constexpr int kJobs = 1300;
  std::vector<jobs::JobDefinition> all;
  for (int i = 0; i < kJobs; ++i) all.push_back(noon_job("job" + std::to_string(10'000 + i)));
  do_on_loop([&] { ASSERT_TRUE(host_.reload(all)); });
  for (const jobs::JobDefinition& job : all) tell(job.job.identity, 1);
  const int before = loop_->items();
  const Node answer = attention();
  EXPECT_EQ(number(answer, "jobsInNeed"), kJobs);
  EXPECT_EQ(texts(answer, "name").size(), 100U);
  EXPECT_EQ(texts(answer, "name").front(), "job10000");
  EXPECT_EQ(number(answer, "more"), kJobs - 100);
  const int most = 2 * (kJobs / static_cast<int>(kLooksAtOnce) + 1) + 2;
  EXPECT_LE(loop_->items() - before, most);
  EXPECT_GT(loop_->items() - before, kJobs / static_cast<int>(kLooksAtOnce)) << "in many small turns";
}

TEST_F(AttentionPathsTest, ReadersMayAsk) {
  is_reader_ = true;
  EXPECT_EQ(ask("GET", "/api/v1/attention").status, 200);
  EXPECT_EQ(ask("GET", "/api/v1/attention?all=true").status, 400);
  is_nobody_ = true;
  EXPECT_EQ(ask("GET", "/api/v1/attention").status, 403);
}

}  // namespace
}  // namespace kron::api::attention_paths_test
