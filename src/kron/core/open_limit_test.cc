#include "kron/core/open_limit.h"

#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"

namespace kron {
namespace {

using testing::make_job;

TEST(OpenLimit, IsMetExactly) {
  const struct {
    const char* schedule;
    const char* window;
    std::uint64_t open;
  } cases[] = {
      {"* * * * * *", "4095s", 4096}, {"* * * * * *", "4096s", 4097}, {"* * * * *", "245700s", 4096},
      {"* * * * *", "245760s", 4097}, {"@every 1s", "4096s", 4097},   {"@every 7s", "28665s", 4096},
      {"0 * * * *", "10d", 241},      {"0 9-17 * * 1-5", "7d", 46},   {"0 0 1 * *", "365d", 13},
      {"* 9 * * *", "2h", 60},        {"0 0 29 2 *", "1d", 1},        {"* * * * * *", "30d", 2592001},
      {"@reboot", "30d", 1},          {"0 0 0 1 1 * 2150", "30d", 1}, {"*/5 * * * * *", "0s", 1},
  };
  for (const auto& c : cases) {
    const Job job = make_job({.schedule = c.schedule, .window = c.window});
    EXPECT_EQ(most_open_periods(job), c.open) << c.schedule << " " << c.window;
    EXPECT_EQ(check_open_periods(job).has_value(), c.open <= kMostOpenPeriods) << c.schedule << " " << c.window;
    EXPECT_TRUE(check_open_periods(job, c.open)) << c.schedule << " " << c.window;
    EXPECT_FALSE(check_open_periods(job, c.open - 1)) << c.schedule << " " << c.window;
  }
}

TEST(OpenLimit, TheMessageNamesTheWindowAndTheCure) {
  const Status refused = check_open_periods(make_job({.schedule = "* * * * * *", .window = "30d"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "window");
  EXPECT_NE(refused.error().message.find("more than 4096"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("make the window shorter"), std::string::npos);
}

}  // namespace
}  // namespace kron
