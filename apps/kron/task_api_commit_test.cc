#include <algorithm>
#include <gtest/gtest.h>

#include "fake_krond.h"
#include "task_api_queue.h"

// Commits that ask for the next leases, at a krond that answers as the test says.
namespace kron::cli {
namespace {

const LeaseRequest kNext{.worker = "w", .starts = true};
const std::vector<CommitRequest> kTwoCommits{{.key = {"a.1", 1}, .result = "one"},
                                             {.key = {"b.2", 2}, .result = "two"}};
constexpr char kLeased[] = R"({"result":"committed","leases":[{"execId":"c.3","token":3,"taskId":"c","attempt":1,)"
                           R"("leaseExpiresAt":"2026-03-02T00:00:00Z","payload":{"type":"T","data":1}}]})";
constexpr char kCommitted[] = R"({"result":"committed"})";

// A client of a krond that answers two commits so.
struct TwoCommits {
  TwoCommits(http::Response first, http::Response second) {
    krond.on("POST /leases/a.1/commit", std::move(first));
    krond.on("POST /leases/b.2/commit", std::move(second));
  }
  static http::Response json(std::string body) { return {.body = std::move(body)}; }
  std::size_t asked_for_leases() const {
    const auto asked = krond.asked();
    return static_cast<std::size_t>(std::ranges::count_if(
        asked, [](const std::string& line) { return line.find("\"lease\"") != std::string::npos; }));
  }

  FakeKrond krond;
  RealClock clock;
  std::unique_ptr<ApiQueue> client = ApiQueue::open(krond.socket(), Seconds(0), clock).value();
};

TEST(ApiQueue, TheLastOfSeveralCommitsBringsTheNextLeases) {
  TwoCommits two(TwoCommits::json(kCommitted), TwoCommits::json(kLeased));
  const auto answers = two.client->commit_and_lease(kTwoCommits, kNext);
  ASSERT_EQ(answers.commits.size(), 2U);
  EXPECT_EQ(answers.commits[1]->outcome, LeaseOutcome::accepted);
  ASSERT_TRUE(answers.leases && *answers.leases);
  EXPECT_EQ((*answers.leases)->at(0).task_id, "c");
  EXPECT_EQ(two.asked_for_leases(), 1U);
  EXPECT_EQ(two.krond.asked().size(), 2U);
}

TEST(ApiQueue, WhereNoTaskIsReadyLeasesAreStillToBeWaitedFor) {
  TwoCommits two(TwoCommits::json(kCommitted), TwoCommits::json(R"({"result":"committed","leases":[]})"));
  const auto answers = two.client->commit_and_lease(kTwoCommits, kNext);
  EXPECT_TRUE(answers.commits[1]);
  EXPECT_FALSE(answers.leases);
}

TEST(ApiQueue, WhileACommitHasNoAnswerItsPlaceIsNotGivenToAnotherTask) {
  TwoCommits two(http::problem({Code::unreachable, "not now"}), TwoCommits::json(kCommitted));
  const auto answers = two.client->commit_and_lease(kTwoCommits, kNext);
  EXPECT_FALSE(answers.commits[0]);
  EXPECT_TRUE(answers.commits[1]);
  EXPECT_FALSE(answers.leases);
  EXPECT_EQ(two.asked_for_leases(), 0U);
}

TEST(ApiQueue, AnOlderKrondIsAskedForACommitAlone) {
  TwoCommits two(TwoCommits::json(kCommitted), http::problem({Code::invalid, "unknown key 'lease'", "lease"}));
  two.krond.on("POST /leases/b.2/commit", kCommitted);
  const auto answers = two.client->commit_and_lease(kTwoCommits, kNext);
  ASSERT_TRUE(answers.commits[1]) << answers.commits[1].error().message;
  EXPECT_FALSE(answers.leases);
  EXPECT_EQ(two.asked_for_leases(), 1U);
  EXPECT_TRUE(two.client->commit_and_lease(kTwoCommits, kNext).commits[1]);
  EXPECT_EQ(two.asked_for_leases(), 1U) << "it is not asked a second time";
}

}  // namespace
}  // namespace kron::cli
