#include "kron/core/constraints.h"

#include <gtest/gtest.h>

#include "kron/testing/property.h"

namespace kron {
namespace {

using Calendars = std::map<std::string, std::vector<DateRange>>;

const Calendars kCalendars{{"holidays", {{20261224, 20261226}, {20270101, 20270101}}},
                           {"freeze", {{20261215, 20270110}}}};

ConstraintSet clause(std::string_view kind, std::string_view value) {
  ConstraintSet set;
  const Status added = add_clause(set, kind, value, kCalendars);
  EXPECT_TRUE(added) << kind << '=' << value << ": " << added.error().message;
  return set;
}

CivilTime at(int month, int day, int hour = 12, int minute = 0) { return {2026, month, day, hour, minute, 59}; }

struct Match {
  const char* kind;
  const char* value;
  CivilTime time;
  bool matches;
};

const Match kMatches[] = {
    {"hours", "9-17,20", at(3, 2, 9), true},
    {"hours", "9-17,20", at(3, 2, 17, 59), true},
    {"hours", "9-17,20", at(3, 2, 18), false},
    {"hours", "22-3", at(3, 2, 23), true},
    {"hours", "22-3", at(3, 2, 0), true},
    {"hours", "22-3", at(3, 2, 4), false},
    {"hours", " 9 - 11 , 13 ", at(3, 2, 13), true},
    {"dow", "1", at(3, 2), true},  // 2 March 2026 is a Monday
    {"dow", "FRI-MON", at(3, 2), true},
    {"dow", "FRI-MON", at(3, 1), true},
    {"dow", "FRI-MON", at(3, 3), false},
    {"dow", "fri-mon", at(3, 6), true},
    {"dow", "0", at(3, 1), true},
    {"dow", "7", at(3, 1), true},
    {"dow", "5-7", at(3, 1), true},
    {"dow", "5-7", at(3, 2), false},
    {"dow", "7-1", at(3, 2), true},
    {"dow", "7-1", at(3, 3), false},
    {"dow", "0-7", at(3, 4), true},
    {"dom", "31", at(3, 31), true},
    {"dom", "28-2", at(3, 1), true},
    {"dom", "28-2", at(3, 3), false},
    {"months", "NOV-FEB", at(1, 5), true},
    {"months", "11-2", at(3, 5), false},
    {"between", "18:58-19:00", at(3, 1, 19, 0), true},
    {"between", "18:58-19:00", at(3, 1, 19, 1), false},
    {"between", "22:00-06:00", at(3, 1, 6, 0), true},
    {"between", "22:00-06:00", at(3, 1, 22, 0), true},
    {"between", "22:00-06:00", at(3, 1, 6, 1), false},
    {"between", "9:30-10:00,12:00-12:00", at(3, 1, 12, 0), true},
    {"date", "2026-03-01,2026-03-05", at(3, 5), true},
    {"date", "2026-03-01,2026-03-05", at(3, 4), false},
    {"dates", "2026-03-01..2026-03-05", at(3, 5, 23, 59), true},
    {"dates", "2026-03-01..2026-03-05", at(3, 6, 0), false},
    {"dates", "2026-03-01..2026-03-02,2026-03-09", at(3, 9), true},
    {"calendar", "holidays", at(12, 25), true},
    {"calendar", "holidays", at(12, 27), false},
    {"calendar", "holidays, freeze", at(12, 27), true},
};

TEST(Constraints, AClauseMatchesWhatItSays) {
  for (const Match& match : kMatches) {
    const ConstraintSet set = clause(match.kind, match.value);
    EXPECT_EQ((Constraints{set, {}}.allow(match.time)), match.matches) << "only " << match.kind << '=' << match.value;
    EXPECT_EQ((Constraints{{}, set}.allow(match.time)), !match.matches) << "avoid " << match.kind << '=' << match.value;
  }
}

TEST(Constraints, KindsAreAndedInOnlyAndAnyMatchOfAvoidRejects) {
  ConstraintSet set = clause("hours", "9");
  ASSERT_TRUE(add_clause(set, "hours", "11"));
  ASSERT_TRUE(add_clause(set, "dow", "MON"));
  const Constraints only{set, {}};
  EXPECT_TRUE(only.allow(at(3, 2, 9)));
  EXPECT_TRUE(only.allow(at(3, 2, 11)));
  EXPECT_FALSE(only.allow(at(3, 2, 10)));
  EXPECT_FALSE(only.allow(at(3, 3, 9)));
  const Constraints avoid{{}, set};
  EXPECT_FALSE(avoid.allow(at(3, 2, 10)));
  EXPECT_FALSE(avoid.allow(at(3, 3, 9)));
  EXPECT_TRUE(avoid.allow(at(3, 3, 10)));
  EXPECT_FALSE((Constraints{set, clause("between", "09:30-09:40")}.allow(at(3, 2, 9, 35))));
}

TEST(Constraints, DateAndDatesAreOneKindAndCalendarAnother) {
  ConstraintSet set = clause("date", "2026-12-20");
  ASSERT_TRUE(add_clause(set, "dates", "2026-12-24..2026-12-25"));
  EXPECT_TRUE((Constraints{set, {}}.allow(at(12, 20))));
  ASSERT_TRUE(add_clause(set, "calendar", "holidays", kCalendars));
  EXPECT_FALSE((Constraints{set, {}}.allow(at(12, 20))));
  EXPECT_TRUE((Constraints{set, {}}.allow(at(12, 24))));
}

struct Wrong {
  const char* kind;
  const char* value;
  std::size_t column;
  const char* part_of_message;
};

TEST(Constraints, WrongClausesNameTheKindAndTheColumn) {
  const Wrong cases[] = {
      {"hour", "9", 1, "did you mean hours?"},
      {"hours", "", 1, "'' is not one of"},
      {"hours", "24", 1, "'24'"},
      {"hours", "9-24", 3, "'24'"},
      {"hours", "9,,10", 3, "''"},
      {"hours", "9,10,", 6, "''"},
      {"hours", "9, x", 4, "'x'"},
      {"hours", "-9", 1, "''"},
      {"hours", "9-", 3, "''"},
      {"hours", "9-10-11", 3, "'10-11'"},
      {"hours", "*/2", 1, "'*/2'"},
      {"hours", "+9", 1, "'+9'"},
      {"hours", "99999999999999999999", 1, "is not one of"},
      {"dow", "8", 1, "0 and 7 are Sunday"},
      {"dow", "MON-FRY", 5, "'FRY'"},
      {"dom", "0", 1, "1-31"},
      {"dom", "32", 1, "1-31"},
      {"months", "0", 1, "JAN-MAR"},
      {"months", "13", 1, "JAN-MAR"},
      {"between", "9-17", 1, "HH:MM-HH:MM"},
      {"between", "09:00", 6, "HH:MM-HH:MM"},
      {"between", "09:00-24:00", 7, "HH:MM-HH:MM"},
      {"between", "09:00-17:60", 7, "HH:MM-HH:MM"},
      {"between", "09:00-10:00,9:5-10:00", 13, "HH:MM-HH:MM"},
      {"date", "2026-02-30", 1, "not a date that exists"},
      {"date", "2026-2-3", 1, "not a date that exists"},
      {"date", "2026-03-01..2026-03-02", 1, "write it as dates="},
      {"dates", "2026-03-05..2026-03-01", 1, "ends before it begins"},
      {"dates", "2026-03-01..2026-13-01", 13, "'2026-13-01'"},
      {"dates", "2026-03-01, 2026-03-01..x", 25, "'x'"},
      {"calendar", "holiday", 1, "did you mean holidays?"},
      {"calendar", "holidays,vacation", 10, "known are freeze, holidays"},
  };
  for (const Wrong& wrong : cases) {
    ConstraintSet set;
    const Status added = add_clause(set, wrong.kind, wrong.value, kCalendars);
    ASSERT_FALSE(added) << wrong.kind << '=' << wrong.value;
    EXPECT_EQ(added.error().code, Code::invalid);
    EXPECT_EQ(added.error().field, wrong.kind);
    EXPECT_EQ(added.error().column, wrong.column) << wrong.kind << '=' << wrong.value << ": " << added.error().message;
    EXPECT_NE(added.error().message.find(wrong.part_of_message), std::string::npos) << added.error().message;
  }
  ConstraintSet set;
  EXPECT_EQ(add_clause(set, "calendar", "x").error().message, "no calendar is defined with the job");
}

TEST(Constraints, HugeValuesAreRefused) {
  ConstraintSet set;
  for (const char* kind : {"hours", "dow", "dom", "months", "between", "date", "dates", "calendar", "x"}) {
    EXPECT_FALSE(add_clause(set, kind, std::string(100'000, '1'), kCalendars)) << kind;
    EXPECT_FALSE(add_clause(set, kind, std::string(60'000, ','), kCalendars)) << kind;
  }
  EXPECT_FALSE(add_clause(set, std::string(100'000, 'h'), "1"));
}

TEST(Constraints, TheSummaryIsCanonical) {
  EXPECT_EQ(summary_of({}), "none");
  ConstraintSet only = clause("hours", "22-3,12");
  ASSERT_TRUE(add_clause(only, "dow", "7,MON,2,3"));
  ASSERT_TRUE(add_clause(only, "between", "22:00-06:00,09:00-10:30"));
  ConstraintSet avoid = clause("dates", "2027-01-02..2027-01-03,2026-12-24..2026-12-26,2026-12-31");
  ASSERT_TRUE(add_clause(avoid, "calendar", "holidays", kCalendars));
  ASSERT_TRUE(add_clause(avoid, "months", "1,2,3,12"));
  ASSERT_TRUE(add_clause(avoid, "dom", "13"));
  EXPECT_EQ(summary_of({only, avoid}),
            "only hours=0-3,12,22-23 dow=SUN-WED between=09:00-10:30,22:00-06:00; "
            "avoid dom=13 months=JAN-MAR,DEC date=2026-12-31 "
            "dates=2026-12-24..2026-12-26,2027-01-02..2027-01-03 calendar=holidays");
}

ConstraintSet random_set() {
  ConstraintSet set;
  const auto maybe = [](auto generate) { return *rc::gen::inRange(0, 2) == 0 ? 0U : generate(); };
  set.hours = maybe([] { return *rc::gen::inRange(0U, 1U << 24); });
  set.weekdays = static_cast<std::uint8_t>(maybe([] { return *rc::gen::inRange(0U, 1U << 7); }));
  set.days = maybe([] { return *rc::gen::inRange(0U, 1U << 30) << 1; });
  set.months = static_cast<std::uint16_t>(maybe([] { return *rc::gen::inRange(0U, 1U << 12) << 1; }));
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    const auto minute = [] {
      return std::to_string(*rc::gen::inRange(10, 24)) + ":" + std::to_string(*rc::gen::inRange(10, 60));
    };
    EXPECT_TRUE(add_clause(set, "between", minute() + "-" + minute()));
  }
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    const int first = *rc::gen::inRange(10, 29);
    const int last = *rc::gen::inRange(first, 29);
    EXPECT_TRUE(add_clause(set, "dates", to_string(DateRange{20260200 + first, 20260200 + std::min(last, 28)})));
  }
  if (*rc::gen::inRange(0, 2) == 0) {
    EXPECT_TRUE(add_clause(set, "calendar", "holidays,freeze", kCalendars));
  }
  return set;
}

TEST(Constraints, ClausesReadBackAsTheSameSet) {
  testing::for_all(300, [] {
    const ConstraintSet set = random_set();
    ConstraintSet again;
    for (const auto& [kind, value] : clauses_of(set)) RC_ASSERT(add_clause(again, kind, value, kCalendars).has_value());
    RC_ASSERT(again == set);
    RC_ASSERT(clauses_of(again) == clauses_of(set));
  });
}

TEST(Constraints, ADateAndAMinuteAreJudgedApart) {
  testing::for_all(500, [] {
    const Constraints constraints{random_set(), random_set()};
    const CivilTime time = civil_of(*rc::gen::inRange<std::int64_t>(1'767'225'600, 1'830'000'000));
    RC_ASSERT(constraints.allow(time) == (constraints.allow_date({time.year, time.month, time.day}) &&
                                          constraints.allow_minute(time.hour * 60 + time.minute)));
  });
}

}  // namespace
}  // namespace kron
