// docs/formats.md names every key of the files, and no other.
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <string_view>

#include "kron/base/text.h"
#include "kron/state/first_seen.h"
#include "kron/state/record.h"
#include "kron/testing/golden.h"

namespace kron {
namespace {

using Keys = std::set<std::string>;

// Every word between `before` and `after`.
Keys words_between(std::string_view text, std::string_view before, std::string_view after) {
  Keys found;
  for (std::size_t at = text.find(before); at != text.npos; at = text.find(before, at + 1)) {
    const std::size_t begin = at + before.size();
    std::size_t end = begin;
    while (end < text.size() && (lower(text[end]) >= 'a' && lower(text[end]) <= 'z')) ++end;
    if (end > begin && text.substr(end).starts_with(after)) found.emplace(text.substr(begin, end - begin));
  }
  return found;
}

Keys written(const std::string& json) { return words_between(json, "\"", "\":"); }

// The first column of the tables between two headings.
Keys documented(const std::string& from, const std::string& to) {
  const std::string page = testing::read_file(testing::data_path("../../docs/formats.md"));
  const std::size_t begin = page.find("\n" + from + "\n");
  const std::size_t end = page.find("\n" + to + "\n", begin);
  EXPECT_NE(end, page.npos);
  return words_between(page.substr(begin, end - begin), "\n| `", "` |");
}

TEST(StateFormat, TheKeysOfARecordAreDocumented) {
  StateRecord full;
  full.identity = "a";
  full.periods.last_handled = instant_of(0);
  full.periods.open_periods = {instant_of(0)};
  full.periods.passed_over = {{instant_of(0), instant_of(1)}};
  full.periods.first_seen = instant_of(0);
  full.periods.first_seen_is_floor = true;
  full.periods.first_seen_reach = Seconds(1);
  full.periods.schedule = ScheduleSeen{1, instant_of(0)};
  full.periods.suspended = Suspension{instant_of(0), instant_of(1), true, "ada", "disk"};
  full.periods.failures_in_a_row = 2;
  full.last_boot_id = "b";
  full.alarm = Alarm{.bad = 1, .first = instant_of(0), .last = instant_of(0), .is_open = true, .told = 1};
  full.alarm->owed = {{.sign = {.run_id = "r", .exit_code = 1, .reason = "late"}, .number = 1, .to = {"ops"}}};
  full.active.resize(2);
  full.active[1].task_id = "t";
  full.history.push_back({.period = instant_of(0),
                          .outcome = Outcome::skipped,
                          .reason = Reason::excluded,
                          .clause = "only hours=3",
                          .attempts = 2,
                          .failed = true,
                          .run_id = "r",
                          .trigger = Trigger::reboot});
  full.history.push_back({.passed_over = PassedOver{1, instant_of(0), instant_of(0)}});
  EXPECT_EQ(written(state::print(full)), documented("### A job's record", "### first-seen.json"));
}

TEST(StateFormat, TheKeysOfFirstSeenAreDocumented) {
  EXPECT_EQ(written(first_seen_text({{"a", instant_of(0)}})),
            documented("### first-seen.json", "### What cannot be read"));
}

}  // namespace
}  // namespace kron
