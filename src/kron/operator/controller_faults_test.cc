// The controller when things go wrong: at most one start of a period, and no period lost that could be started.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>

#include "kron/kube/fake/node_edit.h"
#include "kron/operator/fake/operators.h"
#include "kron/operator/names.h"
#include "kron/testing/scale.h"

namespace kron::testing {
namespace {

using kube::ApiServer;
using std::chrono::milliseconds;
using std::chrono::minutes;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Asked = ModelTransport::Asked;
using WayFate = ModelTransport::Fate;

class ControllerFaults : public ::testing::Test {
 protected:
  ControllerFaults() { minutely.concurrency = "allow"; }

  // What is recorded as executed has started, and nothing else, and once.
  void expect_once() {
    EXPECT_EQ(operators.most_starts_of_a_period(), 1);
    for (const kronjobs::PeriodNote& note : operators.kron_job().status.recent) {
      const std::string key = std::string(kReport) + " " + rfc3339(note.period);
      EXPECT_EQ(operators.starts().contains(key), note.outcome == Outcome::executed) << key;
    }
  }

  Operators operators;
  KronJobText minutely;
};

TEST_F(ControllerFaults, StartsEachPeriodOnceThoughAnswersAreLost) {
  for (int seed = 0; seed < scaled(6); ++seed) {
    Operators world;
    world.create(minutely);
    Operator& a = world.start("a");
    a.way.patience = milliseconds(700);
    a.way.lands_after = Seconds(3);
    std::mt19937 random(static_cast<unsigned>(seed));
    a.way.fate = [&](const Asked& asked) {
      if (!is_call(asked)) return WayFate::answered;
      constexpr WayFate kFates[] = {WayFate::answered, WayFate::answered, WayFate::not_sent, WayFate::answer_lost,
                                    WayFate::floats};
      return kFates[random() % std::size(kFates)];
    };
    world.run(minutes(8));
    a.way.fate = {};
    world.run(minutes(2));
    EXPECT_EQ(world.most_starts_of_a_period(), 1) << "seed " << seed;
    std::size_t executed = 0;
    for (const std::string& line : world.recent()) executed += line.ends_with("executed") ? 1 : 0;
    EXPECT_EQ(world.starts().size(), executed) << "seed " << seed;
    EXPECT_GE(executed, 7U) << "seed " << seed << ": they have half a minute";
  }
}

TEST_F(ControllerFaults, TellsOfAPeriodOnceThoughTheAnswerToItsRecordIsLost) {
  operators.create(minutely);
  Operator& a = operators.start("a");
  operators.run_to("11:59:59");
  bool has_lost = false;
  a.way.fate = [&](const Asked& asked) {
    if (has_lost || asked.request.verb != kube::Verb::update || asked.lane != kube::Lane::call)
      return WayFate::answered;
    has_lost = true;
    return WayFate::answer_lost;
  };
  operators.run_to("12:00:20");
  EXPECT_TRUE(has_lost);
  EXPECT_THAT(operators.recent(), ElementsAre("12:00 executed"));
  EXPECT_THAT(a.metrics.text(), HasSubstr("kron_periods_total{outcome=\"executed\",reason=\"\"} 1\n"));
  EXPECT_THAT(a.log.lines_of("kronjob_notice"), SizeIs(1));
  expect_once();
}

TEST_F(ControllerFaults, ListsAnewWhenTheServerHasForgottenWhatItWatches) {
  for (const bool gone_as_status : {false, true}) {
    Operators world;
    world.server.options.gone_as_status = gone_as_status;
    world.create(minutely);
    KronJobText other = minutely;
    other.name = "other";
    world.create(other);
    Operator& a = world.start("a");
    world.run_to("12:00:20");
    a.way.holds_events = true;
    world.server.remove("kronjobs", kNamespace, "other", ApiServer::Deletion::background);
    world.server.collect_garbage();
    world.server.edit("kronjobs", kNamespace, kName, [](const Node& object) {
      return kube::with_text(object, {"spec", "schedule"}, "*/2 * * * *");
    });
    world.server.compact();
    a.way.cut_watches();
    a.way.holds_events = false;
    world.run_to("12:04:30");
    EXPECT_THAT(world.recent(), ElementsAre("12:00 executed", "12:02 executed", "12:04 executed"));
    EXPECT_EQ(world.starts().size(), 4U) << "other has run once";
    EXPECT_EQ(a.controller.cache().seen("shop/other"), std::nullopt);
    EXPECT_THAT(a.metrics.text(), HasSubstr("kron_objects_cached{resource=\"kronjobs\"} 1\n"));
  }
}

TEST_F(ControllerFaults, ForgetsJobsThatOnlyItsOwnAnswersHadShown) {
  operators.create(minutely);
  Operator& a = operators.start("a");
  operators.run_to("11:59:59");
  a.way.holds_events = true;
  operators.run_to("12:00:10");
  ASSERT_THAT(operators.server.started(), SizeIs(1));
  operators.server.remove("jobs", kNamespace, operators.server.started()[0].name, ApiServer::Deletion::background);
  operators.server.compact();
  a.way.cut_watches();
  a.way.holds_events = false;
  operators.run(Seconds(5));
  EXPECT_THAT(operators.kron_job().status.active, IsEmpty()) << "no watch has ever shown it";
}

TEST_F(ControllerFaults, StartsEachPeriodOnceWithTwoThatBothBelieveToBeTheLeader) {
  for (int seed = 0; seed < scaled(4); ++seed) {
    Operators world;
    world.create(minutely);
    std::mt19937 random(static_cast<unsigned>(seed));
    for (const char* name : {"a", "b"}) {
      Operator& one = world.start(name, false);
      one.way.way = milliseconds(random() % 20);
      one.way.way_back = milliseconds(random() % 20);
      one.way.event_delay = milliseconds(random() % 3000);
    }
    world.run(minutes(9));
    EXPECT_EQ(world.most_starts_of_a_period(), 1) << "seed " << seed;
    EXPECT_EQ(world.starts().size(), 9U) << "seed " << seed;
  }
}

TEST_F(ControllerFaults, IsNotDoubledByALeaderThatWakesUp) {
  operators.create(minutely);
  Operator& a = operators.start("a");
  a.way.way = milliseconds(100);
  operators.run(Seconds(2));
  operators.start("b");
  operators.run_until(at("2026-03-01T12:00:00Z") + milliseconds(50));
  a.is_frozen = true;  // its create is on the way
  operators.run(minutes(1));
  EXPECT_EQ(operators["b"].controller.state(), Operators::State::leader);
  a.is_frozen = false;
  operators.run(minutes(2));
  EXPECT_EQ(a.controller.state(), Operators::State::lost);
  expect_once();
  EXPECT_THAT(operators.starts(), SizeIs(4));
}

TEST_F(ControllerFaults, StartsNothingWhileNoStatusCanBeWritten) {
  operators.create(minutely);
  Operator& a = operators.start("a");
  operators.run_to("11:59:50");
  operators.server.options.refuse_status_with = 403;
  const std::size_t before = operators.calls();
  operators.run_to("12:10:30");
  EXPECT_THAT(operators.server.started(), IsEmpty());
  EXPECT_LE(operators.calls() - before, 120U) << "and does not ask all the time";
  EXPECT_THAT(a.log.lines_of("call_failed"), ::testing::Not(IsEmpty()));
  operators.server.options.refuse_status_with = 0;
  operators.run_to("12:13:30");
  expect_once();
  EXPECT_THAT(operators.recent(), Contains("12:13 executed"));
  EXPECT_LE(operators.server.list("jobs").size(), 6U) << "what was never recorded is removed";
}

TEST_F(ControllerFaults, StartsEachPeriodOnceThoughAUserDeletesEachJobAsItAppears) {
  operators.create(minutely);
  Operator& a = operators.start("a");
  a.way.way = a.way.way_back = milliseconds(10);
  operators.after_each = [&] {
    for (const ApiServer::Object& job : operators.server.list("jobs")) {
      operators.server.remove("jobs", kNamespace, kube::text_at(*job, {"metadata", "name"}),
                              ApiServer::Deletion::background);
    }
  };
  const std::size_t before = operators.calls();
  operators.run_to("12:05:30");
  EXPECT_LE(operators.most_starts_of_a_period(), 1);
  EXPECT_LE(operators.calls() - before, 6U * 25U) << "and makes it no fight";
  operators.after_each = {};
  operators.run_to("12:08:30");
  EXPECT_EQ(operators.most_starts_of_a_period(), 1);
  EXPECT_THAT(operators.recent(), Contains("12:08 executed"));
}

TEST_F(ControllerFaults, WaitsAsLongAsTheServerAsks) {
  operators.create(minutely);
  operators.start("a");
  operators.run_to("11:59:58");
  operators.server.options.refusals = {
      {.verb = "create", .resource = "jobs", .code = 429, .reason = "TooManyRequests", .retry_after = 4}};
  const std::size_t before = operators.calls();
  operators.run_to("12:00:10");
  EXPECT_LE(operators.calls() - before, 4U);
  operators.server.options.refusals.clear();
  operators.run_to("12:00:29");
  EXPECT_THAT(operators.recent(), ElementsAre("12:00 executed"));
}

TEST_F(ControllerFaults, SparesAServerThatIsBusyTheOthersToo) {
  for (int i = 0; i < 10; ++i) {
    minutely.name = "job-" + std::to_string(i);
    operators.create(minutely);
  }
  operators.start("a", kronjobs::Controller::Options{.calls = 1});
  operators.run_to("11:59:58");
  operators.server.options.refusals = {
      {.verb = "create", .resource = "jobs", .code = 429, .reason = "TooManyRequests", .retry_after = 4}};
  const std::size_t before = operators.calls();
  operators.run_to("12:00:03");
  EXPECT_LE(operators.calls() - before, 2U);
  operators.server.options.refusals.clear();
  operators.run_to("12:00:29");
  EXPECT_EQ(operators.starts().size(), 10U);
}

TEST_F(ControllerFaults, HearsOfNothingTwiceAndInPiecesWithoutHarm) {
  operators.create(minutely);
  Operator& a = operators.start("a");
  int lines = 0;
  a.way.line_fate = [&](std::string_view) {
    using LineFate = ModelTransport::LineFate;
    constexpr LineFate kFates[] = {LineFate::twice, LineFate::in_bytes, LineFate::whole, LineFate::cut};
    return kFates[++lines % 4];
  };
  operators.run_to("12:06:30");
  expect_once();
  EXPECT_THAT(operators.starts(), SizeIs(7));
}

TEST_F(ControllerFaults, StartsHundredsThatAreDueWithinAMinuteEachWithinASecond) {
  const int count = std::min(2'000, 100 * scaled(1));
  for (int i = 0; i < count; ++i) {
    KronJobText one = minutely;
    one.schedule = "5 12 * * *";
    one.window = "1m";
    one.name = "job-" + std::to_string(i);
    operators.create(one);
  }
  Operator& a = operators.start("a");
  a.way.way = a.way.way_back = milliseconds(2);
  operators.run_to("12:04:50");
  const std::size_t before = operators.calls();
  operators.run_to("12:06:10");
  EXPECT_EQ(operators.starts().size(), static_cast<std::size_t>(count));
  EXPECT_EQ(operators.most_starts_of_a_period(), 1);
  EXPECT_LE(operators.calls() - before, static_cast<std::size_t>(count) * 4U);
  EXPECT_THAT(a.metrics.text(),
              HasSubstr("kron_start_lateness_seconds_bucket{le=\"1\"} " + std::to_string(count) + "\n"));
}

class ControllerCrowd : public ControllerFaults {
 protected:
  // So many that are due at noon.
  void create_crowd(int count, const std::string& deadline) {
    for (int i = 0; i < count; ++i) {
      KronJobText one = minutely;
      one.schedule = "0 12 * * *";
      one.deadline = deadline;
      one.name = "job-" + std::to_string(i);
      operators.create(one);
    }
  }
};

TEST_F(ControllerCrowd, IsLookedAtOnceForEachCallThoughMostOfItWaits) {
  create_crowd(200, "30s");
  Operator& a = operators.start("a", {.calls = 2});
  operators.run_to("11:59:59");
  const auto looks = [&] {
    const std::string text = a.metrics.text();
    return std::stoi(text.substr(text.find("\nkron_reconciles_total ") + 23));
  };
  const int before = looks();
  operators.run_to("12:00:00");
  operators.run(milliseconds(900));
  EXPECT_THAT(operators.starts(), SizeIs(200));
  EXPECT_LE(looks() - before, 200 * 4 + 10) << "due, created, recorded, opened";
}

TEST_F(ControllerCrowd, IsStartedBeforeItIsToldOf) {
  create_crowd(100, "30s");
  Operator& a = operators.start("a", {.calls = 7});  // the last ones leave room for others
  operators.run_to("11:59:59");
  const std::size_t before = a.way.asked().size();
  operators.run_to("12:00:10");
  EXPECT_THAT(operators.starts(), SizeIs(100));
  EXPECT_THAT(operators.server.list("events"), SizeIs(100));
  std::size_t opened = 0;
  for (std::size_t i = before; i < a.way.asked().size(); ++i) {
    const kube::Request& request = a.way.asked()[i].request;
    if (request.verb == kube::Verb::patch) ++opened;
    if (!request.path.ends_with("/events")) continue;
    EXPECT_EQ(opened, 100U) << "the last is open before the first is told of";
  }
}

TEST_F(ControllerCrowd, IsJudgedAnewWhenTimeHasPassedWhileItWaited) {
  create_crowd(100, "5s");
  Operator& a = operators.start("a", {.limits = {.per_second = 10, .burst = 10}});
  operators.run_to("12:03:00");
  EXPECT_EQ(operators.most_starts_of_a_period(), 1);
  const std::size_t started = operators.starts().size();
  EXPECT_GT(started, 5U);
  EXPECT_LT(started, 60U) << "the others waited beyond their deadline";
  const auto is_create = [](const Asked& asked) {
    return asked.request.verb == kube::Verb::create && asked.request.path.ends_with("/jobs") &&
           asked.request.query.empty();
  };
  EXPECT_EQ(std::ranges::count_if(a.way.asked(), is_create), static_cast<std::ptrdiff_t>(started))
      << "no Job for those that are missed";
  int missed = 0;
  for (int i = 0; i < 100; ++i) {
    missed += static_cast<int>(operators.recent("job-" + std::to_string(i)) ==
                               std::vector<std::string>{"12:00 missed, deadline"});
  }
  EXPECT_EQ(started + static_cast<std::size_t>(missed), 100U);
}

}  // namespace
}  // namespace kron::testing
