#include "kron/core/schedule_words.h"

#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace kron {
namespace {

TEST(ScheduleWords, SayWhatTheExpressionMeans) {
  const std::vector<std::pair<const char*, const char*>> table{
      {"* * * * *", "every minute"},
      {"*/15 * * * *", "every 15 minutes"},
      {"7-59/15 * * * *", "every 15 minutes from minute 7"},
      {"*/7 * * * *", "at every 7th minute from 0 to 56 of every hour"},
      {"5,35 * * * *", "every 30 minutes from minute 5"},
      {"5,36 * * * *", "at minutes 5 and 36 of every hour"},
      {"0-4 * * * *", "at minutes 0 to 4 of every hour"},
      {"0 * * * *", "every hour"},
      {"@hourly", "every hour"},
      {"30 * * * *", "every hour at minute 30"},
      {"0 */2 * * *", "every 2 hours"},
      {"30 */2 * * *", "every 2 hours at minute 30"},
      {"30 1-23/2 * * *", "every 2 hours from 01:30"},
      {"0 9-17 * * *", "every hour from 09:00 to 17:59"},
      {"*/15 9-17 * * mon-fri", "every 15 minutes from 09:00 to 17:59 on weekdays"},
      {"*/20 3 * * *", "every day at 03:00, 03:20 and 03:40"},
      {"*/5 3 * * *", "every 5 minutes in hour 3"},
      {"*/5 1,4,9 * * *", "every 5 minutes in hours 1, 4 and 9"},
      {"*/5 0-20/4 * * *", "every 5 minutes in every 4th hour from 0 to 20"},
      {"30 2 * * *", "every day at 02:30"},
      {"0 0 * * *", "every day at 00:00"},
      {"0 6,18 * * *", "every day at 06:00 and 18:00"},
      {"0,30 6,18 * * *", "every day at 06:00, 06:30, 18:00 and 18:30"},
      {"30 2 * * 1", "on Mondays at 02:30"},
      {"30 2 * * 1-5", "on weekdays at 02:30"},
      {"30 2 * * 6,0", "on Saturdays and Sundays at 02:30"},
      {"30 2 * * 0,1,2", "on Mondays, Tuesdays and Sundays at 02:30"},
      {"30 2 * * 2-6", "on Tuesdays to Saturdays at 02:30"},
      {"0 5 1 * *", "on day 1 of the month at 05:00"},
      {"0 5 1,15 * *", "on days 1 and 15 of the month at 05:00"},
      {"0 5 */2 * *", "on every 2nd day of the month from day 1 at 05:00"},
      {"0 5 L * *", "on the last day of the month at 05:00"},
      {"0 5 L-1 * *", "on the day before the last of the month at 05:00"},
      {"0 5 L-3 * *", "on the day 3 days before the last of the month at 05:00"},
      {"0 5 LW * *", "on the last weekday of the month at 05:00"},
      {"0 5 15W * *", "on the weekday nearest to day 15 of the month at 05:00"},
      {"0 5 * * 5L", "on the last Friday of the month at 05:00"},
      {"0 5 * * 1#1", "on the first Monday of the month at 05:00"},
      {"0 5 * * 1#1,1#3", "on the first Monday of the month and the third Monday of the month at 05:00"},
      {"0 5 13 * 5", "on day 13 of the month and on Fridays at 05:00"},
      {"0 5 */2 * 5", "on every 2nd day of the month from day 1, only on Fridays at 05:00"},
      {"0 0 1 1 *", "on day 1 of the month in January at 00:00"},
      {"@yearly", "on day 1 of the month in January at 00:00"},
      {"@weekly", "on Sundays at 00:00"},
      {"0 5 * 1-3 *", "every day in January to March at 05:00"},
      {"*/10 * * 6,12 *", "every 10 minutes in June and December"},
      {"* * * * * *", "every second"},
      {"*/3 * * * * *", "every 3 seconds"},
      {"15 30 2 * * *", "every day at 02:30:15"},
      {"15 * * * * *", "at second 15 of every minute"},
      {"15,16 * * * * *", "at seconds 15 and 16 of every minute"},
      {"*/20 5 * * * *", "every 20 seconds in minute 5 of every hour"},
      {"*/20 0-4 3 * * *", "every 20 seconds in minutes 0 to 4 in hour 3"},
      {"0 0 5 1 1 * 2027", "on day 1 of the month in January in 2027 at 05:00"},
      {"@every 90m", "every 90 minutes"},
      {"@every 1h", "every hour"},
      {"@every 1d", "every day"},
      {"@every 45s", "every 45 seconds"},
      {"@every 90s", "every 1m30s"},
      {"@reboot", "once after each start of the machine"},
  };
  for (const auto& [expression, words] : table) {
    const auto schedule = parse_schedule(expression, "job");
    ASSERT_TRUE(schedule) << expression << ": " << schedule.error().message;
    EXPECT_EQ(words_of(*schedule), words) << expression;
  }
}

}  // namespace
}  // namespace kron
