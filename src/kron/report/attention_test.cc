#include "kron/report/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"
#include "kron/json/document.h"

namespace kron::report {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::utc;

const Instant kLookedAt = utc("2026-03-02T12:00:00Z");

AttentionFacts of_one(AttentionFacts::OfJob job) {
  if (job.job.identity.empty()) job.job = testing::make_job({.schedule = "0 * * * *", .identity = "a"});
  AttentionFacts facts{.now = kLookedAt};
  facts.jobs.push_back(std::move(job));
  return facts;
}

// `hours` before now.
history::Entry ran(int hours, std::optional<int> code, Seconds length = 10s) {
  const Instant t = kLookedAt - std::chrono::hours(hours);
  return {.job = "a",
          .outcome = Outcome::executed,
          .period = t,
          .chosen = t,
          .run_id = "r" + std::to_string(hours),
          .started_at = t,
          .ended_at = t + length,
          .exit_code = code};
}

history::Entry judged(int hours, Outcome outcome, Reason reason) {
  const Instant t = kLookedAt - std::chrono::hours(hours);
  return {.job = "a", .outcome = outcome, .reason = reason, .period = t, .chosen = t, .ended_at = t};
}

TEST(Attention, AllQuietIsNothing) {
  EXPECT_TRUE(attention({.now = kLookedAt}).empty());
  EXPECT_TRUE(
      attention(of_one({.recent = {ran(1, 0), ran(2, 3), judged(3, Outcome::missed, Reason::deadline)}})).empty());
}

TEST(Attention, AJobThatItsFailuresHavePausedIsToldAtOnce) {
  AttentionFacts::OfJob job{.recent = {ran(1, 3), ran(2, 3)}};
  job.suspended =
      Suspension{kLookedAt - 1h, std::nullopt, false, "kron", "2 runs in a row failed, the last with exit 3"};
  const std::vector<NeedsSomebody> items = attention(of_one(job));
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].what, "failed 2 times in a row, and is paused");
  EXPECT_EQ(items[0].cure, "`kron logs a` shows its output; `kron resume a` when it is mended");
  job.suspended->by = "ada";
  EXPECT_EQ(attention(of_one(job)).at(0).what, "failed 2 times in a row");
}

TEST(Attention, AJobThatFailsIsToldWithSinceWhenAndHowOften) {
  EXPECT_EQ(attention(of_one({.recent = {ran(1, 3), judged(2, Outcome::skipped, Reason::concurrency_forbid),
                                         ran(3, std::nullopt), ran(4, 0), ran(5, 1)}})),
            (std::vector<NeedsSomebody>{{Matter::failing, "a", "failed 2 times in a row", kLookedAt - 3h, 2,
                                         "failed with exit 3", "`kron logs a` shows its output"}}));
  history::Entry running = ran(0, std::nullopt);
  running.outcome.reset();
  running.ended_at.reset();
  EXPECT_EQ(attention(of_one({.recent = {running, ran(1, 3)}})).at(0).what, "failed") << "what runs has not failed yet";
}

TEST(Attention, PeriodsThatAreMissedOrSkippedInARow) {
  const auto missed = attention(of_one({.recent = {judged(1, Outcome::missed, Reason::deadline),
                                                   judged(2, Outcome::missed, Reason::deadline), ran(3, 0)}}));
  EXPECT_EQ(missed, (std::vector<NeedsSomebody>{
                        {Matter::missed, "a", "missed 2 times in a row", kLookedAt - 2h, 2, "its deadline is 0s",
                         "`kron why a` tells what kept it, and which deadline would have let it start"}}));
  const history::Entry skip = judged(1, Outcome::skipped, Reason::concurrency_forbid);
  EXPECT_TRUE(attention(of_one({.recent = {skip, ran(2, 0)}})).empty()) << "one alone is what the policy is for";
  const auto skipped =
      attention(of_one({.recent = {skip, judged(2, Outcome::skipped, Reason::concurrency_forbid), ran(3, 0)}}));
  ASSERT_EQ(skipped.size(), 1U);
  EXPECT_EQ(skipped[0].matter, Matter::skipping);
  EXPECT_EQ(skipped[0].what, "skipped 2 times in a row");
  EXPECT_THAT(skipped[0].cure, HasSubstr("concurrency=replace"));
  const history::Entry paused = judged(1, Outcome::skipped, Reason::paused);
  EXPECT_TRUE(attention(of_one({.recent = {paused, paused, ran(2, 0)}})).empty()) << "somebody wanted it so";
}

