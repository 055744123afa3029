#include "kron/jobs/ics_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kron::jobs {
namespace {

using ::testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto checked = checked_ics(text);
  return checked ? "" : checked.error().message;
}

std::string nested(std::size_t depth) {
  std::string begin, end;
  for (std::size_t i = 0; i < depth; ++i) {
    const std::string name = i == 0 ? "VCALENDAR" : "X-" + std::to_string(i);
    begin += "BEGIN:" + name + "\r\n";
    end.insert(0, "END:" + name + "\r\n");
  }
  return begin + end;
}

std::string with_events(std::size_t count) {
  std::string text = "BEGIN:VCALENDAR\n";
  for (std::size_t i = 0; i < count; ++i) text += "BEGIN:VEVENT\nEND:VEVENT\n";
  return text + "END:VCALENDAR\n";
}

TEST(IcsCheck, UnfoldsAndEndsEachLineWithCrlf) {
  const std::string crlf = "BEGIN:VCALENDAR\r\nSUMMARY:a\r\n b\r\n\t c\r\nEND:VCALENDAR\r\n";
  const std::string expected = "BEGIN:VCALENDAR\r\nSUMMARY:ab c\r\nEND:VCALENDAR\r\n";
  EXPECT_EQ(checked_ics(crlf).value(), expected);
  EXPECT_EQ(checked_ics("\xEF\xBB\xBF" + crlf).value(), expected);
  EXPECT_EQ(checked_ics("BEGIN:VCALENDAR\nSUMMARY:a\n b\n\t c\n\nEND:VCALENDAR").value(), expected);
  EXPECT_EQ(checked_ics("BEG\n IN:VCALENDAR\nend:vcalendar").value(), "BEGIN:VCALENDAR\r\nend:vcalendar\r\n");
}

TEST(IcsCheck, RefusesWhatIsNoWholeCalendarAndNamesTheLine) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "it is empty"},
      {"\n\n", "it is empty"},
      {"hello\n", "line 1: it is no calendar: BEGIN:VCALENDAR was expected"},
      {"<html>", "line 1: it is no calendar"},
      {"BEGIN:VEVENT\nEND:VEVENT\n", "line 1: it is no calendar"},
      {"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:x\n", "line 2: BEGIN:VEVENT has no END: the file was cut off"},
      {"BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VEVENT\n", "line 1: BEGIN:VCALENDAR has no END"},
      {"BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR\n",
       "line 3: END:VCALENDAR where END:VEVENT was expected, of line 2"},
      {"BEGIN:VCALENDAR\nEND:VCALENDAR\nEND:VCALENDAR\n", "line 3: END:VCALENDAR where nothing was begun"},
      {"BEGIN:VCALENDAR\nEND:VCALENDAR\nroot:x:0:0\n", "line 3: it is no calendar"},
      {std::string("BEGIN:VCALENDAR\nSUMMARY:a\0b\nEND:VCALENDAR\n", 42), "NUL"},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(error_of(text), HasSubstr(message)) << text;
}

TEST(IcsCheck, HasItsLimits) {
  EXPECT_EQ(error_of(nested(kMostIcsDepth)), "");
  EXPECT_THAT(error_of(nested(kMostIcsDepth + 1)), HasSubstr("more than 8 components"));
  EXPECT_EQ(error_of(with_events(kMostIcsEvents)), "");
  EXPECT_THAT(error_of(with_events(kMostIcsEvents + 1)), HasSubstr("more than 5000 events"));
  const std::string empty = with_events(0);
  EXPECT_EQ(error_of(empty + std::string(kMostIcsBytes - empty.size(), '\n')), "");
  EXPECT_THAT(error_of(empty + std::string(kMostIcsBytes - empty.size() + 1, '\n')), HasSubstr("1024 KiB"));
}

}  // namespace
}  // namespace kron::jobs
