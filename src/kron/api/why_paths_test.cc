#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "kron/api/fake/api_rig.h"
#include "kron/core/catch_up.h"
#include "kron/state/names.h"
#include "kron/state/record.h"

namespace kron::api::why_paths_test {
namespace {

using namespace std::chrono_literals;
using history::Entry;
using ::testing::HasSubstr;
using testing::JobSpec;
using ::testing::StartsWith;
using testing::utc;

// The rig begins at midnight of the first of March 2026, a Sunday.
const Instant kMidnight = utc("2026-03-01T00:00:00Z");
const Instant kThree = utc("2026-03-02T03:00:00Z");

class WhyPathsTest : public ApiRig {
 protected:
  // These jobs, and then the next noon but one; the daemon has judged what was due, and nothing of it was told to the
  // history.
  void have(std::vector<jobs::JobDefinition> jobs, Instant until = utc("2026-03-02T12:00:00Z")) {
    do_on_loop([&] {
      ASSERT_TRUE(host_.reload(std::move(jobs)));
      host_.run_until(until);
    });
  }

  void tell(Entry entry) {
    entry.job = "job";
    history_->add(std::move(entry));
  }

  Node why(const std::string& query = {}, const std::string& job = "job") {
    const http::Response response = ask("GET", "/api/v1/jobs/" + job + "/why" + query);
    EXPECT_EQ(response.status, 200) << response.body;
    return parse_json(response.body).value();
  }

  static std::string text(const Node& answer, std::string_view name) { return *answer.find(name)->as<std::string>(); }

