#include "kron/daemon/host_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/env/fake/capturing_log.h"

namespace kron::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HostEvents, ALineSaysWhichHostItIsOf) {
  testing::CapturingLog log;
  HostLog of_host(log, [] { return "h1#2"; });
  of_host.info("run_ended", {{"identity", "a"}});
  ASSERT_EQ(log.lines_of("run_ended").size(), 1U);
  EXPECT_EQ(log.lines_of("run_ended")[0].field("host"), "h1#2");
}

// What the hub keeps is what a reader who comes later gets.
class PublishedOfOthers : public ::testing::Test {
 protected:
  std::string published(const history::Entry& entry) {
    publish_of_others(entry, WallTime(), events_);
    return events_.kept_text();
  }
  api::EventHub events_{1};
};

TEST_F(PublishedOfOthers, AStartAndAnEndLookAsInTheLogOfTheirHost) {
  history::Entry run{.job = "a",
                     .outcome = Outcome::executed,
                     .period = instant_of(60),
                     .run_id = "r1",
                     .host = "h2",
                     .started_at = instant_of(60)};
  EXPECT_THAT(published(run), HasSubstr(R"("event":"run_started","identity":"a","periodId":"1970-01-01T00:01:00Z",)"
                                        R"("runId":"r1")"));
  run.ended_at = instant_of(61);
  run.exit_code = 3;
  const std::string text = published(run);
  EXPECT_THAT(text, HasSubstr(R"("event":"run_ended","identity":"a","periodId":"1970-01-01T00:01:00Z","runId":"r1",)"
                              R"("exitCode":3)"));
  EXPECT_THAT(text, HasSubstr(R"("host":"h2")"));
}

TEST_F(PublishedOfOthers, AnOutcomeWithoutARunIsTheEndOfAPeriod) {
  const std::string text = published(
      {.job = "a", .outcome = Outcome::skipped, .reason = Reason::lock_held, .period = instant_of(60), .host = "h2"});
  EXPECT_THAT(text, HasSubstr(R"("event":"period_ended")"));
  EXPECT_THAT(text, HasSubstr(R"("outcome":"skipped","reason":"lock_held")"));
  EXPECT_THAT(text, Not(HasSubstr("runId")));
}

TEST_F(PublishedOfOthers, PeriodsThatWerePassedOverAreCounted) {
  const std::string text =
      published({.job = "a", .host = "h2", .passed_over = PassedOver{3, instant_of(60), instant_of(180)}});
  EXPECT_THAT(text, HasSubstr(R"("event":"passed_over","identity":"a","count":3)"));
}

}  // namespace
}  // namespace kron::daemon