TEST(Attention, ARunThatTakesMoreThanTwiceItsUsualLength) {
  AttentionFacts::OfJob job{.recent = {ran(1, 0), ran(2, 0), ran(3, 0), ran(4, 0, 60s), ran(5, 0)}};
  EXPECT_EQ(usual_length(job.recent), 10s);
  job.active = {{.started_at = kLookedAt - 20s, .run_id = "r0"}};
  EXPECT_TRUE(attention(of_one(job)).empty());
  job.active[0].started_at = kLookedAt - 21s;
  EXPECT_EQ(
      attention(of_one(job)),
      (std::vector<NeedsSomebody>{{Matter::too_long, "a", "runs for 21s", kLookedAt - 21s, 1, "usually it takes 10s",
                                   "`kron logs -f r0` shows what it does, `kron kill --term r0` ends it"}}));
  job.recent.pop_back();
  EXPECT_EQ(usual_length(job.recent), std::nullopt) << "four are not yet usual";
  EXPECT_TRUE(attention(of_one(job)).empty());
  job.usual = 10s;
  EXPECT_EQ(attention(of_one(job)).size(), 1U) << "who knows it need not read all of them";
}

TEST(Attention, ConstraintsThatMayLeaveNoTime) {
  AttentionFacts::OfJob job{.job = testing::make_job({.schedule = "0 3 * * *", .window = "1h", .identity = "a"})};
  job.next = utc("2026-03-03T03:00:00Z");
  ASSERT_TRUE(add_clause(job.job.constraints.only, "between", "03:30-03:30"));
  const auto found = attention(of_one(job));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].matter, Matter::may_have_none);
  EXPECT_THAT(found[0].reason, HasSubstr("with a chance of 34"));
  job.job.constraints = {};
  ASSERT_TRUE(add_clause(job.job.constraints.avoid, "dow", "TUE"));
  EXPECT_TRUE(attention(of_one(job)).empty()) << "a planned day off";
}

TEST(Attention, PausesThatWereForgotten) {
  AttentionFacts::OfJob job{.suspended = Suspension{.since = kLookedAt - 24h * 7, .until = {}}};
  EXPECT_TRUE(attention(of_one(job)).empty());
  job.suspended->since -= 1s;
  EXPECT_EQ(attention(of_one(job)),
            (std::vector<NeedsSomebody>{{Matter::long_paused, "a", "paused", kLookedAt - 24h * 7 - 1s, 1,
                                         "until it is resumed", "`kron resume a`"}}));
  job.suspended->by = "anna";
  job.suspended->note = "disk";
  EXPECT_EQ(attention(of_one(job)).front().reason, "by anna, until it is resumed (disk)");
  job.suspended->until = kLookedAt;
  EXPECT_TRUE(attention(of_one(job)).empty()) << "it is over";
}

TEST(Attention, WhatIsWrongWithKrondItselfGoesFirst) {
  AttentionFacts facts = of_one({.recent = {ran(1, 3)}});
  facts.not_ready = "the disk failed";
  facts.history_failed = "no room";
  facts.reload_failed = "gone";
  facts.refused_files = {{"/etc/krond.d/x.kron", "line 3: no such zone", 2}};
  facts.not_scheduled = {{"b", "its record is damaged"}};
  std::vector<std::string> matters;
  for (const NeedsSomebody& item : attention(facts)) matters.emplace_back(name_of(item.matter));
  EXPECT_EQ(matters, (std::vector<std::string>{"not ready", "history failed", "file refused", "reload failed",
                                               "not scheduled", "failing"}));
}

TEST(Attention, WhichJobsAreLookedAt) {
  Job job = testing::make_job({});
  EXPECT_FALSE(may_need_somebody(job, {}, {}, kLookedAt));
  EXPECT_TRUE(may_need_somebody(job, {}, {{}}, kLookedAt));
  std::optional paused = Suspension{.since = kLookedAt - 24h, .until = {}};
  EXPECT_FALSE(may_need_somebody(job, paused, {}, kLookedAt));
  paused->since = kLookedAt - 24h * 8;
  EXPECT_TRUE(may_need_somebody(job, paused, {}, kLookedAt));
  ASSERT_TRUE(add_clause(job.constraints.avoid, "dow", "TUE"));
  EXPECT_TRUE(may_need_somebody(job, {}, {}, kLookedAt));
}

TEST(Attention, TheListAsJson) {
  std::vector<NeedsSomebody> items(102, {.name = "a", .what = "failed"});
  items[0].since = kLookedAt;
  const std::string text = attention_json(items, 7, kLookedAt);
  EXPECT_TRUE(parse_json(text));
  EXPECT_THAT(
      text, HasSubstr(R"({"now":"2026-03-02T12:00:00Z","jobs":7,"jobsInNeed":1,"items":[{"matter":"failing",)"
                      R"("name":"a","what":"failed","since":"2026-03-02T12:00:00Z","count":1,"reason":"","cure":""})"));
  EXPECT_THAT(text, HasSubstr(R"("more":2})"));
  EXPECT_THAT(attention_json(items, 7, kLookedAt, 5), AllOf(HasSubstr(R"("jobsInNeed":6)"), HasSubstr(R"("more":7})")));
}

