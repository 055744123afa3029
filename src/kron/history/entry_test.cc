#include "kron/history/entry.h"

#include <array>
#include <gtest/gtest.h>
#include <map>

#include "kron/history/fake/history_rig.h"
#include "kron/testing/draws.h"
#include "kron/testing/property.h"

namespace kron::history {
namespace {

std::optional<Instant> maybe_time() {
  if (!testing::maybe()) return std::nullopt;
  return instant_of(*rc::gen::inRange<std::int64_t>(0, 7'258'118'399));
}

std::chrono::microseconds maybe_length() {
  return std::chrono::microseconds(*rc::gen::inRange<std::int64_t>(-1'000'000, 100'000'000'000'000));
}

Entry any_entry() {
  Entry entry;
  entry.number = *rc::gen::inRange<std::int64_t>(1, 1'000'000);
  entry.job = "job " + *rc::gen::container<std::string>(rc::gen::inRange('\x01', '\x7f'));
  entry.detail = testing::one_of("", "timed out after 5s", "no \"such\"\nfile");
  entry.reason = *rc::gen::element(Reason::none, Reason::deadline, Reason::no_candidate, Reason::start_failed);
  entry.trigger = *rc::gen::element(Trigger::schedule, Trigger::manual, Trigger::reboot);
  entry.period = maybe_time();
  entry.chosen = maybe_time();
  entry.host = testing::one_of("", "h1", "h1#2");
  if (testing::maybe()) {
    entry.outcome = Outcome::executed;
    entry.run_id = testing::one_of("r1", "r2");
    entry.started_at = maybe_time();
    entry.ended_at = maybe_time();
    entry.pid = *rc::gen::inRange(0, 99999);
    if (entry.ended_at && testing::maybe()) entry.exit_code = *rc::gen::inRange(0, 255);
    if (entry.ended_at && testing::maybe()) entry.attempts = *rc::gen::inRange(2U, 102U);
    if (entry.exit_code && testing::maybe()) entry.failed = *entry.exit_code == 0;
    if (testing::maybe()) entry.delay = maybe_length();
    if (entry.ended_at && testing::maybe()) entry.duration = maybe_length();
    if (entry.ended_at && testing::maybe()) {
      entry.used = RunUsage{std::chrono::microseconds(*rc::gen::inRange(0, 1'000'000'000)), {}, 4096, 0, 512};
    }
    if (entry.ended_at) entry.output_bytes = *rc::gen::inRange<std::uint64_t>(0, 1 << 30);
  } else if (testing::maybe()) {
    entry.outcome = *rc::gen::element(Outcome::skipped, Outcome::missed, Outcome::unschedulable);
    entry.ended_at = maybe_time();
  } else {
    entry.passed_over = PassedOver{*rc::gen::inRange<std::uint64_t>(1, 1000), kStart, kStart + Seconds(60)};
  }
  return entry;
}

TEST(Entry, IsWrittenInTheNamesOfTheFormat) {
  Entry ended = run_ended("r1", 127);
  ended.number = 7;
  ended.detail = "not found";
  ended.trigger = Trigger::manual;
  EXPECT_EQ(entry_json(ended),
            R"({"number":7,"job":"backup","outcome":"executed","detail":"not found","trigger":"manual",)"
            R"("periodId":"2026-03-02T00:00:00Z","chosenTime":"2026-03-02T00:00:00Z","runId":"r1",)"
            R"("startedAt":"2026-03-02T00:00:00Z","endedAt":"2026-03-02T00:00:05Z","state":"ended","pid":4711,)"
            R"("exitCode":127,"outputBytes":17})");
  EXPECT_EQ(entry_json(run_ended("r1", std::nullopt)).find("\"exitCode\":127"), std::string::npos);
  EXPECT_NE(entry_json(run_ended("r1", std::nullopt)).find("\"exitCode\":null"), std::string::npos);
  EXPECT_EQ(entry_json(run_started("r2")),
            R"({"number":0,"job":"backup","outcome":"executed","trigger":"schedule",)"
            R"("periodId":"2026-03-02T00:00:00Z","chosenTime":"2026-03-02T00:00:00Z","runId":"r2",)"
            R"("startedAt":"2026-03-02T00:00:00Z","state":"running","pid":4711})");
  EXPECT_EQ(entry_json(missed(kStart)),
            R"({"number":0,"job":"backup","outcome":"missed","reason":"deadline","trigger":"schedule",)"
            R"("periodId":"2026-03-02T00:00:00Z","chosenTime":"2026-03-02T00:00:00Z",)"
            R"("endedAt":"2026-03-02T00:01:00Z","state":"ended"})");
  EXPECT_EQ(entry_json(passed_over(kStart, kStart + Seconds(60))),
            R"({"number":0,"job":"backup","outcome":"passed over","trigger":"schedule",)"
            R"("endedAt":"2026-03-02T00:01:00Z","state":"ended","passedOver":{"count":3,)"
            R"("first":"2026-03-02T00:00:00Z","last":"2026-03-02T00:01:00Z"}})");
}

TEST(Entry, DelayAndDurationAreNumbersOfSeconds) {
  Entry entry = run_ended("r1");
  entry.delay = std::chrono::microseconds(12'345);
  entry.duration = std::chrono::seconds(3);
  EXPECT_NE(entry_json(entry).find(R"("delaySeconds":0.012345,"durationSeconds":3,)"), std::string::npos)
      << entry_json(entry);
  EXPECT_EQ(parse_entry(entry_json(entry)).value(), entry);
  for (const char* wrong : {R"("3s")", "1e300", "true"}) {
    EXPECT_FALSE(parse_entry(R"({"number":1,"job":"a","durationSeconds":)" + std::string(wrong) + "}")) << wrong;
  }
}

TEST(Entry, TellsOfAttemptsWhenThereWereSeveral) {
  Entry entry = run_ended("r1", 0);
  EXPECT_EQ(entry_json(entry).find("attempts"), std::string::npos);
  entry.attempts = 3;
  EXPECT_NE(entry_json(entry).find(R"("exitCode":0,"attempts":3,"outputBytes")"), std::string::npos);
  EXPECT_EQ(merged(run_started("r1"), entry).attempts, 3U);
  EXPECT_EQ(merged(run_ended("r1", 0), entry).attempts, 3U) << "what the job's record does not tell, the run's does";
}

TEST(Entry, InAClusterItNamesTheHost) {
  Entry ended = run_ended("r1", 0);
  ended.host = "web-1";
  EXPECT_NE(entry_json(ended).find(R"("runId":"r1","host":"web-1")"), std::string::npos);
  EXPECT_EQ(parse_entry(entry_json(ended)).value().host, "web-1");
  EXPECT_EQ(merged(run_started("r1"), ended).host, "web-1");
}

TEST(Entry, ReadsBackEqual) {
  testing::for_all(200, [] {
    const Entry entry = any_entry();
    const Result<Entry> again = parse_entry(entry_json(entry));
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == entry);
  });
}

TEST(Entry, ALongDetailIsCutBetweenCharacters) {
  Entry entry = run_ended("r1", 1);
  for (std::size_t i = 0; i < kMostDetail; ++i) entry.detail += "é";
  entry.detail.insert(0, "x");
  const std::string detail = parse_entry(entry_json(entry)).value().detail;
  EXPECT_EQ(detail.size(), kMostDetail - 1);
  EXPECT_EQ(detail, entry.detail.substr(0, kMostDetail - 1));
}

TEST(Entry, WhatIsNoEntryIsRefused) {
  for (const char* text : {"", "{", "[]", "{}", R"({"job":""})", R"({"job":"a","startedAt":"yesterday"})",
                           R"({"job":"a","outcome":"lost"})", R"({"job":"a","passedOver":{"count":1}})",
                           R"({"job":"a","exitCode":"0"})"}) {
    EXPECT_FALSE(parse_entry(text)) << text;
  }
}

TEST(Entry, AKeyTellsRunsPeriodsAndReportsApart) {
  const std::vector<Entry> different{run_started("r1"),
                                     run_started("r2"),
                                     missed(kStart),
                                     missed(kStart + Seconds(60)),
                                     missed(kStart, "other"),
                                     {.job = "backup", .outcome = Outcome::skipped, .period = kStart},
                                     passed_over(kStart, kStart),
                                     passed_over(kStart, kStart + Seconds(60)),
                                     passed_over(kStart, kStart, "other")};
  for (std::size_t i = 0; i < different.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(key_of(different[i]), key_of(different[j])) << i << " " << j;
  }
  EXPECT_EQ(key_of(run_started("r1")), key_of(run_ended("r1", 1)));
  Entry elsewhere = missed(kStart);
  elsewhere.host = "h2";
  EXPECT_NE(key_of(elsewhere), key_of(missed(kStart))) << "without a lock each host has its own outcome";
}

TEST(Entry, ResultsFollowFromTheEndAndTheExitCode) {
  EXPECT_EQ(result_of(run_started("r1")), RunResult::running);
  EXPECT_EQ(result_of(run_ended("r1", 0)), RunResult::succeeded);
  EXPECT_EQ(result_of(run_ended("r1", 137)), RunResult::failed);
  EXPECT_EQ(result_of(run_ended("r1", std::nullopt)), RunResult::unknown);
  Entry decided = run_ended("r1", 0);
  decided.failed = true;
  EXPECT_EQ(result_of(decided), RunResult::failed) << "the job has rules of its own";
  EXPECT_NE(entry_json(decided).find(R"("exitCode":0,"failed":true,)"), std::string::npos);
  EXPECT_EQ(merged(run_started("r1"), decided).failed, true);
  decided.exit_code = 2;
  decided.failed = false;
  EXPECT_EQ(result_of(decided), RunResult::succeeded);
  EXPECT_EQ(result_of(missed(kStart)), std::nullopt);
  Entry given_up = missed(kStart);
  given_up.run_id = "r1";
  EXPECT_EQ(result_of(given_up), std::nullopt) << "a manual run that never started";
}

TEST(Merging, AnEndCompletesItsStart) {
  Entry start = run_started("r1");
  start.number = 5;
  start.trigger = Trigger::manual;
  const Entry end{.job = "backup", .run_id = "r1", .ended_at = kStart + Seconds(5), .exit_code = 3, .output_bytes = 17};
  Entry expected = run_ended("r1", 3);
  expected.number = 5;
  expected.trigger = Trigger::manual;
  EXPECT_EQ(merged(start, end), expected);
}

TEST(Merging, AnEndedRunDoesNotRunAgain) {
  const Entry end{.number = 5, .job = "backup", .run_id = "r1", .ended_at = kStart, .exit_code = 3};
  const Entry both = merged(end, run_started("r1"));
  EXPECT_EQ(both.ended_at, kStart);
  EXPECT_EQ(both.exit_code, 3);
  EXPECT_EQ(both.started_at, kStart);
  EXPECT_EQ(both.pid, 4711);
}

TEST(Merging, WhatIsKnownIsNoNews) {
  testing::for_all(200, [] {
    Entry known = any_entry();
    Entry news = any_entry();
    news.run_id = known.run_id;
    const Entry once = merged(known, news);
    RC_ASSERT(once.number == known.number);
    RC_ASSERT(merged(once, news) == once);
    RC_ASSERT(merged(known, known) == known);
  });
}

TEST(Joining, AnEndTakesThePlaceOfItsStart) {
  std::vector<Entry> entries{run_started("a"), run_started("b"), missed(kStart), run_ended("a", 3), run_ended("c")};
  join_starts_with_ends(entries);
  EXPECT_EQ(entries, (std::vector<Entry>{run_ended("a", 3), run_started("b"), missed(kStart), run_ended("c")}));
  join_starts_with_ends(entries);
  EXPECT_EQ(entries.size(), 4U) << "nothing is left to be joined";
}

TEST(Joining, AnEndBeforeItsStartStaysWhereItIs) {
  const std::vector<Entry> odd{run_ended("a", 3), run_started("a"), missed(kStart), missed(kStart)};
  std::vector<Entry> entries = odd;
  join_starts_with_ends(entries);
  EXPECT_EQ(entries, odd);
}

// Whatever is told in whatever order: it says the same, entry by entry.
TEST(Joining, ChangesNothingOfWhatIsKnownInTheEnd) {
  testing::for_all(200, [] {
    std::vector<Entry> entries;
    for (const int number : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 12))) {
      const std::string run_id(1, static_cast<char>('a' + number / 4));
      const std::array any{run_started(run_id), run_ended(run_id, number), missed(kStart + Seconds(number)),
                           Entry{.job = "backup", .run_id = run_id, .ended_at = kStart, .exit_code = number}};
      entries.push_back(any[static_cast<std::size_t>(number % 4)]);
    }
    const auto known_after = [](const std::vector<Entry>& told) {
      std::map<std::string, Entry> known;
      for (const Entry& entry : told) {
        const auto [place, is_new] = known.emplace(key_of(entry), entry);
        if (!is_new) place->second = merged(place->second, entry);
      }
      return known;
    };
    std::vector<Entry> joined = entries;
    join_starts_with_ends(joined);
    RC_ASSERT(known_after(joined) == known_after(entries));
  });
}

}  // namespace
}  // namespace kron::history
