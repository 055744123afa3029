#include "kron/report/timeline_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"

namespace kron::report::timeline_json_test {
namespace {

using kron::testing::utc;
using ::testing::HasSubstr;

const Instant kMarch = utc("2026-03-01T00:00:00Z");

NamedTimeline two_lanes() {
  NamedTimeline ahead;
  ahead.timeline.from = kMarch;
  ahead.timeline.until = kMarch + Seconds(100);
  ahead.timeline.before = {2, 0};
  ahead.timeline.after = {1, 1};
  ahead.timeline.more = 3;
  ahead.timeline.lanes = {
      {.name = "a", .jobs = {0}, .periods = {{-5, -5, 10, 7}, {60, 60, 60, std::nullopt}}},
      {.name = "b*", .jobs = {1, 2, 3}, .is_dense = true, .density = {{0, 4}}, .windows = {{0, 50}}}};
  ahead.jobs = {{"a"}, {"b1", "b2", "b3"}};
  return ahead;
}

history::Entry run(std::string id, std::optional<int> exit_code) {
  return {.job = "a",
          .outcome = Outcome::executed,
          .period = kMarch - Seconds(5),
          .chosen = kMarch + Seconds(7),
          .run_id = std::move(id),
          .started_at = kMarch + Seconds(8),
          .ended_at = kMarch + Seconds(20),
          .exit_code = exit_code};
}

TEST(TimelineJson, HasWhatLiesAheadAndWhatWas) {
  history::Past past;
  past.starts = {1, 0};
  history::Entry running = run("r2", std::nullopt);
  running.ended_at.reset();
  running.chosen.reset();
  const history::Entry missed{.job = "a",
                              .outcome = Outcome::missed,
                              .period = kMarch + Seconds(30),
                              .chosen = kMarch + Seconds(31),
                              .ended_at = kMarch + Seconds(40)};
  past.lanes = {{.usual = std::chrono::milliseconds(11'600), .worst = 'x', .runs = {run("r1", 1), missed, running}},
                {.worst = 0}};
  EXPECT_EQ(timeline_json(two_lanes(), past, kMarch + Seconds(50)),
            R"({"from":"2026-03-01T00:00:00Z","until":"2026-03-01T00:01:40Z","now":"2026-03-01T00:00:50Z","lanes":[)"
            R"({"name":"a","jobs":1,"usual":12,"mark":"fail","periods":[[-5,-5,10,7],[60,60,60,null]],)"
            R"("runs":[[7,8,20,"fail","r1"],[31,31,null,"miss",""],[null,8,null,"run","r2"]]},)"
            R"({"name":"b*","jobs":3,"usual":null,"mark":null,"density":[[0,4]],"windows":[[0,50]]}],)"
            R"("more":3,"before":[2,0],"after":[1,1],"actual":[1,0]})");
}

TEST(TimelineJson, WithoutThePastItSaysWhy) {
  const std::string json = timeline_json(two_lanes(), fail(Code::io, "the disk is gone"), kMarch);
  EXPECT_THAT(json, HasSubstr(R"("runs":[])"));
  EXPECT_THAT(json, HasSubstr(R"("actual":[],"historyFailed":"the disk is gone"})"));
}

TEST(TimelineJson, AsksTheHistoryForWhatItShows) {
  const history::PastQuestion question = past_question(two_lanes(), kMarch + Seconds(50));
  EXPECT_EQ(question.starts.from, kMarch);
  EXPECT_EQ(question.starts.length, Seconds(100));
  EXPECT_EQ(question.starts.parts, 2U);
  EXPECT_EQ(question.starts.until, kMarch + Seconds(51));
  ASSERT_EQ(question.lanes.size(), 2U);
  EXPECT_TRUE(question.lanes[0].wants_runs);
  EXPECT_FALSE(question.lanes[1].wants_runs);
  EXPECT_EQ(question.most, 20'000U - 4U) << "two periods, a column and a window are told already";
}

TEST(TimelineJson, EveryLetterHasAMark) {
  std::string marks;
  for (const char letter : history::kLetters) marks += std::string(mark_of(letter)) + " ";
  EXPECT_EQ(marks, "ok fail fail unknown skip miss none over run ");
  EXPECT_EQ(mark_of(' '), "");
}

}  // namespace
}  // namespace kron::report::timeline_json_test