TEST(Attention, ADestinationThatDoesNotTakeMessagesIsOneItem) {
  AttentionFacts facts{.now = kLookedAt};
  facts.undelivered = {{"ops", "exit status 4", kLookedAt - Seconds(60), false},
                       {"ops", "exit status 3", kLookedAt - Seconds(90), true},
                       {"me", "exit status 3", kLookedAt, false}};
  const auto items = attention(facts);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(name_of(items[0].matter), "not notified");
  EXPECT_EQ(items[0].name, "me");
  EXPECT_EQ(items[0].what, "1 message not delivered");
  EXPECT_EQ(items[1].what, "2 messages not delivered, 1 given up");
  EXPECT_EQ(items[1].since, kLookedAt - Seconds(90));
  EXPECT_THAT(items[1].cure, HasSubstr("kron notify test ops"));
  EXPECT_THAT(attention_json(items, 3, kLookedAt), HasSubstr(R"("jobsInNeed":0)"));
}

TEST(Attention, WhatKeepsAllMessagesIsToldOfKrondItself) {
  AttentionFacts facts{.now = kLookedAt};
  facts.not_delivered = "there is no socket; leave out --socket none";
  facts.undelivered = {{"ops", "exit status 4", kLookedAt - Seconds(60), false}};
  facts.not_queued = 2;
  facts.queue_refuses = "the queue has 1000000 tasks";
  const auto items = attention(facts);
  ASSERT_EQ(items.size(), 3U);
  for (const NeedsSomebody& item : items) EXPECT_EQ(name_of(item.matter), "not notified");
  EXPECT_EQ(items[0].name, "");
  EXPECT_EQ(items[0].what, "nothing delivers notifications");
  EXPECT_EQ(items[0].reason, "there is no socket; leave out --socket none");
  EXPECT_EQ(items[1].name, "");
  EXPECT_EQ(items[1].what, "2 messages wait for the queue of tasks");
  EXPECT_EQ(items[1].count, 2U);
  EXPECT_EQ(items[1].reason, "the queue has 1000000 tasks");
  EXPECT_EQ(items[2].name, "ops");
  facts.not_queued = 1;
  EXPECT_EQ(attention(facts)[1].what, "1 message waits for the queue of tasks");
}

TEST(Attention, WhoWaitsLongForASlotIsOneItemForEachPool) {
  AttentionFacts facts{.now = kLookedAt};
  facts.slots_short = {{"db", 4, 12, kLookedAt - kLongSlotWait - Seconds(1), "report"},
                       {"net", 1, 3, kLookedAt - kLongSlotWait, "sync"},
                       {"", 8, 1, kLookedAt - std::chrono::hours(1), "backup"}};
  const auto items = attention(facts);
  ASSERT_EQ(items.size(), 2U) << "five minutes are not long";
  EXPECT_EQ(name_of(items[0].matter), "no slot");
  EXPECT_EQ(items[0].name, "db");
  EXPECT_EQ(items[0].what, "12 jobs wait for a slot");
  EXPECT_EQ(items[0].count, 12U);
  EXPECT_EQ(items[0].reason, "report waits longest; the pool has 4 slots");
  EXPECT_EQ(items[1].name, "");
  EXPECT_EQ(items[1].what, "1 job waits for a slot");
  EXPECT_EQ(items[1].reason, "backup waits longest; krond --max-running lets 8 run at once");
  EXPECT_THAT(attention_json(items, 3, kLookedAt), HasSubstr(R"("jobsInNeed":0)"));
}

TEST(Attention, ATokenThatExpiresSoonNeedsSomebodyAndIsNoJob) {
  AttentionFacts facts{.now = kLookedAt};
  const auto in = [&](Seconds time) { return AttentionFacts::Token{"abcdefgh", "ci", kLookedAt + time}; };
  constexpr Seconds kTwoWeeks = std::chrono::hours(14 * 24);
  facts.tokens = {in(kTwoWeeks + Seconds(1))};
  EXPECT_TRUE(attention(facts).empty());
  facts.tokens = {in(kTwoWeeks)};
  ASSERT_EQ(attention(facts).size(), 1U);
  const NeedsSomebody soon = attention(facts)[0];
  EXPECT_EQ(name_of(soon.matter), "token expires");
  EXPECT_EQ(soon.name, "ci");
  EXPECT_THAT(soon.cure, HasSubstr("kron token revoke abcdefgh"));
  EXPECT_EQ(soon.since, std::nullopt);
  facts.tokens = {in(Seconds(-5))};
  EXPECT_EQ(attention(facts)[0].what, "has expired");
  EXPECT_EQ(attention(facts)[0].since, kLookedAt - Seconds(5));
  EXPECT_THAT(attention_json(attention(facts), 3, kLookedAt), HasSubstr(R"("jobsInNeed":0)"));
}

}  // namespace
}  // namespace kron::report
