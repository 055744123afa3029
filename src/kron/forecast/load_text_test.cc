#include "kron/forecast/load_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"

namespace kron {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Histogram, ShowsEighthsOfARow) {
  const std::vector<std::uint64_t> values{0, 1, 8, 9, 16};
  EXPECT_EQ(histogram(values, 16, 5, 2),
            "   ▁█\n"
            " ▁███\n");
}

TEST(Histogram, AColumnShowsTheGreatestOfItsValues) {
  const std::vector<std::uint64_t> values{0, 8, 0, 4, 0, 0};
  EXPECT_EQ(histogram(values, 8, 3, 1), "█▄\n");
}

TEST(Histogram, WhateverIsNotZeroCanBeSeen) {
  const std::vector<std::uint64_t> values{1, 0, 1'000'000'000};
  EXPECT_EQ(histogram(values, 1'000'000'000, 3, 1), "▁ █\n");
}

std::size_t characters(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
}

class LoadText : public ::testing::Test {
 protected:
  std::string shown(std::size_t width) {
    return load_text(load_profile(jobs_, {.from = testing::utc("2026-03-01T00:00:00Z")}).value(), jobs_, width);
  }

  jobs::JobDefinition& add(const testing::JobSpec& spec) {
    jobs_.emplace_back().job = testing::make_job(spec);
    return jobs_.back();
  }

  std::vector<jobs::JobDefinition> jobs_;
};

TEST_F(LoadText, ChartsFitTheWidth) {
  for (int i = 0; i < 30; ++i) {
    add({.schedule = "0 0 * * *", .window = "1h", .identity = std::string(1, static_cast<char>('a' + i))});
  }
  for (const std::size_t width : {40, 80, 200}) {
    const std::string text = shown(width);
    std::size_t widest = 0;
    for (std::size_t begin = text.find("30 ┤"); begin < text.find("Hot spots");) {
      const std::size_t end = text.find('\n', begin);
      if (text.substr(begin, end - begin).find("Starts per") == std::string::npos) {
        widest = std::max(widest, characters(std::string_view(text).substr(begin, end - begin)));
      }
      begin = end + 1;
    }
    EXPECT_LE(widest, std::max<std::size_t>(width, 46));
  }
}

TEST_F(LoadText, NamesWhatCausesAHotSpot) {
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) add({.schedule = "0 0 * * MON", .identity = name});
  EXPECT_THAT(shown(80), HasSubstr("2026-03-02T00:00:00Z  7 starts: a, b, c, d, e and 2 more\n"));
  EXPECT_THAT(shown(48), HasSubstr("2026-03-02T00:00:00Z  7 starts: a and 6 more\n"));
  EXPECT_THAT(shown(80), Not(HasSubstr("Unschedulable")));
}

TEST_F(LoadText, SaysWhichPeriodsAreLostAndWhichJobsAreSilent) {
  ASSERT_TRUE(add_clause(add({.schedule = "0 0 * * *", .identity = "never"}).job.constraints.avoid, "hours", "0"));
  add({}).job.policy.suspend = true;
  const std::string text = shown(80);
  EXPECT_THAT(text, HasSubstr("2 jobs, 1 suspended; 1w in steps of 1m\n"));
  EXPECT_THAT(text, HasSubstr("Unschedulable: 7 periods of 1 job; see kron explain\n"));
  EXPECT_THAT(text, HasSubstr("  never  7 periods: 2026-03-01T00:00:00Z, 2026-03-02T00:00:00Z and 5 more\n"));
}

}  // namespace
}  // namespace kron
