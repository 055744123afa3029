#include "kron/history/pauses.h"

#include <gtest/gtest.h>

#include "kron/core/state.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/power_cut_file_system.h"
#include "kron/history/pause_file.h"

namespace kron::history::pauses_test {
namespace {

using namespace std::chrono_literals;
using All = std::vector<Pause>;

constexpr Instant kStart = instant_of(1'772'409'600);  // 2026-03-02T00:00:00Z

TEST(Pauses, EndWhenTheJobIsResumed) {
  Pauses pauses;
  pauses.begin({"a", kStart, {}, "ann", "disk full"});
  pauses.begin({"b", kStart + 1s});
  pauses.end("a", kStart + 1h);
  EXPECT_EQ(pauses.of("a"), (All{{"a", kStart, kStart + 1h, "ann", "disk full"}}));
  EXPECT_EQ(pauses.of("b"), (All{{"b", kStart + 1s}}));
  pauses.end("nobody", kStart);
  EXPECT_EQ(pauses.all().size(), 2U);
}

TEST(Pauses, InOtherTermsStayTheSame) {
  Pauses pauses;
  pauses.begin({"a", kStart, {}, "ann", ""});
  pauses.begin({"a", kStart, kStart + 2h, "bob", "longer"});
  EXPECT_EQ(pauses.of("a"), (All{{"a", kStart, kStart + 2h, "bob", "longer"}}));
}

TEST(Pauses, ThatAreOverStayAsTheyWere) {
  Pauses pauses;
  pauses.begin({"a", kStart, kStart + 1h});
  pauses.end("a", kStart + 2h);
  EXPECT_EQ(pauses.of("a"), (All{{"a", kStart, kStart + 1h}})) << "it ended by itself before";
  pauses.begin({"a", kStart + 3h});
  pauses.end("a", kStart + 4h);
  EXPECT_EQ(pauses.of("a"), (All{{"a", kStart, kStart + 1h}, {"a", kStart + 3h, kStart + 4h}}));
}

TEST(Pauses, OfManyTheOldestGo) {
  Pauses pauses;
  for (std::size_t i = 0; i <= Pauses::kMost; ++i) pauses.begin({"a", kStart + Seconds(i)});
  EXPECT_EQ(pauses.all().size(), Pauses::kMost);
  EXPECT_EQ(pauses.all().front().since, kStart + 1s);
  EXPECT_EQ(Pauses(All(Pauses::kMost + 1, {"a", kStart})).all().size(), Pauses::kMost);
}

TEST(Pauses, AreReadBackAsTheyWereWritten) {
  const All all{{"a", kStart, kStart + 1h, "ann", "\"quoted\""}, {"b", kStart}};
  EXPECT_EQ(parse_pauses(pauses_text(all)).value(), all);
  for (const char* bad : {"", "[]", "{}", R"({"pauses":[{}]})", R"({"pauses":[{"job":"a","since":"x"}]})"}) {
    EXPECT_FALSE(parse_pauses(bad)) << bad;
  }
}

TEST(PauseFile, KeepsThemAndBeginsAnewWithWhatCannotBeRead) {
  testing::PowerCutFileSystem file_system;
  const auto directory = open_or_make_directory(file_system, "/history", 0700).value();
  testing::CapturingLog log;
  PauseFile first(file_system, *directory, log);
  first.read();
  first.write_changes();
  EXPECT_FALSE(directory->info(PauseFile::kName)) << "nothing has changed";
  first.begin({"a", kStart});
  first.write_changes();
  first.end("a", kStart + 1h);
  first.write_changes();
  PauseFile second(file_system, *directory, log);
  second.read();
  EXPECT_EQ(second.all().of("a"), (All{{"a", kStart, kStart + 1h}}));
  EXPECT_TRUE(log.lines().empty());
  ASSERT_TRUE(directory->remove(PauseFile::kName));
  ASSERT_TRUE(write_all(*directory->create(PauseFile::kName, 0600).value(), R"({"pauses":[{"job":)"));
  PauseFile third(file_system, *directory, log);
  third.read();
  EXPECT_EQ(log.lines_of("pauses_lost").size(), 1U);
  third.begin({"b", kStart});
  third.write_changes();
  PauseFile fourth(file_system, *directory, log);
  fourth.read();
  EXPECT_EQ(fourth.all().all(), (All{{"b", kStart}}));
}

TEST(PauseFile, WhatIsWrittenCanBeReadAgainHoweverLongItIs) {
  kron::testing::PowerCutFileSystem file_system;
  const auto directory = open_or_make_directory(file_system, "/history", 0700).value();
  kron::testing::CapturingLog log;
  PauseFile file(file_system, *directory, log);
  // As JSON six times as long.
  const std::string strange(500, '\x01');
  for (std::size_t i = 0; i < Pauses::kMost; ++i)
    file.begin({"job-" + std::to_string(i), kStart, {}, strange, strange});
  file.write_changes();
  PauseFile next(file_system, *directory, log);
  next.read();
  ASSERT_TRUE(log.lines().empty()) << log.lines().front().field("reason");
  ASSERT_GT(next.all().all().size(), 100U);
  EXPECT_EQ(next.all().all().back().job, "job-" + std::to_string(Pauses::kMost - 1)) << "the oldest are gone";
  EXPECT_EQ(next.all().all(), file.all().all());
  // As many as are kept, with as much to say as may be said.
  PauseFile usual(file_system, *directory, log);
  const std::string text(kMostNoteBytes, 'x');
  for (std::size_t i = 0; i < Pauses::kMost; ++i) usual.begin({"job-" + std::to_string(i), kStart, {}, "anna", text});
  usual.write_changes();
  next.read();
  ASSERT_TRUE(log.lines().empty()) << log.lines().front().field("reason");
  EXPECT_EQ(next.all().all().size(), Pauses::kMost);
}

}  // namespace
}  // namespace kron::history::pauses_test
