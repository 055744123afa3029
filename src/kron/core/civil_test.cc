#include "kron/core/civil.h"

#include <gtest/gtest.h>

#include "kron/testing/property.h"

namespace kron {
namespace {

namespace chrono = std::chrono;

TEST(Civil, AgreesWithTheStandardLibraryOnEveryDayOfFourCenturies) {
  for (std::int64_t day = days_from_civil(1850, 1, 1); day < days_from_civil(2250, 1, 1); ++day) {
    const chrono::sys_days standard{chrono::days(day)};
    const chrono::year_month_day date{standard};
    const CivilDate found = date_of(day);
    ASSERT_EQ(found.year, static_cast<int>(date.year()));
    ASSERT_EQ(found.month, static_cast<int>(static_cast<unsigned>(date.month())));
    ASSERT_EQ(found.day, static_cast<int>(static_cast<unsigned>(date.day())));
    ASSERT_EQ(days_from_civil(found.year, found.month, found.day), day);
    ASSERT_EQ(weekday_of(day), static_cast<int>(chrono::weekday(standard).c_encoding()));
    ASSERT_EQ(days_in_month(found.year, found.month),
              static_cast<int>(static_cast<unsigned>((date.year() / date.month() / chrono::last).day())));
  }
}

TEST(Civil, TimesGoThereAndBack) {
  testing::for_all(2000, [] {
    const auto local = *rc::gen::inRange<LocalSeconds>(-100'000'000'000, 400'000'000'000);
    const CivilTime civil = civil_of(local);
    RC_ASSERT(local_of(civil) == local);
    RC_ASSERT(civil.hour >= 0 && civil.hour < 24 && civil.minute >= 0 && civil.minute < 60);
  });
}

TEST(Civil, TheSecondBeforeTheEpochIsTheLastOf1969) {
  EXPECT_EQ(civil_of(-1), (CivilTime{1969, 12, 31, 23, 59, 59}));
  EXPECT_EQ(civil_of(0), (CivilTime{1970, 1, 1, 0, 0, 0}));
}

TEST(Civil, IsoWeeksBelongToTheYearOfTheirThursday) {
  struct Case {
    int year, month, day;
    IsoWeek week;
  };
  const std::vector<Case> cases{
      {2026, 1, 1, {2026, 1}},    {2025, 12, 29, {2026, 1}}, {2025, 12, 28, {2025, 52}}, {2027, 1, 1, {2026, 53}},
      {2026, 12, 31, {2026, 53}}, {2028, 1, 1, {2027, 52}},  {2028, 1, 3, {2028, 1}},    {2024, 12, 30, {2025, 1}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(iso_week_of(days_from_civil(c.year, c.month, c.day)), c.week) << c.year << "-" << c.month << "-" << c.day;
  }
}

}  // namespace
}  // namespace kron
