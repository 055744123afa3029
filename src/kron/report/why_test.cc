#include "kron/report/why.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"
#include "kron/json/document.h"

namespace kron::report {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::JobSpec;
using testing::make_job;
using testing::utc;

// A job of three o'clock in the night, asked about at noon.
const Instant kThree = utc("2026-03-02T03:00:00Z");
const Instant kNoon = utc("2026-03-02T12:00:00Z");

WhyFacts nightly(const JobSpec& spec = {.schedule = "0 3 * * *"}) {
  WhyFacts facts{.job = make_job(spec), .now = kNoon};
  facts.state.first_seen = utc("2026-01-01T00:00:00Z");
  facts.state.last_handled = utc("2026-03-01T03:00:00Z");
  return facts;
}

// The last period is handled, and the history has this of it.
WhyFacts told(history::Entry entry, const JobSpec& spec = {.schedule = "0 3 * * *"}) {
  WhyFacts facts = nightly(spec);
  facts.state.last_handled = kThree;
  entry.job = facts.job.identity;
  if (!entry.period) entry.period = kThree;
  if (!entry.chosen && entry.outcome != Outcome::unschedulable) entry.chosen = kThree;
  facts.entries = {entry};
  return facts;
}

history::Entry run(std::optional<int> code, Instant started = kThree, const std::string& detail = {}) {
  return {.number = 7,
          .job = {},
          .outcome = Outcome::executed,
          .detail = detail,
          .run_id = "r1",
          .started_at = started,
          .ended_at = started + 5s,
          .exit_code = code};
}

history::Entry not_run(Outcome outcome, Reason reason, Instant judged = kThree) {
  return {.number = 7, .job = {}, .outcome = outcome, .reason = reason, .ended_at = judged};
}

struct Row {
  const char* name;
  WhyFacts facts;
  WhyQuestion question;
  Verdict verdict;
  std::string sentence;
  std::string reason = {};
  std::string instead = {};
};

void expect(const Row& row) {
  SCOPED_TRACE(row.name);
  const WhyAnswer answer = why(row.facts, row.question);
  EXPECT_EQ(name_of(answer.verdict), name_of(row.verdict));
  EXPECT_EQ(answer.sentence, row.sentence);
  EXPECT_EQ(answer.reason, row.reason);
  EXPECT_EQ(answer.instead, row.instead);
}

template <class Change>
WhyFacts changed(WhyFacts facts, Change change) {
  change(facts);
  return facts;
}

std::vector<history::UpTime> down_from_two_to(Instant up_again, history::UpTime::End why) {
  return {{utc("2026-02-01T00:00:00Z"), utc("2026-03-02T02:00:00Z"), why}, {up_again, kNoon}};
}

const WhyQuestion kLast{};

TEST(Why, ARunIsToldWithItsEnd) {
  expect({"exit 0", told(run(0)), kLast, Verdict::executed, "executed: exit 0",
          "started at 2026-03-02T03:00:00Z, ended at 2026-03-02T03:00:05Z"});
  expect({"exit 3", told(run(3)), kLast, Verdict::executed, "executed: failed with exit 3",
          "started at 2026-03-02T03:00:00Z, ended at 2026-03-02T03:00:05Z"});
  expect({"timed out", told(run(143, kThree, "timed out after 5s")), kLast, Verdict::executed,
          "executed: failed with exit 143: timed out after 5s",
          "started at 2026-03-02T03:00:00Z, ended at 2026-03-02T03:00:05Z"});
  expect({"unknown", told(run(std::nullopt, kThree, "the machine went down")), kLast, Verdict::executed,
          "executed: the machine went down", "started at 2026-03-02T03:00:00Z, ended at 2026-03-02T03:00:05Z"});
  expect({"unknown, and nobody says why", told(run(std::nullopt)), kLast, Verdict::executed,
          "executed: how it ended is not known", "started at 2026-03-02T03:00:00Z, ended at 2026-03-02T03:00:05Z"});
  WhyFacts running = told(run(std::nullopt));
  running.entries[0].ended_at.reset();
  running.active = {{.period = kThree, .chosen = kThree, .started_at = kThree, .run_id = "r1"}};
  expect({"running", running, kLast, Verdict::running, "running: since 2026-03-02T03:00:00Z",
          "started at 2026-03-02T03:00:00Z"});
  running.entries.clear();
  expect({"running, and the history does not know yet", running, kLast, Verdict::running,
          "running: since 2026-03-02T03:00:00Z", "started at 2026-03-02T03:00:00Z"});
  WhyFacts elsewhere = told(run(0));
  elsewhere.entries[0].host = "h2";
  expect({"on another host", elsewhere, kLast, Verdict::executed, "executed: exit 0 on h2",
          "started at 2026-03-02T03:00:00Z, ended at 2026-03-02T03:00:05Z"});
}

TEST(Why, ALateStartHasItsCause) {
  const Instant late = utc("2026-03-02T04:00:00Z");
  expect({"krond was down",
          changed(told(run(0, late), {.schedule = "0 3 * * *", .deadline = "2h"}),
                  [&](WhyFacts& facts) { facts.up = down_from_two_to(late, history::UpTime::End::none); }),
          kLast, Verdict::executed, "executed: exit 0",
          "started at 2026-03-02T04:00:00Z, 1h after its chosen time 2026-03-02T03:00:00Z: krond was down from "
          "2026-03-02T02:00:00Z to 2026-03-02T04:00:00Z, ended at 2026-03-02T04:00:05Z"});
}

TEST(Why, WhatWasMissedHasItsCauseAndTheDeadlineThatWouldHaveHelped) {
  const Instant judged = utc("2026-03-02T04:31:00Z");
  const std::string reason =
      "it was to start at 2026-03-02T03:00:00Z and could be judged at 2026-03-02T04:31:00Z, 1h31m later; its deadline "
      "is 0s";
  const std::string instead = "with deadline=2h it would have started at 2026-03-02T04:31:00Z";
  const WhyFacts missed = told(not_run(Outcome::missed, Reason::deadline, judged));
  expect({"nobody knows why", missed, kLast, Verdict::missed,
          "missed: it could not be started before its deadline was over", reason, instead});
  using End = history::UpTime::End;
  const std::pair<End, std::string> ends[] = {{End::none, "krond was down"},
                                              {End::stopped, "krond was stopped"},
                                              {End::slept, "the machine slept"},
                                              {End::clock_set, "the clock was set"}};
  for (const auto& [end, words] : ends) {
    expect({words.c_str(), changed(missed, [&](WhyFacts& facts) { facts.up = down_from_two_to(judged, end); }), kLast,
            Verdict::missed, "missed: " + words + " from 2026-03-02T02:00:00Z to 2026-03-02T04:31:00Z", reason,
            instead});
  }
  expect({"it was paused",
          changed(missed,
                  [&](WhyFacts& facts) {
                    facts.pauses = {{utc("2026-03-01T20:00:00Z"), judged, "ada", "a move"}};
                  }),
          kLast, Verdict::missed,
          "missed: the job was paused by ada since 2026-03-01T20:00:00Z, until 2026-03-02T04:31:00Z (a move)", reason,
          instead});
  WhyFacts busy = missed;
  history::Entry before = run(0, utc("2026-03-01T03:00:00Z"));
  before.period = utc("2026-03-01T03:00:00Z");
  before.run_id = "r0";
  before.ended_at = utc("2026-03-02T06:00:00Z");
  busy.entries.push_back(before);
  expect({"even with a deadline it would not have run", busy, kLast, Verdict::missed,
          "missed: it could not be started before its deadline was over", reason,
          "with deadline=2h it would have been recorded as skipped (concurrency_forbid)"});
}

TEST(Why, AHostOfAClusterTellsOfItselfAlone) {
  const Instant judged = utc("2026-03-02T04:31:00Z");
  const std::string sentence = "missed: it could not be started before its deadline was over";
  const std::string reason =
      "it was to start at 2026-03-02T03:00:00Z and could be judged at 2026-03-02T04:31:00Z, 1h31m later; its deadline "
      "is 0s";
  const std::string instead = "with deadline=2h it would have started at 2026-03-02T04:31:00Z";
  WhyFacts facts = told(not_run(Outcome::missed, Reason::deadline, judged));
  facts.host = "web-1";
  expect({"nothing is known", facts, kLast, Verdict::missed, sentence, reason, instead});
  facts.up = down_from_two_to(judged, history::UpTime::End::stopped);
  expect({"it was down", facts, kLast, Verdict::missed, sentence,
          reason + "; on web-1, krond was stopped from 2026-03-02T02:00:00Z to 2026-03-02T04:31:00Z, and of the other "
                   "hosts this one does not know",
          instead});
  const WhyAnswer down = why(facts, kLast);
  EXPECT_EQ(down.down_host, "web-1");
  EXPECT_THAT(json_of(down, facts.job, kNoon, kNoon), HasSubstr(R"("why":"stopped","host":"web-1"})"));
  facts.up = {{utc("2026-02-01T00:00:00Z"), kNoon}};
  expect({"it was up", facts, kLast, Verdict::missed, sentence,
          reason + "; krond on web-1 was up then, and of the other hosts this one does not know", instead});
  facts.pauses = {{utc("2026-03-02T02:30:00Z"), judged, "anna", "disk"}};
  EXPECT_EQ(why(facts, kLast).sentence,
            "missed: the job was paused by anna since 2026-03-02T02:30:00Z, until 2026-03-02T04:31:00Z (disk)");
  EXPECT_EQ(why(facts, kLast).reason, reason);
}

TEST(Why, WhatWasSkippedHasItsReason) {
  WhyFacts overlapped = told(not_run(Outcome::skipped, Reason::concurrency_forbid));
  const std::string forbid = "skipped: a run of the job was going on, and concurrency=forbid allows one at a time";
  const std::string instead =
      "with concurrency=allow it would have started at 2026-03-02T03:00:00Z beside that run, with concurrency=replace "
      "in its place";
  expect({"by whom is not known", overlapped, kLast, Verdict::skipped, forbid, "", instead});
  history::Entry before = run(0, utc("2026-03-01T03:00:00Z"));
  before.period = utc("2026-03-01T03:00:00Z");
  before.run_id = "r0";
  before.ended_at = utc("2026-03-02T06:00:00Z");
  overlapped.entries.push_back(before);
  expect(
      {"a run went on", overlapped, kLast, Verdict::skipped, forbid,
       "the run r0 of the period 2026-03-01T03:00:00Z went on then: it was started at 2026-03-01T03:00:00Z and ended "
       "at 2026-03-02T06:00:00Z",
       instead});
  const std::pair<Reason, std::string> rest[] = {
      {Reason::lock_held, "another host held the job's lock"},
      {Reason::replaced_before_start, "a later period was due while it waited for the run that it was to replace"},
      {Reason::superseded_while_waiting,
       "a later period was due while it waited for the run before it to end, or for a slot"},
      {Reason::could_not_stop, "the run that it was to replace did not end"},
      {Reason::start_failed, "it could not be started"},
      {Reason::unknown, "unknown"},
      {Reason::none, "why is not known"}};
  for (const auto& [reason, words] : rest) {
    expect({words.c_str(), told(not_run(Outcome::skipped, reason)), kLast, Verdict::skipped, "skipped: " + words});
  }
  expect({"skipped by a pause",
          changed(told(not_run(Outcome::skipped, Reason::paused)),
                  [](WhyFacts& facts) {
                    facts.state.suspended = {utc("2026-03-01T20:00:00Z"), utc("2026-03-02T06:00:00Z"), true};
                  }),
          kLast, Verdict::skipped,
          "skipped: the job was paused since 2026-03-01T20:00:00Z, until 2026-03-02T06:00:00Z, by somebody who wanted "
          "what became due meanwhile to be skipped",
          "", "without --skip-missed the latest of these would have been judged when the pause ended"});
}

JobSpec of_an_hour() { return {.schedule = "0 3 * * *", .window = "1h"}; }

TEST(Why, WhatHadNoTimeNamesTheClause) {
  history::Entry entry = not_run(Outcome::unschedulable, Reason::excluded);
  entry.clause = "avoid dow=MON";
  WhyFacts facts = told(entry, of_an_hour());
  ASSERT_TRUE(add_clause(facts.job.constraints.avoid, "dow", "MON"));
  ASSERT_TRUE(add_clause(facts.job.constraints.only, "hours", "0-12"));
  const std::string free = rfc3339(*decide(make_job(of_an_hour()), kThree).chosen);
  expect({"excluded", facts, kLast, Verdict::excluded,
          "excluded: it was not run: the constraints allow no second of its window (avoid dow=MON)", "",
          "without `avoid dow=MON` its time would be " + free});
  facts.entries.clear();
  facts.state.last_handled = utc("2026-03-01T03:00:00Z");
  facts.now = utc("2026-03-02T00:00:00Z");
  expect({"it will be excluded",
          facts,
          {.period = kThree},
          Verdict::excluded,
          "excluded: it will not run: the constraints allow no second of its window (avoid dow=MON)",
          "",
          "without `avoid dow=MON` its time would be " + free});

  WhyFacts narrow = told(not_run(Outcome::unschedulable, Reason::no_candidate), of_an_hour());
  ASSERT_TRUE(add_clause(narrow.job.constraints.only, "between", "03:30-03:30"));
  expect({"no candidate", narrow, kLast, Verdict::no_time,
          "no time: it was not run: none of the 64 draws met a second that the constraints allow",
          "1.67 % of its window is allowed by only between=03:30-03:30",
          "without `only between=03:30-03:30` its time would be " + free});
}

TEST(Why, WhatWasPassedOverHasItsCause) {
  WhyFacts facts = nightly({.schedule = "0 * * * *"});
  facts.state.last_handled = utc("2026-03-02T11:00:00Z");
  facts.state.passed_over = {{utc("2026-03-02T03:00:00Z"), utc("2026-03-02T10:00:00Z")}};
  facts.up = down_from_two_to(utc("2026-03-02T11:30:00Z"), history::UpTime::End::none);
  const std::string sentence =
      "passed over: krond was down from 2026-03-02T02:00:00Z to 2026-03-02T11:30:00Z, and of all that is late only the "
      "latest is made up for";
  const std::string instead =
      "no setting makes up for more than the latest; what it would have done is done by a run by hand";
  expect({"by the record", facts, {.period = kThree}, Verdict::passed_over, sentence, "", instead});
  facts.state.passed_over.clear();
  facts.entries = {{.number = 3,
                    .job = facts.job.identity,
                    .ended_at = utc("2026-03-02T11:30:00Z"),
                    .passed_over = PassedOver{8, kThree, utc("2026-03-02T10:00:00Z")}}};
  expect({"by the history",
          facts,
          {.period = kThree},
          Verdict::passed_over,
          sentence,
          "8 periods from 2026-03-02T03:00:00Z to 2026-03-02T10:00:00Z were passed over at 2026-03-02T11:30:00Z",
          instead});
  facts.up.clear();
  expect({"nobody knows why",
          facts,
          {.period = kThree},
          Verdict::passed_over,
          "passed over: it was late, and of all that is late only the latest is made up for",
          "8 periods from 2026-03-02T03:00:00Z to 2026-03-02T10:00:00Z were passed over at 2026-03-02T11:30:00Z",
          instead});
}

TEST(Why, WhatIsHeldBackSaysByWhomAndWhatAResumeWouldDo) {
  WhyFacts facts = nightly();
  facts.state.suspended = {.since = utc("2026-03-01T20:00:00Z"), .until = {}};
  const std::string waits = "the period is due at 2026-03-02T03:00:00Z and waits";
  expect({"paused", facts, kLast, Verdict::paused, "paused: since 2026-03-01T20:00:00Z, until it is resumed", waits,
          "resumed now, it would be recorded as missed (deadline)"});
  facts.pauses = {{utc("2026-03-01T20:00:00Z"), std::nullopt, "ada", "a move"}};
  expect({"paused by somebody", facts, kLast, Verdict::paused,
          "paused: by ada since 2026-03-01T20:00:00Z, until it is resumed (a move)", waits,
          "resumed now, it would be recorded as missed (deadline)"});
  facts.job.policy.deadline = 24h;
  expect({"with a deadline", facts, kLast, Verdict::paused,
          "paused: by ada since 2026-03-01T20:00:00Z, until it is resumed (a move)", waits,
          "resumed now, it would start at once"});
  expect({"the one before",
          changed(facts, [](WhyFacts& f) { f.state.last_handled = utc("2026-02-28T03:00:00Z"); }),
          {.period = utc("2026-03-01T03:00:00Z")},
          Verdict::paused,
          "paused: by ada since 2026-03-01T20:00:00Z, until it is resumed (a move)",
          "the period is due at 2026-03-01T03:00:00Z and waits",
          "resumed now, it would be passed over, because a later period is due as well"});
  expect({"ahead",
          facts,
          {.period = utc("2026-03-03T03:00:00Z")},
          Verdict::paused,
          "paused: by ada since 2026-03-01T20:00:00Z, until it is resumed (a move)",
          "the period is due at 2026-03-03T03:00:00Z and waits",
          "resumed before, it starts at 2026-03-03T03:00:00Z"});
  facts.state.suspended->until = utc("2026-03-02T20:00:00Z");
  expect({"ahead of the pause's end",
          facts,
          {.period = utc("2026-03-03T03:00:00Z")},
          Verdict::ahead,
          "ahead: it will start at 2026-03-03T03:00:00Z"});
  WhyFacts suspended = nightly();
  suspended.job.policy.suspend = true;
  expect({"suspended", suspended, kLast, Verdict::suspended,
          "suspended: by its definition: nothing is started, and nothing is judged", waits,
          "resumed now, it would be recorded as missed (deadline)"});
}

TEST(Why, WhatDidNotCountSaysSinceWhenItWould) {
  WhyFacts facts = nightly();
  facts.state.last_handled.reset();
  facts.state.first_seen = utc("2026-03-02T09:00:00Z");
  expect({"first sight", facts, kLast, Verdict::not_loaded,
          "not loaded: krond has known the job since 2026-03-02T09:00:00Z",
          "the period was due at 2026-03-02T03:00:00Z, and only what is due later counts"});
  WhyFacts edited = nightly();
  edited.state.schedule = {1, utc("2026-03-02T08:00:00Z")};
  expect(
      {"an edit", edited, kLast, Verdict::not_loaded,
       "not loaded: the schedule is what it is since 2026-03-02T08:00:00Z",
       "by this schedule the period was due at 2026-03-02T03:00:00Z, and a change of the schedule starts nothing that "
       "lay in the past"});
}

TEST(Why, ATimeWithoutAPeriodNamesTheFieldAndTheNeighbours) {
  expect({"minute",
          nightly({.schedule = "*/15 * * * *"}),
          {.at = utc("2026-03-02T03:07:00Z")},
          Verdict::no_period,
          "no period: minute 7 is not in */15",
          "the period before is 2026-03-02T03:00:00Z; the one after is 2026-03-02T03:15:00Z"});
  expect({"hour and weekday",
          nightly({.schedule = "0 9-17 * * 1-5"}),
          {.at = utc("2026-03-01T03:00:00Z")},
          Verdict::no_period,
          "no period: hour 3 is not in 9-17, day-of-week 0 (SUN) is not in 1-5",
          "the period before is 2026-02-27T17:00:00Z; the one after is 2026-03-02T09:00:00Z"});
  expect({"one of both days",
          nightly({.schedule = "0 3 15 * 5"}),
          {.at = kThree},
          Verdict::no_period,
          "no period: day-of-month 2 is not in 15, day-of-week 1 (MON) is not in 5",
          "the period before is 2026-02-27T03:00:00Z; the one after is 2026-03-06T03:00:00Z"});
  expect({"month and year",
          nightly({.schedule = "0 0 3 2 4 * 2027"}),
          {.at = kThree},
          Verdict::no_period,
          "no period: month 3 is not in 4, year 2026 is not in 2027",
          "the first is 2027-04-02T03:00:00Z"});
  expect({"second",
          nightly({.schedule = "30 0 3 * * *"}),
          {.at = kThree},
          Verdict::no_period,
          "no period: second 0 is not in 30",
          "the period before is 2026-03-01T03:00:30Z; the one after is 2026-03-02T03:00:30Z"});
  expect({"in its zone",
          nightly({.schedule = "0 3 * * *", .zone = "Europe/Paris"}),
          {.at = kThree},
          Verdict::no_period,
          "no period: hour 4 is not in 3; in Europe/Paris it is 2026-03-02 04:00:00",
          "the period before is 2026-03-02T02:00:00Z; the one after is 2026-03-03T02:00:00Z"});
  expect({"every",
          nightly({.schedule = "@every 45m"}),
          {.at = utc("2026-03-02T03:07:00Z")},
          Verdict::no_period,
          "no period: it is no multiple of 45m since the epoch",
          "the period before is 2026-03-02T03:00:00Z; the one after is 2026-03-02T03:45:00Z"});
  expect({"a period that is none",
          nightly(),
          {.period = utc("2026-03-02T04:00:00Z")},
          Verdict::no_period,
          "no period: hour 4 is not in 3",
          "the period before is 2026-03-02T03:00:00Z; the one after is 2026-03-03T03:00:00Z"});
  WhyFacts bounded = nightly();
  bounded.job.schedule.not_before = utc("2026-03-05T00:00:00Z");
  expect({"before its start",
          bounded,
          {.at = utc("2026-03-02T04:00:00Z")},
          Verdict::no_period,
          "no period: the schedule begins with 2026-03-05T00:00:00Z",
          "the first is 2026-03-05T03:00:00Z"});
  WhyFacts ended = nightly();
  ended.job.schedule.not_after = utc("2026-02-05T00:00:00Z");
  expect({"after its end",
          ended,
          {.at = utc("2026-03-02T04:00:00Z")},
          Verdict::no_period,
          "no period: the schedule ended with 2026-02-05T00:00:00Z",
          "the period before is 2026-02-04T03:00:00Z"});
  WhyFacts never = nightly({.schedule = "0 3 31 3 *"});
  never.job.schedule.months = 1U << 2;
  expect({"never", never, {.at = kThree}, Verdict::no_period, "no period: the schedule has no time at all"});
  const WhyAnswer with_window =
      why(nightly({.schedule = "0 3 * * *", .window = "1h"}), {.at = utc("2026-03-02T05:00:00Z")});
  EXPECT_THAT(with_window.reason,
              HasSubstr("the period before is 2026-03-02T03:00:00Z, with the chosen time 2026-03-02"));
}

TEST(Why, AWallClockThatJumpsTakesAPeriodWithIt) {
  JobSpec spec{.schedule = "30 2 * * *", .zone = "Europe/Paris"};
  WhyFacts facts = nightly(spec);
  facts.job.schedule.dst.gap = DstRule::Gap::skip;
  expect({"gap",
          facts,
          {.at = utc("2026-03-29T01:30:00Z")},
          Verdict::clock_gap,
          "clock gap: the wall clock of Europe/Paris jumped over 2026-03-29 02:30:00 at 2026-03-29T01:00:00Z, and "
          "gap=skip leaves such a period out",
          "the period before is 2026-03-28T01:30:00Z; the one after is 2026-03-30T00:30:00Z",
          "with gap=run it would have its nominal time at 2026-03-29T01:00:00Z"});
  WhyFacts twice = nightly(spec);
  twice.job.schedule.dst.overlap = DstRule::Overlap::first;
  expect(
      {"overlap",
       twice,
       {.at = utc("2026-10-25T01:30:00Z")},
       Verdict::no_period,
       "no period: the wall clock of Europe/Paris shows 2026-10-25 02:30:00 twice, and this is not the one that counts "
       "(gap=run,overlap=first)",
       "the period before is 2026-10-25T00:30:00Z; the one after is 2026-10-26T01:30:00Z"});
}

TEST(Why, WhatIsDueOrAheadSaysWhatWillBecomeOfIt) {
  WhyFacts facts = nightly();
  expect({"ahead",
          facts,
          {.period = utc("2026-03-03T03:00:00Z")},
          Verdict::ahead,
          "ahead: it will start at 2026-03-03T03:00:00Z"});
  facts.now = kThree;
  expect(
      {"about to start", facts, kLast, Verdict::due, "due: it is due since 2026-03-02T03:00:00Z, and about to start"});
  facts.now = kNoon;
  expect({"about to be missed", facts, kLast, Verdict::due,
          "due: it is due since 2026-03-02T03:00:00Z, and about to be recorded as missed (deadline)"});
  facts.state.last_handled = utc("2026-02-28T03:00:00Z");
  expect({"about to be passed over",
          facts,
          {.period = utc("2026-03-01T03:00:00Z")},
          Verdict::due,
          "due: it is due since 2026-03-01T03:00:00Z, and will be passed over, because a later period is due as well"});
  WhyFacts waits = nightly();
  waits.job.policy.concurrency = Concurrency::queue;
  waits.job.policy.deadline = std::chrono::hours(2);
  waits.now = kThree + std::chrono::minutes(20);
  waits.active.push_back({.started_at = utc("2026-03-02T01:00:00Z"), .run_id = "r0", .trigger = Trigger::manual});
  expect({"waits for a run", waits, kLast, Verdict::due,
          "due: it is due since 2026-03-02T03:00:00Z, and waits for the run before it to end (concurrency=queue)",
          "the run r0 goes on since 2026-03-02T01:00:00Z; it starts then, if that is not later than "
          "2026-03-02T05:00:00Z, and is missed otherwise"});
  waits.state.last_handled = utc("2026-02-28T03:00:00Z");
  expect({"another waits",
          waits,
          {.period = utc("2026-03-01T03:00:00Z")},
          Verdict::due,
          "due: it is due since 2026-03-01T03:00:00Z, and will be passed over, because a later period is due as well"});
  WhyFacts late = nightly();
  late.job.policy.deadline = std::chrono::hours(2);
  late.job.policy.catch_up_spread = std::chrono::minutes(30);
  late.now = kThree + std::chrono::minutes(20);
  expect({"is spread", late, kLast, Verdict::due,
          "due: it is due since 2026-03-02T03:00:00Z, and to start within 30m of when it was found late"});
  late.spread_start = WhyFacts::SpreadStart{kThree, kThree + std::chrono::minutes(31)};
  expect(
      {"is spread to a time that is drawn", late, kLast, Verdict::due,
       "due: it is due since 2026-03-02T03:00:00Z, and to start at 2026-03-02T03:31:00Z: it was found late, and what "
       "is late starts spread over 30m"});
  late.job.policy.catch_up_spread.reset();
  late.catch_up_spread = std::chrono::minutes(15);
  expect(
      {"is spread by krond", late, kLast, Verdict::due,
       "due: it is due since 2026-03-02T03:00:00Z, and to start at 2026-03-02T03:31:00Z: it was found late, and what "
       "is late starts spread over 15m"});
  late.spread_start->period = kThree - std::chrono::hours(24);
  expect({"another period was drawn for", late, kLast, Verdict::due,
          "due: it is due since 2026-03-02T03:00:00Z, and to start within 15m of when it was found late"});
  late.job.policy.catch_up_spread = Seconds(0);
  expect({"the policy says that it is not spread", late, kLast, Verdict::due,
          "due: it is due since 2026-03-02T03:00:00Z, and about to start"});
  WhyFacts slotless = nightly();
  slotless.job.policy.deadline = std::chrono::hours(2);
  slotless.now = kThree + std::chrono::minutes(20);
  slotless.slot_wait = WhyFacts::SlotWait{"db", kThree};
  expect({"waits for a slot", slotless, kLast, Verdict::due,
          "due: it is due since 2026-03-02T03:00:00Z, and waits for a slot of the pool db since 2026-03-02T03:00:00Z",
          "those before it, by chosen time and name, go first; it starts if that is not later than "
          "2026-03-02T05:00:00Z, and is missed (no slot) otherwise",
          "`kron runs --result running` shows what runs; more slots in pools of a job file let more run"});
  slotless.slot_wait = WhyFacts::SlotWait{"", kThree};
  EXPECT_NE(why(slotless, kLast).sentence.find("a slot of the host (krond --max-running) since"), std::string::npos);
  facts.not_started = "the disk failed";
  expect({"nothing is started", facts, kLast, Verdict::due,
          "due: it is due since 2026-03-02T03:00:00Z, and nothing is started: the disk failed"});
}

TEST(Why, ARecordThatTellsNoMoreSaysSo) {
  WhyFacts facts = nightly();
  facts.state.last_handled = kThree;
  facts.history_age = 24h * 30;
  expect({"forgotten", facts, kLast, Verdict::forgotten, "forgotten: it was handled, and how is not known any more",
          "the history remembers 4w2d, or less when there is much of it"});
  facts.state.last_handled = utc("2036-01-01T03:00:00Z");
  const std::string ahead =
      "record ahead: the record has come to the period 2036-01-01T03:00:00Z, and the clock to 2026-03-02T12:00:00Z";
  const std::string reason =
      "a clock that once showed a later time has left it there; no period up to that one will run";
  const std::string cure = "`kron state reset` begins the record anew, and what is due from then on runs";
  expect({"the record is ahead", facts, kLast, Verdict::record_ahead, ahead, reason, cure});
  expect({"and so is the next",
          facts,
          {.period = utc("2026-03-03T03:00:00Z")},
          Verdict::record_ahead,
          ahead,
          reason,
          cure});
}

TEST(Why, AKronJobIsSpokenOfInTheWordsOfKubernetes) {
  WhyFacts facts = nightly();
  facts.is_kron_job = true;
  facts.history_age = std::chrono::hours(720);
  EXPECT_EQ(why(facts, {.period = utc("2025-12-31T03:00:00Z")}).sentence,
            "not loaded: the KronJob is there since 2026-01-01T00:00:00Z");
  WhyFacts handled = facts;
  handled.state.last_handled = kThree;
  EXPECT_EQ(why(handled, {}).reason, "the status of a KronJob tells the outcomes of its last periods only");
  handled.state.last_handled = kThree + 24h * 30;
  EXPECT_EQ(why(handled, {.period = kThree + 24h}).instead, "a KronJob of another name begins a record of its own");
  facts.job.policy.suspend = true;
  EXPECT_THAT(why(facts, {}).sentence, HasSubstr("suspended: by policy.suspend of its spec"));
}

TEST(Why, AJobWhoseRecordCannotBeUsedNeverRuns) {
  WhyFacts facts = nightly();
  facts.not_scheduled = "version 99 of the record is not known";
  expect({"nothing else is known",
          facts,
          {},
          Verdict::not_scheduled,
          "not scheduled: the job never runs, because its record cannot be used",
          "version 99 of the record is not known",
          "`kron doctor` tells what is wrong with it; `kron state reset` begins the record anew"});
  EXPECT_EQ(why(facts, {}).next, std::nullopt);
  WhyFacts ran = told(run(0));
  ran.not_scheduled = facts.not_scheduled;
  EXPECT_EQ(why(ran, {}).verdict, Verdict::executed) << "what the history knows holds all the same";
}

TEST(Why, AJobOfEachBootHasNoTimes) {
  WhyFacts facts{.job = make_job({.schedule = "@reboot"}), .now = kNoon};
  expect({"no run yet", facts, kLast, Verdict::at_boot,
          "at boot: @reboot runs once after each boot of the machine, and no clock says when"});
  history::Entry entry = run(0);
  entry.trigger = Trigger::reboot;
  facts.entries = {entry};
  expect({"the last boot", facts, kLast, Verdict::executed, "executed: exit 0",
          "at boot, started at 2026-03-02T03:00:00Z, ended at 2026-03-02T03:00:05Z"});
}

TEST(Why, ATimeMeansThePeriodWhoseWindowHoldsItOrTheRunThatWentOn) {
  const Job wide = make_job({.schedule = "0 3 * * *", .window = "1h"});
  EXPECT_EQ(period_meant(wide, {.at = utc("2026-03-02T03:59:00Z")}, kNoon), kThree);
  EXPECT_EQ(period_meant(wide, {.at = utc("2026-03-02T04:01:00Z")}, kNoon), std::nullopt);
  EXPECT_EQ(period_meant(wide, {}, kNoon), kThree);
  EXPECT_EQ(period_meant(wide, {}, utc("2026-03-02T03:00:00Z")), utc("2026-03-01T03:00:00Z"))
      << "its chosen time has not come";
  const Job exact = make_job({.schedule = "0 3 * * *"});
  EXPECT_EQ(period_meant(exact, {.at = utc("2026-03-02T03:00:59Z")}, kNoon), kThree) << "people speak of minutes";
  EXPECT_EQ(period_meant(exact, {.at = utc("2026-03-02T03:01:00Z")}, kNoon), std::nullopt);

  WhyFacts by_hand = nightly();
  history::Entry manual = run(0, utc("2026-03-02T08:00:00Z"));
  manual.trigger = Trigger::manual;
  by_hand.entries = {manual};
  expect({"by hand",
          by_hand,
          {.at = utc("2026-03-02T08:00:03Z")},
          Verdict::executed,
          "executed: exit 0",
          "by hand, started at 2026-03-02T08:00:00Z, ended at 2026-03-02T08:00:05Z"});
  WhyFacts other = nightly();
  history::Entry earlier = not_run(Outcome::missed, Reason::deadline, utc("2026-03-02T05:00:00Z"));
  earlier.period = earlier.chosen = utc("2026-03-02T04:00:00Z");
  other.entries = {earlier};
  expect(
      {"a period of an earlier schedule",
       other,
       {.period = utc("2026-03-02T04:00:00Z")},
       Verdict::missed,
       "missed: it could not be started before its deadline was over",
       "it was to start at 2026-03-02T04:00:00Z and could be judged at 2026-03-02T05:00:00Z, 1h later; its deadline is "
       "0s"});
}

TEST(Why, TheAnswerAsJson) {
  WhyFacts facts = told(not_run(Outcome::missed, Reason::deadline, utc("2026-03-02T04:31:00Z")));
  facts.up = down_from_two_to(utc("2026-03-02T04:31:00Z"), history::UpTime::End::none);
  const std::string text = json_of(why(facts, kLast), facts.job, kNoon, kNoon);
  EXPECT_TRUE(parse_json(text)) << text;
  EXPECT_THAT(text, HasSubstr(R"("verdict":"missed","sentence":"missed: krond was down)"));
  EXPECT_THAT(text, HasSubstr(R"("down":{"from":"2026-03-02T02:00:00Z","to":"2026-03-02T04:31:00Z","why":""})"));
  EXPECT_THAT(text, HasSubstr(R"("period":{"periodId":"2026-03-02T03:00:00Z")"));
  EXPECT_THAT(text, HasSubstr(R"("next":{"periodId":"2026-03-03T03:00:00Z","startsAt":"2026-03-03T03:00:00Z"})"));
  const std::string none = json_of(why(nightly({.schedule = "*/15 * * * *"}), {.at = utc("2026-03-02T03:07:00Z")}),
                                   make_job({}), kNoon, kNoon);
  EXPECT_THAT(none, HasSubstr(R"("mismatches":[{"field":"minute","value":7,"accepts":"*/15"}])"));
  EXPECT_THAT(none, HasSubstr(R"("before":{"periodId":"2026-03-02T03:00:00Z")"));
}

}  // namespace
}  // namespace kron::report