  void expect(const std::string& query, std::string_view verdict, std::string_view sentence) {
    SCOPED_TRACE(query);
    const Node answer = why(query);
    EXPECT_EQ(text(answer, "verdict"), verdict) << text(answer, "sentence");
    EXPECT_THAT(text(answer, "sentence"), StartsWith(std::string(verdict)));
    EXPECT_THAT(text(answer, "sentence"), HasSubstr(std::string(sentence)));
  }
};

jobs::JobDefinition nightly(JobSpec spec = {.schedule = "0 3 * * *"}) { return testing::job(std::move(spec)); }

jobs::JobDefinition of_weekdays() {
  jobs::JobDefinition definition = nightly({.schedule = "0 3 * * *", .window = "1h"});
  EXPECT_TRUE(add_clause(definition.job.constraints.only, "dow", "MON-FRI"));
  return definition;
}

Entry outcome(Outcome outcome, Reason reason, Instant judged = kThree) {
  return {.job = {}, .outcome = outcome, .reason = reason, .period = kThree, .chosen = kThree, .ended_at = judged};
}

Entry run(std::optional<int> exit, const std::string& detail = {}) {
  return {.job = {},
          .outcome = Outcome::executed,
          .detail = detail,
          .period = kThree,
          .chosen = kThree,
          .run_id = "r1",
          .started_at = kThree,
          .ended_at = kThree + 5s,
          .exit_code = exit};
}

TEST_F(WhyPathsTest, ARunWithEachEnd) {
  const std::vector<std::pair<Entry, std::string>> rows{
      {run(0), "exit 0"},
      {run(3), "failed with exit 3"},
      {run(std::nullopt, "timed out after 2s"), "timed out after 2s"},
      {run(std::nullopt), "how it ended is not known"},
  };
  have({nightly()});
  Instant three = kThree;
  for (auto [entry, sentence] : rows) {
    entry.run_id = rfc3339(three);
    entry.period = entry.chosen = entry.started_at = three;
    entry.ended_at = three + 5s;
    tell(entry);
    expect("?period=" + rfc3339(three), "executed", sentence);
    three += 24h;
    do_on_loop([&] { host_.run_until(three + 9h); });
  }
}

TEST_F(WhyPathsTest, EachReasonForASkip) {
  const std::map<Reason, std::string> reasons{
      {Reason::concurrency_forbid, "concurrency=forbid allows one at a time"},
      {Reason::lock_held, "another host held the job's lock"},
      {Reason::paused, "wanted what became due meanwhile to be skipped"},
      {Reason::replaced_before_start, "a later period was due"},
      {Reason::could_not_stop, "did not end"},
      {Reason::start_failed, "it could not be started"},
      {Reason::unknown, "unknown"},
  };
  Instant three = kThree;
  have({nightly()});
  for (const auto& [reason, sentence] : reasons) {
    Entry entry = outcome(Outcome::skipped, reason, three);
    entry.period = entry.chosen = three;
    tell(entry);
    expect("?period=" + rfc3339(three), "skipped", sentence);
    three += 24h;
    do_on_loop([&] { host_.run_until(three + 9h); });
  }
}

TEST_F(WhyPathsTest, ASkipNamesTheRunThatWentOn) {
  have({nightly()});
  Entry other = run(0);
  other.period = other.chosen = other.started_at = kThree - 1h;
  other.ended_at = kThree + 1h;
  tell(other);
  tell(outcome(Outcome::skipped, Reason::concurrency_forbid));
  EXPECT_THAT(text(why(), "reason"), StartsWith("the run r1 of the period 2026-03-02T02:00:00Z went on then"));
}

TEST_F(WhyPathsTest, WhatWasMissedWhileKrondWasDown) {
  history_->end_up_time();
  std::promise<void> noted;
  history_->up_times([&](const auto&) { noted.set_value(); });
  noted.get_future().get();
  do_on_loop([&] {
    ASSERT_TRUE(host_.reload({nightly({.schedule = "0 3 * * *", .deadline = "1h"})}));
    host_.run_until(kMidnight + 1h);
  });
  server_.reset();
  history_.reset();
  do_on_loop([&] { host_.pass(kThree + 4h - now(host_.clock)); });
  history_ = history::History::open(directory_.string(), {}, host_.clock, log_).value();
  api_ = std::make_unique<Api>(parts());
  serve();
  tell(outcome(Outcome::missed, Reason::deadline, kThree + 4h));
  const Node answer = why();
  EXPECT_EQ(text(answer, "sentence"), "missed: krond was stopped from 2026-03-01T00:00:00Z to 2026-03-02T07:00:00Z");
  EXPECT_EQ(text(*answer.find("down"), "why"), "stopped");
  EXPECT_EQ(text(answer, "instead"), "with deadline=6h it would have started at 2026-03-02T07:00:00Z");
  // In a cluster it is no cause: another host could have done it.
  do_on_loop([&] { status_.cluster = ClusterStatus{.instance = "web-1"}; });
  const Node in_cluster = why();
  EXPECT_EQ(text(in_cluster, "sentence"), "missed: it could not be started before its deadline was over");
  EXPECT_THAT(text(in_cluster, "reason"), HasSubstr("on web-1, krond was stopped from 2026-03-01T00:00:00Z"));
  EXPECT_EQ(text(*in_cluster.find("down"), "host"), "web-1");
}

TEST_F(WhyPathsTest, AJobThatIsPausedInTheDefinitionOfACluster) {
  jobs::JobDefinition definition = nightly();
  definition.job.policy.suspend = true;
  definition.pause =
      std::make_shared<const jobs::ClusterPause>(jobs::ClusterPause{kThree - 1h, "anna", "disk is full"});
  have({definition});
  expect("", "paused", "by anna since 2026-03-02T02:00:00Z, until it is resumed (disk is full)");
  const std::string job = ask("GET", "/api/v1/jobs?fields=suspended,paused").body;
  EXPECT_THAT(job, HasSubstr(R"("paused":{"since":"2026-03-02T02:00:00Z","by":"anna","note":"disk is full"})"));
  EXPECT_THAT(job, HasSubstr(R"("suspended":false)"));
  // Whoever has paused it by other means has not said since when.
  definition.pause = std::make_shared<const jobs::ClusterPause>();
  have({definition});
  expect("", "suspended", "by its definition");
  EXPECT_THAT(ask("GET", "/api/v1/jobs?fields=paused").body, HasSubstr(R"("paused":{})"));
  // One that is drained, or suspended by its author, is not paused.
  definition.pause.reset();
  have({definition});
  EXPECT_THAT(ask("GET", "/api/v1/jobs?fields=suspended,paused").body, HasSubstr(R"("suspended":true)"));
  EXPECT_THAT(ask("GET", "/api/v1/jobs?fields=suspended,paused").body, HasSubstr(R"("paused":null)"));
}

TEST_F(WhyPathsTest, WhatWasPassedOverAndWhatIsForgotten) {
  have({nightly()});
  expect("", "forgotten", "it was handled");
  tell({.job = {}, .ended_at = kThree + 1h, .passed_over = PassedOver{1, kThree, kThree}});
  expect("", "passed over", "only the latest is made up for");
}

TEST_F(WhyPathsTest, WhatHasNoTime) {
  have({of_weekdays()}, utc("2026-03-07T12:00:00Z"));  // a Saturday
  Entry entry = outcome(Outcome::unschedulable, Reason::excluded);
  entry.chosen = std::nullopt;
  entry.period = utc("2026-03-07T03:00:00Z");
  entry.clause = "only dow=MON-FRI";
  tell(entry);
  expect("", "excluded", "only dow=MON-FRI");
  entry.period = utc("2026-03-06T03:00:00Z");
  entry.reason = Reason::no_candidate;
  entry.clause = {};
  tell(entry);
  expect("?period=2026-03-06T03:00:00Z", "no time", "draws met a second");
  expect("?period=2026-03-08T03:00:00Z", "excluded", "it will not run");
}

TEST_F(WhyPathsTest, WhatIsHeldBack) {
  have({nightly()}, kMidnight + 1h);
  EXPECT_EQ(ask("POST", "/api/v1/jobs/job/pause").status, 200);
  do_on_loop([&] { host_.run_until(kThree + 1h); });
  expect("", "paused", "since 2026-03-01T01:00:00Z");
  EXPECT_EQ(text(*why().find("paused"), "since"), "2026-03-01T01:00:00Z");
  jobs::JobDefinition suspended = nightly();
  suspended.job.policy.suspend = true;
  EXPECT_EQ(ask("POST", "/api/v1/jobs/job/resume").status, 200);
  do_on_loop([&] { ASSERT_TRUE(host_.reload({suspended})); });
  expect("?period=2026-03-03T03:00:00Z", "suspended", "by its definition");
}

TEST_F(WhyPathsTest, APauseThatIsOverIsNamedWithWhoAskedForIt) {
  have({nightly()});
  tell(outcome(Outcome::missed, Reason::deadline, kThree + 4h));
  history_->begin_pause({"job", kThree - 1h, {}, "ann", "disk full"});
  history_->begin_pause({"other", kThree - 1h, {}, "bob", "nothing"});
  history_->end_pause("job", kThree + 4h);
  expect("", "missed", "the job was paused by ann since 2026-03-02T02:00:00Z, until 2026-03-02T07:00:00Z (disk full)");
}

TEST_F(WhyPathsTest, WhatDidNotCount) {
  have({nightly()}, kMidnight + 1h);
  expect("?period=2026-02-28T03:00:00Z", "not loaded", "since 2026-03-01T00:00:00Z");
}

TEST_F(WhyPathsTest, TimesWithoutAPeriod) {
  have({nightly()}, kMidnight + 1h);
  expect("?at=2026-03-01T04:07:00Z", "no period", "minute 7 is not in 0");
  expect("?at=0000-01-01T00:00:00Z", "no period", "");
  expect("?at=9999-12-31T23:59:59Z", "no period", "");
  jobs::JobDefinition berlin = nightly({.schedule = "30 2 * * *", .zone = "Europe/Berlin"});
  berlin.job.schedule.dst.gap = DstRule::Gap::skip;
  do_on_loop([&] { ASSERT_TRUE(host_.reload({berlin})); });
  expect("?at=2026-03-29T01:30:00Z", "clock gap", "jumped over");
  do_on_loop([&] { ASSERT_TRUE(host_.reload({testing::job({.schedule = "@reboot"})})); });
  expect("", "at boot", "once after each boot");
}

TEST_F(WhyPathsTest, WhatIsDueOrAhead) {
  have({nightly()}, kMidnight + 1h);
  expect("?at=2026-03-01T03:00:00Z", "ahead", "it will start at 2026-03-01T03:00:00Z");
  do_on_loop([&] {
    status_.broken = Error{Code::io, "the disk is full"};
    host_.pass(2h);
  });
  expect("", "due", "nothing is started: the disk is full");
}

TEST_F(WhyPathsTest, AStartThatIsSpread) {
  jobs::JobDefinition definition = nightly({.schedule = "0 3 * * *", .deadline = "2h"});
  definition.job.policy.catch_up_spread = 1h;
  have({definition}, kMidnight + 1h);
  do_on_loop([&] {
    host_.pass(2h + 20min);
    host_.run_for(1s);
  });
  // Found late when the daemon came to it.
  const Instant at = catch_up_start(decide(definition.job, kMidnight + 3h), 2h, 1h, kMidnight + 3h + 20min);
  ASSERT_GT(at, kMidnight + 3h + 21min);
  expect("", "due", "to start at " + rfc3339(at));
  EXPECT_EQ(text(*why().find("next"), "startsAt"), rfc3339(at));
  const Node job = parse_json(ask("GET", "/api/v1/jobs/job").body).value();
  EXPECT_EQ(text(*job.find("next"), "startsAt"), rfc3339(at));
}

TEST_F(WhyPathsTest, ARunThatGoesOn) {
  do_on_loop([&] { host_.runner.behave([](const auto&) { return testing::Behaviour{.runs_for = 100h}; }); });
  have({nightly()}, utc("2026-03-01T12:00:00Z"));
  expect("", "running", "since 2026-03-01T03:00:00Z");
}

TEST_F(WhyPathsTest, ARecordThatIsAhead) {
  have({nightly()}, utc("2026-03-20T12:00:00Z"));
  do_on_loop([&] { host_.clock.jump(-240h); });
  expect("?period=2026-03-15T03:00:00Z", "record ahead", "the record has come to");
}

TEST_F(WhyPathsTest, AJobThatIsNotScheduled) {
  do_on_loop([&] {
    const std::string path = std::string(testing::Daemon::kStateDirectory) + "/" + state_file_name(sha256({"job"}));
    host_.file_system->plant_file(path, std::string(kMostRecordBytes + 1, ' '));
  });
  have({nightly()});
  expect("", "not scheduled", "its record cannot be used");
}

TEST_F(WhyPathsTest, WhatIsAskedWrongly) {
  EXPECT_EQ(ask("GET", "/api/v1/jobs/nobody/why").status, 404);
  EXPECT_EQ(ask("GET", "/api/v1/jobs/c/why?at=yesterday").status, 400);
  EXPECT_EQ(ask("GET", "/api/v1/jobs/c/why?at=2026-03-01T00:00:00Z&period=2026-03-01T00:00:00Z").status, 400);
  EXPECT_EQ(ask("GET", "/api/v1/jobs/c/why?when=now").status, 400);
  EXPECT_EQ(ask("GET", "/api/v1/jobs/a%2Fb/why").status, 200);
  is_reader_ = true;
  EXPECT_EQ(ask("GET", "/api/v1/jobs/c/why").status, 200);
}

}  // namespace
}  // namespace kron::api::why_paths_test
