#include "answer_text.h"

#include <gtest/gtest.h>

#include "command_rig.h"
#include "kron/base/text.h"
#include "kron/testing/property.h"

// How single values look: what is missing, of another kind, too wide or not to be trusted.
namespace kron::cli {
namespace {

Node node(const std::string& text) { return parse_json(text).value(); }

std::string printed(const Table& table) {
  return captured([&] {
           table.print();
           return 0;
         })
      .out;
}

std::string field_printed(std::string_view name, std::string_view value) {
  return captured([&] {
           print_field(name, value);
           return 0;
         })
      .out;
}

TEST(AnswerText, ATextOrANumberIsText) {
  const Node map = node(R"({"text":"x","number":-3,"real":1.5,"yes":true,"null":null,"list":[1],"map":{}})");
  EXPECT_EQ(text_in(map, "text"), "x");
  EXPECT_EQ(text_in(map, "number"), "-3");
  EXPECT_EQ(text_in(map, "real"), "1.5");
  for (const char* key : {"yes", "null", "list", "map", "missing"}) EXPECT_EQ(text_in(map, key), "") << key;
}

TEST(AnswerText, WhatIsMissingOrOfAnotherKindIsNothing) {
  const Node map = node(R"({"text":"3","number":3,"yes":true,"list":[1]})");
  EXPECT_EQ(number_in(map, "number"), 3);
  EXPECT_EQ(number_in(map, "text"), 0);
  EXPECT_EQ(number_in(map, "missing"), 0);
  EXPECT_TRUE(flag_in(map, "yes"));
  EXPECT_FALSE(flag_in(map, "text"));
  EXPECT_FALSE(flag_in(map, "missing"));
  EXPECT_EQ(list_in(map, "list").size(), 1U);
  EXPECT_TRUE(list_in(map, "text").empty());
  EXPECT_TRUE(list_in(node("[1]"), "list").empty()) << "no map at all";
  EXPECT_EQ(text_in(node("3"), "x"), "");
}

TEST(AnswerText, OnlyWhatATerminalWouldObeyIsQuoted) {
  for (const char* text : {"", "a b", "größe", "日本", "a\"b'c", "🙂"}) EXPECT_EQ(harmless(text), text);
  EXPECT_EQ(harmless("a\nb"), R"('a\x0ab')");
  EXPECT_EQ(harmless("\x1b]0;title\x07"), R"('\x1b]0;title\x07')");
  EXPECT_EQ(harmless("\x7f"), R"('\x7f')");
  EXPECT_EQ(harmless("\xff\xfe"), R"('\xff\xfe')");
}

TEST(AnswerText, NothingThatIsShownHasAControlCharacterOrBrokenText) {
  testing::for_all(300, [](const std::string& text) {
    const std::string shown = harmless(text);
    RC_ASSERT(is_valid_utf8(shown));
    for (const char c : shown) RC_ASSERT(!(c >= 0 && c < ' ') && c != '\x7f');
  });
}

TEST(AnswerText, AFieldIsNamePaddingAndValueOrNothing) {
  EXPECT_EQ(field_printed("job", "a"), "job           a\n");
  EXPECT_EQ(field_printed("not scheduled", "a"), "not scheduled a\n");
  EXPECT_EQ(field_printed("a name that is long", "a"), "a name that is long a\n");
  EXPECT_EQ(field_printed("job", ""), "");
  EXPECT_EQ(field_printed("job", "a\nb"), "job           'a\\x0ab'\n");
}

TEST(AnswerText, ATableOfNothingIsItsHeads) { EXPECT_EQ(printed(Table({"A", "B"})), "A  B\n"); }

TEST(AnswerText, RowsMayBeShorterOrLongerThanTheHeads) {
  Table table({"A", "B"});
  table.add({"1"});
  table.add({"1", "2", "3"});
  table.add({});
  EXPECT_EQ(printed(table), "A  B\n1\n1  2  3\n\n");
}

TEST(AnswerText, NoLineEndsWithSpacesAndWideCellsPushTheRest) {
  Table table({"NAME", "X"});
  table.add({std::string(200, 'n'), ""});
  table.add({"a", "b"});
  EXPECT_EQ(printed(table),
            "NAME" + std::string(198, ' ') + "X\n" + std::string(200, 'n') + "\na" + std::string(201, ' ') + "b\n");
}

TEST(AnswerText, ColumnsStandUnderTheirHeadsWhateverTheLetters) {
  testing::for_all(50, [] {
    Table table({"HEAD", "|"});
    const int rows = *rc::gen::inRange(1, 6);
    for (int i = 0; i < rows; ++i) {
      std::string cell;
      const int letters = *rc::gen::inRange(0, 12);
      for (int n = 0; n < letters; ++n) cell += *rc::gen::element<std::string>("a", "ö", "日", "\n");
      table.add({cell, "|"});
    }
    std::istringstream lines(printed(table));
    std::size_t column = 0;
    for (std::string line; std::getline(lines, line);) {
      const auto bar = line.rfind('|');
      RC_ASSERT(bar != std::string::npos);
      std::size_t letters = 0;
      for (const char c : line.substr(0, bar)) letters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
      if (column == 0) column = letters;
      RC_ASSERT(letters == column);
    }
  });
}

TEST(AnswerText, ADashStandsForNothing) {
  EXPECT_EQ(or_dash(""), "-");
  EXPECT_EQ(or_dash("x"), "x");
}

TEST(AnswerText, TheWholeFileIsMeantByLineZero) {
  EXPECT_EQ(place_in(node(R"({"file":"f","line":3,"column":7})")), "f:3:7");
  EXPECT_EQ(place_in(node(R"({"file":"f","line":0,"column":0})")), "f");
  EXPECT_EQ(place_in(node(R"({"file":"f"})")), "f");
}

TEST(AnswerText, AResultInAFewWords) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"state":"running","outcome":"executed"})", "running"},
      {R"({"runId":"r","outcome":"executed","exitCode":0})", "exit 0"},
      {R"({"runId":"r","outcome":"executed","exitCode":130})", "exit 130"},
      {R"({"runId":"r","outcome":"executed"})", "exit unknown"},
      {R"({"runId":"r","outcome":"executed","detail":"timed out after 2s","exitCode":124})", "timed out after 2s"},
      {R"({"runId":"r","outcome":"executed","detail":"terminated by kron kill","exitCode":143})", "exit 143"},
      {R"({"runId":"r","outcome":"executed","detail":"ended by signal 11","exitCode":139})", "exit 139"},
      {R"({"runId":"r","outcome":"executed","detail":"cannot execute : No such file or directory"})", "no such file: "},
      {R"({"runId":"r","outcome":"executed","detail":"cannot execute x: Permission denied"})",
       "cannot execute x: Permission denied"},
      {R"({"outcome":"missed","reason":"deadline"})", "missed (deadline)"},
      {R"({"outcome":"skipped","reason":"none"})", "skipped"},
      {R"({"outcome":"skipped"})", "skipped"},
      {R"({"outcome":"unschedulable","reason":"avoid","clause":"hours=9-17"})", "avoid (hours=9-17)"},
      {R"({"passedOver":{"count":12}})", "12 passed over"},
      {R"({})", ""},
  };
  for (const auto& [run, words] : cases) EXPECT_EQ(result_of(node(run)), words) << run;
}

