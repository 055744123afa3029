#include "kron/forecast/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"
#include "kron/forecast/local_time.h"
#include "kron/forecast/refusal.h"
#include "kron/json/document.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

using ::testing::HasSubstr;
using testing::make_job;
using testing::utc;

const testing::JobSpec kBackup{
    .schedule = "0 0 * * *", .window = "3h", .deadline = "10m", .identity = "prod/db-backup", .salt = "backup"};
constexpr std::string_view kChosen = "2026-03-01T02:32:20Z";

TEST(LocalTime, HasTheOffsetInForce) {
  EXPECT_EQ(local_text(testing::zone("Europe/Paris"), utc("2026-03-01T02:32:20Z")), "2026-03-01T03:32:20+01:00");
  EXPECT_EQ(local_text(testing::zone("America/St_Johns"), utc("2026-07-01T00:00:00Z")), "2026-06-30T21:30:00-02:30");
}

TEST(Explanation, NamesTheClauseThatRefusesEachDraw) {
  Job job = make_job(kBackup);
  ASSERT_TRUE(add_clause(job.constraints.only, "hours", "0-23").has_value());
  ASSERT_TRUE(add_clause(job.constraints.avoid, "hours", "2").has_value());
  const Explanation story = explain(job, utc("2026-03-01T00:00:00Z"), std::nullopt);
  ASSERT_GE(story.attempts.size(), 2U);
  EXPECT_EQ(story.attempts.front().draw.candidate, utc(std::string(kChosen)));
  EXPECT_EQ(story.attempts.front().refused_by, "avoid hours=2");
  EXPECT_TRUE(story.attempts.back().refused_by.empty());
  EXPECT_THAT(text_of(story), HasSubstr("refused: avoid hours=2"));
}

TEST(Explanation, TheShapeOfItsWindowHasSixtyPartsAndTheStretchesThatAreAllowed) {
  Job job = make_job(kBackup);
  ASSERT_TRUE(add_clause(job.constraints.avoid, "hours", "1").has_value());
  const Explanation story = explain(job, utc("2026-03-01T00:00:00Z"), std::nullopt);
  const Node shape = parse_json(json_with_shape(story)).value();
  const auto& buckets = *shape.find("buckets")->as<Node::List>();
  ASSERT_EQ(buckets.size(), 60U);
  const auto real = [](const Node& map, const char* key) {
    const Node* value = map.find(key);
    return value->as<double>() != nullptr ? *value->as<double>() : static_cast<double>(*value->as<std::int64_t>());
  };
  double all = 0;
  double allowed = 0;
  for (const Node& bucket : buckets) {
    all += real(bucket, "share");
    allowed += real(bucket, "share") * real(bucket, "allowed");
  }
  EXPECT_NEAR(all, 1, 1e-9);
  EXPECT_NEAR(allowed, story.allowed.share, 0.001);
  const auto& spans = *shape.find("allowedSpans")->as<Node::List>();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(*spans[0].find("to")->as<std::string>(), "2026-03-01T00:59:59Z");
  EXPECT_EQ(*spans[1].find("from")->as<std::string>(), "2026-03-01T02:00:00Z");
  EXPECT_EQ(*shape.find("text")->as<std::string>(), text_of(story));
  EXPECT_TRUE(json_with_shape(story).starts_with(json_of(story).substr(0, json_of(story).size() - 1) + ","));
}

