// The controller on a server that is a value, on virtual time: who works, when, and with how many calls.
#include "kron/operator/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/kube/fake/node_edit.h"
#include "kron/operator/fake/operators.h"
#include "kron/operator/names.h"
#include "kron/testing/scale.h"

namespace kron::testing {
namespace {

using kronjobs::Controller;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using State = Controller::State;
using Texts = std::vector<std::string>;

class ControllerTest : public ::testing::Test {
 protected:
  [[nodiscard]] Texts verbs_of(const std::string& name, std::size_t from = 0) {
    Texts all;
    const auto& asked = operators[name].way.asked();
    for (std::size_t i = from; i < asked.size(); ++i) {
      if (!is_call(asked[i])) continue;
      const kronjobs::RequestKind kind = kronjobs::kind_of(asked[i].request);
      all.push_back(std::string(kind.verb) + " " + kind.resource);
    }
    return all;
  }

  Operators operators;
  KronJobText minutely;
};

TEST_F(ControllerTest, CreatesRecordsAndOpensTheJobOfAPeriodInTheSecondInWhichItIsDue) {
  operators.create(minutely);
  Operator& a = operators.start("a");
  a.way.way = a.way.way_back = milliseconds(5);
  operators.run_to("11:59:59");
  EXPECT_EQ(a.controller.state(), State::leader);
  EXPECT_THAT(operators.server.started(), IsEmpty());
  const std::size_t before = a.way.asked().size();
  operators.run_until(at("2026-03-01T12:00:00Z") + milliseconds(100));
  EXPECT_THAT(operators.server.started(), SizeIs(1));
  EXPECT_EQ(verbs_of("a", before), (Texts{"create jobs", "update kronjobs/status", "patch jobs", "create events"}));
  EXPECT_THAT(operators.recent(), ElementsAre("12:00 executed"));
}

TEST_F(ControllerTest, MakesNoMoreThanSixCallsForAPeriod) {
  operators.create(minutely);
  operators.start("a");
  operators.run_to("11:59:59");
  const std::size_t before = operators.calls();
  operators.run_to("12:00:30");
  for (int minute = 0; minute < 30; ++minute) {
    operators.finish_jobs();
    operators.run(minutes(1));
  }
  EXPECT_EQ(operators.most_starts_of_a_period(), 1);
  EXPECT_THAT(operators.starts(), SizeIs(31));
  EXPECT_LE(operators.calls() - before, 31U * 6U);
  EXPECT_LE(operators.server.list("jobs").size(), 5U) << "history is kept short";
}

TEST_F(ControllerTest, LooksAtAKronJobOnceForEachAnswerAndNotForEventsThatRepeatThem) {
  operators.create(minutely);
  Operator& a = operators.start("a");
  a.way.event_delay = milliseconds(200);
  const auto looks = [&] {
    const std::string text = a.metrics.text();
    return std::stoi(text.substr(text.find("\nkron_reconciles_total ") + 23));
  };
  operators.run_to("11:59:59");
  const int before = looks();
  operators.run_to("12:00:30");
  ASSERT_THAT(operators.server.started(), SizeIs(1));
  EXPECT_LE(looks() - before, 4) << "due, created, recorded, opened";
}

TEST_F(ControllerTest, MakesNoCallsWhenNothingHappensButForTheLeaseAndTheWatches) {
  minutely.schedule = "0 0 1 1 *";
  operators.create(minutely);
  operators.start("a");
  operators.start("b");
  operators.run(minutes(2));
  const std::size_t before = operators.calls();
  const std::size_t all_before = operators["a"].way.asked().size();
  operators.run(hours(1));
  EXPECT_EQ(operators.calls(), before);
  for (std::size_t i = all_before; i < operators["a"].way.asked().size(); ++i) {
    const auto& asked = operators["a"].way.asked()[i];
    EXPECT_TRUE(asked.lane == kube::Lane::lease || asked.is_stream) << asked.request.path;
  }
  EXPECT_LE(operators["a"].way.asked().size() - all_before, 3600U / 2 + 2U * 60U / 5U + 4U);
}

TEST_F(ControllerTest, KeepsAStandbyFromActing) {
  operators.create(minutely);
  operators.start("a");
  operators.run(Seconds(1));
  operators.start("b");
  operators.run(minutes(3));
  EXPECT_EQ(operators["a"].controller.state(), State::leader);
  EXPECT_EQ(operators["b"].controller.state(), State::standby);
  EXPECT_THAT(verbs_of("b"), IsEmpty());
  EXPECT_TRUE(operators["a"].controller.is_ready());
  EXPECT_TRUE(operators["b"].controller.is_ready());
  EXPECT_THAT(operators["a"].metrics.text(), HasSubstr("kron_leader 1\n"));
  EXPECT_THAT(operators["b"].metrics.text(), HasSubstr("kron_leader 0\n"));
  EXPECT_THAT(operators["b"].metrics.text(), HasSubstr("kron_objects_cached{resource=\"kronjobs\"} 1\n"));
}

TEST_F(ControllerTest, TakesOverWithinTwentySecondsFromALeaderThatDies) {
  operators.create(minutely);
  operators.start("a");
  operators.run(Seconds(1));
  operators.start("b");
  operators.run_to("12:00:50");
  operators.kill("a");
  operators.run(Seconds(18));
  EXPECT_EQ(operators["b"].controller.state(), State::leader);
  operators.run_to("12:03:30");
  EXPECT_THAT(operators.recent(), ElementsAre("12:00 executed", "12:01 skipped, concurrency_forbid",
                                              "12:02 skipped, concurrency_forbid", "12:03 skipped, concurrency_forbid"))
      << "the first still runs, and its successor knows";
  EXPECT_EQ(operators.most_starts_of_a_period(), 1);
}

TEST_F(ControllerTest, OpensWhatALeaderHadRecordedWhenItDied) {
  operators.create(minutely);
  Operator& a = operators.start("a");
  operators.run(Seconds(1));
  operators.start("b");
  operators.run_to("11:59:59");
  a.way.fate = [](const ModelTransport::Asked& asked) {
    return asked.request.verb == kube::Verb::patch ? ModelTransport::Fate::not_sent : ModelTransport::Fate::answered;
  };
  operators.run_to("12:00:02");
  EXPECT_THAT(operators.server.started(), IsEmpty());
  operators.kill("a");
  operators.run(Seconds(20));
  EXPECT_THAT(operators.server.started(), SizeIs(1));
}

TEST_F(ControllerTest, HandsOverSoThatNotEvenAPeriodWithoutPatienceIsMissed) {
  minutely.deadline = "0s";
  minutely.concurrency = "allow";
  operators.create(minutely);
  Operator& a = operators.start("a");
  a.way.way_back = milliseconds(400);
  operators.run(Seconds(1));
  operators.start("b");
  operators.run_until(at("2026-03-01T12:00:00Z") + milliseconds(200));
  a.controller.stop();  // the Job of 12:00 is created, and not recorded yet
  a.tick();
  operators.run(Seconds(3));
  EXPECT_EQ(a.controller.state(), State::ended);
  EXPECT_THAT(operators.server.started(), SizeIs(1)) << "what was begun is finished";
  operators.run(Seconds(1));
  EXPECT_EQ(operators["b"].controller.state(), State::leader);

  operators.run_until(at("2026-03-01T12:00:59Z") + milliseconds(900));
  operators["b"].controller.stop();
  operators["b"].tick();
  operators.run(milliseconds(50));
  EXPECT_EQ(operators["b"].controller.state(), State::ended);
  operators.run_to("12:01:04");
  operators.start("c");
  operators.run_to("12:02:30");
  EXPECT_THAT(operators.recent(), ElementsAre("12:00 executed", "12:01 executed", "12:02 executed"));
  EXPECT_EQ(operators.most_starts_of_a_period(), 1);
}

TEST_F(ControllerTest, BeginsNothingMoreWhenItIsToldToEnd) {
  operators.create(minutely);
  Operator& a = operators.start("a");
  a.way.way_back = milliseconds(400);
  operators.run_until(at("2026-03-01T12:00:00Z") + milliseconds(200));
  a.controller.stop();
  a.tick();
  const std::size_t before = a.way.asked().size();
  KronJobText other = minutely;
  other.name = "other";
  operators.create(other);
  operators.run(Seconds(3));
  EXPECT_EQ(a.controller.state(), State::ended);
  EXPECT_THAT(operators.server.started(), SizeIs(1)) << "what was begun is finished";
  EXPECT_THAT(verbs_of("a", before),
              ::testing::Each(::testing::AnyOf("update kronjobs/status", "patch jobs", "create events")));
}

TEST_F(ControllerTest, ActsOnlyWhenItHasSeenBothKinds) {
  operators.create(minutely);
  operators.start("a");
  operators.run_to("12:00:10");
  operators.kill("a");
  operators.server.options.refusals = {
      {.verb = "list", .resource = "jobs", .code = 503, .reason = "ServiceUnavailable"}};
  operators.start("b");
  operators.run_to("12:02:10");
  EXPECT_EQ(operators["b"].controller.state(), State::leader);
  EXPECT_FALSE(operators["b"].controller.is_ready());
  EXPECT_THAT(verbs_of("b"), IsEmpty()) << "it would take the KronJob for idle";
  operators.server.options.refusals.clear();
  operators.run_to("12:03:10");
  EXPECT_THAT(operators.recent(), ::testing::Contains("12:03 skipped, concurrency_forbid"));
  EXPECT_THAT(operators.server.started(), SizeIs(1));
}

TEST_F(ControllerTest, SaysThatTheLeaseIsLostAndDoesNothingMore) {
  operators.create(minutely);
  Operator& a = operators.start("a");
  operators.start("b");
  operators.run(Seconds(10));
  Operator& leader = a.controller.state() == State::leader ? a : operators["b"];
  leader.way.is_down = true;
  leader.way.cut_watches();
  operators.run(Seconds(12));
  EXPECT_EQ(leader.controller.state(), State::lost);
  EXPECT_FALSE(leader.controller.is_ready());
  leader.way.is_down = false;
  const std::size_t before = leader.way.asked().size();
  operators.run(minutes(3));
  for (std::size_t i = before; i < leader.way.asked().size(); ++i) EXPECT_FALSE(is_call(leader.way.asked()[i]));
  EXPECT_GE(operators.server.started().size(), 1U);
}

TEST_F(ControllerTest, TellsWhatHappenedInTheLogAsEventsAndInMetrics) {
  operators.create(minutely);
  Operator& a = operators.start("a");
  operators.run_to("12:01:10");
  EXPECT_THAT(a.log.lines_of("kronjob_notice"), SizeIs(2));
  EXPECT_THAT(operators.server.list("events"), SizeIs(2));
  EXPECT_THAT(a.metrics.text(), HasSubstr("kron_periods_total{outcome=\"executed\",reason=\"\"} 1\n"));
  EXPECT_THAT(a.metrics.text(), HasSubstr("kron_periods_total{outcome=\"skipped\",reason=\"concurrency_forbid\"} 1\n"));
  EXPECT_THAT(a.metrics.text(), HasSubstr("kron_start_lateness_seconds_count 1\n"));
  EXPECT_THAT(a.metrics.text(), HasSubstr("kron_start_lateness_seconds_bucket{le=\"0.05\"} 1\n"));
}

TEST_F(ControllerTest, SaysThatAServerKnowsNoGate) {
  operators.server.options.knows_suspend = false;
  operators.create(minutely);
  Operator& a = operators.start("a");
  operators.run_to("12:00:10");
  EXPECT_THAT(a.log.lines_of("ungated"), SizeIs(1));
  EXPECT_THAT(a.metrics.text(), HasSubstr("kron_ungated 1\n"));
  EXPECT_EQ(operators.kron_job().status.find("Ready")->reason, "Ungated");
  EXPECT_THAT(operators.server.started(), SizeIs(1));
  EXPECT_THAT(operators.recent(), ElementsAre("12:00 executed"));
  EXPECT_THAT(a.metrics.text(), HasSubstr("kron_start_lateness_seconds_count 1\n"));
}

TEST_F(ControllerTest, WatchesOneNamespaceWhenToldSo) {
  operators.create(minutely);
  operators.start("a", Controller::Options{.ns = "other"});
  operators.start("b", Controller::Options{.ns = std::string(kNamespace)});
  operators.run_to("12:00:10");
  EXPECT_THAT(verbs_of("a"), IsEmpty());
  EXPECT_THAT(operators.server.started(), SizeIs(1));
}

TEST_F(ControllerTest, LooksAtEverythingWhenTheClockIsSet) {
  minutely.schedule = "0 15 * * *";
  minutely.deadline = "1h";
  operators.create(minutely);
  operators.start("a");
  operators.run(Seconds(10));
  operators.clock.jump_to(at("2026-03-01T15:00:20Z"));
  operators["a"].tick();
  operators.run(Seconds(1));
  EXPECT_THAT(operators.server.started(), SizeIs(1));
  operators.clock.jump_to(at("2026-03-01T14:59:50Z"));
  operators["a"].tick();
  operators.run(Seconds(30));
  EXPECT_EQ(operators.most_starts_of_a_period(), 1);
}

TEST_F(ControllerTest, RunsWhatAClockThatWasAheadHadPassedOver) {
  minutely.concurrency = "allow";
  operators.create(minutely);
  operators.start("a");
  operators.run_to("12:00:20");
  operators.clock.jump_to(at("2026-03-01T13:00:10Z"));
  operators["a"].tick();
  operators.run(Seconds(5));
  EXPECT_THAT(operators.recent(), ElementsAre("12:00 executed", "13:00 executed"));
  operators.clock.jump_to(at("2026-03-01T12:00:40Z"));
  operators["a"].tick();
  operators.run_to("12:02:10");
  EXPECT_THAT(operators.recent(), ElementsAre("12:00 executed", "13:00 executed", "12:01 executed", "12:02 executed"));
  EXPECT_EQ(operators.most_starts_of_a_period(), 1);
}

TEST_F(ControllerTest, RemovesTheGatedJobsOfAKronJobThatIsDeleted) {
  operators.server.options.refuse_status_with = 500;
  operators.create(minutely);
  operators.server.options.refuse_status_with = 0;
  operators.start("a");
  operators.run_to("11:59:50");
  operators.server.options.refuse_status_with = 500;
  operators.run_to("12:00:03");
  ASSERT_THAT(operators.server.list("jobs"), SizeIs(1));
  operators.server.remove("kronjobs", kNamespace, kName, kube::ApiServer::Deletion::orphan);
  operators.run(Seconds(5));
  EXPECT_THAT(operators.server.list("jobs"), IsEmpty());
  EXPECT_THAT(operators.server.started(), IsEmpty());
}

TEST_F(ControllerTest, RepeatsNoPeriodOfAKronJobThatIsMadeAnew) {
  minutely.schedule = "0 12 * * *";
  minutely.window = "30m";
  minutely.salt = "a";
  operators.create(minutely);
  operators.start("a");
  operators.run_to("12:31:00");
  ASSERT_THAT(operators.starts(), SizeIs(1));
  operators.server.remove("kronjobs", kNamespace, kName, kube::ApiServer::Deletion::background);
  operators.server.collect_garbage();
  minutely.window = "55m";
  minutely.salt = "b";
  operators.create(minutely);
  operators.run_to("13:30:00");
  EXPECT_EQ(operators.most_starts_of_a_period(), 1);
}

}  // namespace
}  // namespace kron::testing