TEST(AnswerText, HowLongItTookIfThatIsKnown) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"startedAt":"2026-03-01T00:00:00Z","endedAt":"2026-03-01T01:01:01Z"})", "1h1m1s"},
      {R"({"startedAt":"2026-03-01T00:00:00Z","endedAt":"2026-03-01T00:00:00Z"})", "0s"},
      {R"({"startedAt":"2026-03-01T00:00:01Z","endedAt":"2026-03-01T00:00:00Z"})", ""},  // the clock was set back
      {R"({"startedAt":"2026-03-01T02:00:00+02:00","endedAt":"2026-03-01T00:00:05Z"})", "5s"},
      {R"({"startedAt":"2026-03-01T00:00:00Z"})", ""},
      {R"({"endedAt":"2026-03-01T00:00:00Z"})", ""},
      {R"({"startedAt":"x","endedAt":"y"})", ""},
  };
  for (const auto& [run, took] : cases) EXPECT_EQ(duration_of(node(run)), took) << run;
}

TEST(AnswerText, ItsTimeIsItsStartOrWhenItWasDue) {
  EXPECT_EQ(time_of(node(R"({"startedAt":"S","chosenTime":"C","periodId":"P","endedAt":"E"})")), "S");
  EXPECT_EQ(time_of(node(R"({"chosenTime":"C","periodId":"P","endedAt":"E"})")), "C");
  EXPECT_EQ(time_of(node(R"({"periodId":"P","endedAt":"E"})")), "P");
  EXPECT_EQ(time_of(node(R"({"endedAt":"E"})")), "E");
  EXPECT_EQ(time_of(node(R"({"startedAt":"S","passedOver":{"last":"L"}})")), "L");
  EXPECT_EQ(time_of(node("{}")), "");
}

}  // namespace
}  // namespace kron::cli
