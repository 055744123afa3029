#include "kron/jobs/shown_units.h"

#include <gtest/gtest.h>

#include "kron/base/duration.h"

namespace kron::jobs::shown_units_test {
namespace {

TEST(ShownUnits, EmptyLinesDivideUnits) {
  const auto units =
      shown_units("Id=a.timer\nUnit=a.service\n\n\nId=b.timer\r\nDescription=two\nlines = of it\nA=\n\n");
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units[0].text("Unit"), "a.service");
  EXPECT_EQ(units[0].text("Nothing"), "");
  EXPECT_EQ(units[1].text("Id"), "b.timer");
  EXPECT_EQ(units[1].text("Description"), "two\nlines = of it");
  EXPECT_EQ(units[1].find("Id")->at.line, 5U);
  EXPECT_TRUE(units[1].all("A").empty());
  EXPECT_TRUE(shown_units("\n\n").empty());
  EXPECT_TRUE(shown_units("no unit\n").empty());
}

TEST(ShownUnits, ACommandIsWhatStandsBetweenArgvAndItsFlags) {
  EXPECT_EQ(shown_command("{ path=/bin/sh ; argv[]=/bin/sh -c a ; b ; ignore_errors=no ; start_time=[n/a] ; pid=0 }"),
            "/bin/sh -c a ; b");
  EXPECT_EQ(shown_command("{ path=/bin/true ; argv[]= ; ignore_errors=no }"), "");
  EXPECT_EQ(shown_command("/bin/true"), std::nullopt);
  EXPECT_EQ(shown_command(" ; ignore_errors=argv[]="), std::nullopt);
}

TEST(ShownUnits, ATriggerHasAKindAndAValue) {
  EXPECT_EQ(shown_trigger("{ OnCalendar=*-*-* 06:00:00 ; next_elapse=Tue 2026-11-17 06:00:00 UTC }"),
            (std::pair<std::string, std::string>{"OnCalendar", "*-*-* 06:00:00"}));
  EXPECT_EQ(shown_trigger("{ OnBootUSec=15min ; next_elapse=15min 3.2s }"),
            (std::pair<std::string, std::string>{"OnBootUSec", "15min"}));
  for (const char* text : {"", "{ ", "{ A=1 }", "{  ; next_elapse==", "daily"})
    EXPECT_EQ(shown_trigger(text), std::nullopt);
}

TEST(ShownUnits, AnEnvironmentIsAListOfAssignments) {
  const auto environment = shown_environment(R"(A=1 "B=two \"words\"" $'C=it\'s\n' D=)");
  ASSERT_TRUE(environment);
  const std::vector<std::pair<std::string, std::string>> expected{
      {"A", "1"}, {"B", "two \"words\""}, {"C", "it's\n"}, {"D", ""}};
  EXPECT_EQ(*environment, expected);
  EXPECT_TRUE(shown_environment("")->empty());
  for (const char* text : {"[unprintable]", "A", "=1", "\"A=1", "\"A=\\", "\"\"", "$'"}) {
    EXPECT_EQ(shown_environment(text), std::nullopt) << text;
  }
}

TEST(ShownUnits, SpansOfTime) {
  const std::pair<const char*, const char*> spans[] = {
      {"1h 40min", "1h40m"}, {"0", "0s"},           {"500ms", "500ms"}, {"2w", "2w"},
      {"1.5h", "1h30m"},     {"1min 30s", "1m30s"}, {"1d", "1d"},       {"3.250s", "3s250ms"}};
  for (const auto& [text, expected] : spans) {
    const auto span = shown_span(text);
    ASSERT_TRUE(span) << text;
    EXPECT_EQ(duration_text(*span), expected);
  }
  EXPECT_EQ(shown_span("1month"), Nanoseconds(Seconds(2'629'800)));
  for (const char* text : {"", "infinity", "1", "h", "1x", "1.2.3s", "-1s", "9999999y", "100y 1s", "[not set]"}) {
    EXPECT_EQ(shown_span(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace kron::jobs::shown_units_test