TEST(Refusals, RefuseExactlyWhatTheConstraintsRefuse) {
  testing::for_all(300, [] {
    Constraints constraints;
    const auto add = [](ConstraintSet& set, const char* kind, const char* value) {
      if (*rc::gen::arbitrary<bool>()) RC_ASSERT(add_clause(set, kind, value).has_value());
    };
    for (ConstraintSet* set : {&constraints.only, &constraints.avoid}) {
      add(*set, "hours", "3-15");
      add(*set, "dow", "FRI-MON");
      add(*set, "dom", "1-20");
      add(*set, "months", "2-11");
      add(*set, "between", "22:00-14:00");
      add(*set, "dates", "2026-03-01..2026-08-01");
    }
    const CivilTime time = civil_of(1'767'225'600 + *rc::gen::inRange(0, 31'000'000));
    RC_ASSERT(Refusals(constraints).of(time).empty() == constraints.allow(time));
  });
}

TEST(Explanation, TellsOfATimeThatTheClockJumpsOver) {
  const Job job = make_job({.schedule = "30 2 * * *", .zone = "Europe/Paris"});
  const Explanation story = explain(job, utc("2026-03-29T01:00:00Z"), std::nullopt);
  ASSERT_TRUE(story.gap.has_value());
  EXPECT_EQ(story.fields[1].value, 2);
  EXPECT_THAT(text_of(story), HasSubstr("jumps over 2026-03-29 02:30:00"));
}

TEST(Explanation, TellsWhichPassOfARepeatedHourItIs) {
  const Job job = make_job({.schedule = "*/30 * * * *", .zone = "Europe/Paris"});
  EXPECT_THAT(text_of(explain(job, utc("2026-10-25T01:30:00Z"), std::nullopt)), HasSubstr("the second pass"));
  EXPECT_THAT(text_of(explain(job, utc("2026-10-25T00:30:00Z"), std::nullopt)), HasSubstr("the first pass"));
}

TEST(Explanation, SecondsAndYearsAreFieldsToo) {
  const Job job = make_job({.schedule = "15 0 12 * * ? 2026-2028"});
  const Explanation story = explain(job, utc("2026-03-01T12:00:15Z"), std::nullopt);
  ASSERT_EQ(story.fields.size(), 7U);
  EXPECT_EQ(story.fields.front().value, 15);
  EXPECT_EQ(story.fields.back().accepts, "2026-2028");
}

TEST(Explanation, SaysWhatPolicyWouldDo) {
  struct Case {
    std::string now;
    Concurrency concurrency;
    std::string sentence;
  };
  const std::vector<Case> cases{
      {"2026-03-01T01:00:00Z", Concurrency::forbid, "with no run active: wait until 2026-03-01T02:32:20Z"},
      {"2026-03-01T02:40:00Z", Concurrency::forbid, "with no run active: start"},
      {"2026-03-01T02:40:00Z", Concurrency::forbid, "with a run active: record it as skipped (concurrency_forbid)"},
      {"2026-03-01T02:40:00Z", Concurrency::allow, "with a run active: start"},
      {"2026-03-01T02:40:00Z", Concurrency::replace, "with a run active: end that run, then start"},
      {"2026-03-01T02:40:00Z", Concurrency::queue,
       "with a run active: wait for its end, until 2026-03-01T02:42:20Z at the latest"},
      {"2026-03-01T02:42:21Z", Concurrency::queue, "with a run active: record it as missed (deadline)"},
      {"2026-03-01T02:42:21Z", Concurrency::forbid, "record it as missed (deadline)"},
      {"2026-03-05T00:00:00Z", Concurrency::forbid, "pass it over"},
  };
  for (const auto& [now, concurrency, sentence] : cases) {
    Job job = make_job(kBackup);
    job.policy.concurrency = concurrency;
    EXPECT_THAT(text_of(explain(job, utc("2026-03-01T00:00:00Z"), utc(now))), HasSubstr(sentence)) << now;
  }
}

TEST(Explanation, SaysWhatPausesAndSpreads) {
  Job job = make_job(kBackup);
  const auto text = [&] { return text_of(explain(job, utc("2026-03-01T00:00:00Z"), utc("2026-03-01T02:40:00Z"))); };
  EXPECT_THAT(text(), Not(HasSubstr("paused after")));
  EXPECT_THAT(text(), Not(HasSubstr("found more than")));
  job.policy.pause_after = 1;
  EXPECT_THAT(text(), HasSubstr("paused after a failure of a scheduled run\n"));
  job.policy.pause_after = 3;
  job.policy.catch_up_spread = std::chrono::minutes(10);
  EXPECT_THAT(text(), HasSubstr("paused after 3 failures of scheduled runs in a row\n"));
  EXPECT_THAT(text(), HasSubstr("found more than 10s late, it starts within 10m and its deadline\n"));
}

TEST(Explanation, SaysWhatKrondSays) {
  Job job = make_job(kBackup);
  job.policy.deadline = std::chrono::minutes(10);
  const auto told = [&] {
    Explanation explanation = explain(job, utc("2026-03-01T00:00:00Z"), utc("2026-03-01T02:40:00Z"));
    explanation.krond = {.catch_up_spread = std::chrono::minutes(30), .max_running = 8};
    return explanation;
  };
  EXPECT_THAT(text_of(told()),
              HasSubstr("found more than 10s late, it starts within 30m and its deadline (krond --catch-up-spread)\n"));
  EXPECT_THAT(text_of(told()), HasSubstr("needs one of 8 slots of the host (krond --max-running): without one it waits "
                                         "until 2026-03-01T02:42:20Z, then it is missed (no slot)\n"));
  EXPECT_THAT(json_of(told()), HasSubstr(R"("maxRunning":8,"catchUpSpreadSeconds":1800)"));
  job.policy.catch_up_spread = Seconds(60);
  EXPECT_THAT(text_of(told()), HasSubstr("it starts within 1m and its deadline\n"));
  job.policy.catch_up_spread = Seconds(0);
  EXPECT_THAT(text_of(told()), Not(HasSubstr("found more than")));
  EXPECT_THAT(json_of(told()), Not(HasSubstr("catchUpSpread")));
}

TEST(Explanation, SaysWhatGoesOnBesideTheRun) {
  jobs::JobDefinition definition;
  definition.job = make_job(kBackup);
  jobs::RunOptions options;
  const auto told = [&] {
    definition.options = std::make_shared<const jobs::RunOptions>(options);
    return explain(definition, utc("2026-03-01T00:00:00Z"), utc("2026-03-01T02:40:00Z"));
  };
  for (const char* words : {"tried again", "tells", "check"}) {
    EXPECT_THAT(text_of(told()), Not(HasSubstr(words)));
  }
  for (const char* key : {"retry", "notify", "pings"}) EXPECT_THAT(json_of(told()), Not(HasSubstr(key)));
  options.process.retry = 1;
  EXPECT_THAT(text_of(told()), HasSubstr("a command that fails is tried again once within its run, after 10s\n"));
  options.process.retry = 5;
  options.process.backoff = 30;
  options.notify = AlarmTerms{.on = {AlarmKind::failed, AlarmKind::missed, AlarmKind::recovered}, .to = {"ops", "me"}};
  options.ping = "https://hc.example/secret";
  EXPECT_THAT(text_of(told()), HasSubstr("tried again 5 times at most within its run, after 30s, 1m, 2m, 4m …\n"));
  EXPECT_THAT(text_of(told()),
              HasSubstr("tells ops, me when it goes bad (failed, missed), and when it is well again\n"));
  EXPECT_THAT(text_of(told()), HasSubstr("a check hears when its run starts and how it ends (ping)\n"));
  EXPECT_THAT(json_of(told()),
              HasSubstr(R"("retry":{"most":5,"backoffSeconds":30},)"
                        R"("notify":{"on":["failed","missed","recovered"],"after":1,"to":["ops","me"]},)"
                        R"("pings":true)"));
  EXPECT_THAT(text_of(told()) + json_of(told()), Not(HasSubstr("secret")));
  options.notify->on = {AlarmKind::late};
  options.notify->after = 3;
  EXPECT_THAT(text_of(told()), HasSubstr("tells ops, me when it goes bad (late, 3 in a row)\n"));
}

TEST(Explanation, SaysWhichSlotItNeeds) {
  Job job = make_job(kBackup);
  const auto told = [&] {
    Explanation explanation = explain(job, utc("2026-03-01T00:00:00Z"), utc("2026-03-01T02:40:00Z"));
    explanation.pool = jobs::SlotPool{"db", 4};
    return explanation;
  };
  job.policy.deadline = std::chrono::minutes(10);
  EXPECT_THAT(text_of(told()), HasSubstr("needs one of 4 slots of the pool db: without one it waits until "
                                         "2026-03-01T02:42:20Z, then it is missed (no slot)\n"));
  EXPECT_THAT(json_of(told()), HasSubstr(R"("pool":{"name":"db","slots":4})"));
  job.policy.deadline = Seconds(0);
  EXPECT_THAT(text_of(told()), HasSubstr("without one it is missed at once (no slot)\n"));
  EXPECT_THAT(json_of(explain(job, utc("2026-03-01T00:00:00Z"), std::nullopt)), Not(HasSubstr("pool")));
}

TEST(Explanation, APeriodIsFoundByATimeThatBelongsToIt) {
  const Job after = make_job(kBackup);
  EXPECT_EQ(period_at(after, utc("2026-03-01T00:00:00Z")), utc("2026-03-01T00:00:00Z"));
  EXPECT_EQ(period_at(after, utc("2026-03-01T20:00:00Z")), utc("2026-03-01T00:00:00Z"));
  const Job before = make_job({.schedule = "0 0 * * *", .window = "3h", .mode = WindowMode::before});
  EXPECT_EQ(period_at(before, utc("2026-03-01T22:00:00Z")), utc("2026-03-02T00:00:00Z"));
  EXPECT_EQ(period_at(before, utc("2026-03-01T20:00:00Z")), utc("2026-03-01T00:00:00Z"));
}

TEST(Explanation, WithOverlappingWindowsTheOneThatRunsThenIsMeant) {
  const Job job = make_job({.schedule = "0 * * * *", .window = "5h"});
  testing::for_all(50, [&] {
    const Instant nominal = instant_of(1'772'323'200 + 3600 * *rc::gen::inRange(0, 5000));
    const Instant found = period_at(job, *decide(job, nominal).chosen).value();
    RC_ASSERT(decide(job, found).chosen == decide(job, nominal).chosen);
  });
}

TEST(Explanation, AnUnknownPeriodNamesItsNeighbours) {
  const auto period = known_period(make_job(kBackup), utc("2026-03-01T00:00:01Z"));
  ASSERT_FALSE(period.has_value());
  EXPECT_EQ(period.error().code, Code::not_found);
  EXPECT_THAT(period.error().message, HasSubstr("2026-03-01T00:00:00Z, the one after is 2026-03-02T00:00:00Z"));
}

}  // namespace
}  // namespace kron
