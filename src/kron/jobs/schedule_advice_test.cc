#include "kron/jobs/schedule_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kron::jobs {
namespace {

using ::testing::HasSubstr;

TEST(ScheduleAdvice, NamesWhatIsHardlyMeant) {
  struct Case {
    std::string expression;
    std::size_t column;
    std::string message;
  };
  const Case cases[] = {
      {"* 3 * * *", 1, "minute: * runs 60 times, in every minute of hour 3"},
      {"  * 3,15 * * *", 3, "every minute of hour 3,15"},
      {"* 0 3 * * *", 1, "second: * runs 60 times, in every second of minute 0"},
      {"0 * 3 * * *", 3, "every minute of hour 3"},
      {"*/45 * * * *", 1, "minute: a step of 45 does not divide 60: the last distance is only 15"},
      {"*/35 * * * *", 1, "minute: a step of 35 does not divide 60: the last distance is only 25"},
      {"0 */7 * * *", 3, "hour: a step of 7 does not divide 24: the last distance is only 3"},
      {"*/25 * * * * *", 1, "second: a step of 25 does not divide 60"},
      {"*/90 * * * *", 3, "a step of 90 is larger"},
      {"0 0 13 * 5", 5, "match either"},
      {"0 0 0 L * MON 2030", 7, "match either"},
      {"0 0 */2 * 1", 5, "match day-of-month and day-of-week"},
      {"0 0 1 * */2", 9, "match day-of-month and day-of-week"},
  };
  for (const Case& c : cases) {
    const auto advice = advice_on(c.expression);
    ASSERT_EQ(advice.size(), 1U) << c.expression;
    EXPECT_EQ(advice[0].column, c.column) << c.expression;
    EXPECT_THAT(advice[0].message, HasSubstr(c.message));
    EXPECT_FALSE(advice[0].cure.empty());
  }
}

TEST(ScheduleAdvice, HasNothingToSayOfTheUsual) {
  for (const char* expression :
       {"* * * * *",     "*/15 * * * *", "* 9-17 * * *",   "*/5 3 * * *",      "* */2 * * *", "0 3 * * *",
        "0 0 13 * *",    "0 0 * * 5",    "0 0 */2 * *",    "0 0 */1 * 5",      "0 0 ? * 5",   "0 0 13 * ?",
        "*/2 * * * * *", "*/7 * * * *",  "*/8 * * * * *",  "0 */5 * * *",      "@daily",      "@every 45m",
        "@reboot",       "H H * * *",    "0 0 1-31/7 * *", "0 0 0 13 * ? 2030"}) {
    for (const ScheduleAdvice& advice : advice_on(expression)) ADD_FAILURE() << expression << ": " << advice.message;
  }
}

}  // namespace
}  // namespace kron::jobs
