#include "kron/jobs/line_templates.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

#include "kron/jobs/load.h"
#include "kron/testing/scale.h"

namespace kron::jobs::line_templates_test {
namespace {

ZoneDatabase& zones() {
  static ZoneDatabase all;
  return all;
}

LoadedJobs load(const std::string& text) { return load_text("jobs.kron", text, Spelling::kron, zones()); }

TEST(LineParts, AreScheduleNameCommandAndTheRestByteForByte) {
  LineParts parts;
  ASSERT_TRUE(take_apart("  0 0 * * *  @tz(UTC) name=a user=\"b c\" command=\"d \\\"e\\\"\"  nice=5 ", parts));
  EXPECT_EQ(parts.start, 2U);
  EXPECT_EQ(parts.schedule, "0 0 * * *");
  EXPECT_EQ(parts.name, "a");
  EXPECT_EQ(parts.command, "d \"e\"");
  EXPECT_EQ(parts.rest, "@tz(UTC) name= user=\"b c\" command=  nice=5 ");
}

TEST(LineParts, OfABrokenOrIncompleteLineAreNotTaken) {
  LineParts parts;
  for (const std::string_view line :
       {"@daily name=a", "@daily command=a", "name=a command=b", "@daily name=a name=b command=c",
        "@daily name=a command=\"b", "@daily @win(3h name=a command=b", "@daily @win(3h)name=a command=b",
        "@daily name=a command=b c", "@daily name=a @avoid(dow=\"MON) command=b"}) {
    EXPECT_FALSE(take_apart(line, parts)) << line;
  }
}

TEST(LineTemplates, ALineLikeAnotherDiffersInItsOwnPartsAlone) {
  const LoadedJobs jobs = load(
      "0 1 * * * @tz(Europe/Paris) @win(after,3h) name=a command=\"x 1\" user=u\n"
      "\n"
      "5 2 * * MON @tz(Europe/Paris) @win(after,3h) name=b command=\"x 2\" user=u\n");
  ASSERT_EQ(jobs.definitions.size(), 2U);
  const JobDefinition& second = jobs.definitions[1];
  EXPECT_EQ(second.job.identity, "b");
  EXPECT_EQ(second.job.schedule, *parse_schedule("5 2 * * MON"));
  EXPECT_EQ(second.job.zone.name(), "Europe/Paris");
  EXPECT_EQ(command_of(second), "x 2");
  EXPECT_EQ(second.line, 3U);
  EXPECT_EQ(second.options, jobs.definitions[0].options);
}

TEST(LineTemplates, TheHOfAScheduleAndTheRestOfADstRuleAreEachLinesOwn) {
  const LoadedJobs jobs = load(
      "H H * * * name=a command=x\n"
      "H H * * * name=b command=x\n"
      "0 2 * * * @dst(overlap=second) name=c command=x\n"
      "*/30 * * * * @dst(overlap=second) name=d command=x\n");
  ASSERT_EQ(jobs.definitions.size(), 4U);
  EXPECT_EQ(jobs.definitions[1].job.schedule, *parse_schedule("H H * * *", "b"));
  EXPECT_EQ(jobs.definitions[2].job.schedule.dst, (DstRule{DstRule::Gap::run, DstRule::Overlap::second}));
  EXPECT_EQ(jobs.definitions[3].job.schedule.dst, (DstRule{DstRule::Gap::skip, DstRule::Overlap::second}));
}

// A line that stands alone is read in full.
TEST(LineTemplates, AFileSaysWhatEachOfItsLinesSaysAlone) {
  const std::vector<std::string> schedules{"@daily",  "0 0 * * *", "H H * * *",    "*/61 * * * *",   "0 0 31 2 *",
                                           "0 0 * *", "@reboot",   "*/30 * * * *", "  5   4 * * SUN"};
  const std::vector<std::string> modifiers{"",
                                           " @tz(Europe/Paris)",
                                           " @win(after,3h)",
                                           " @only(dow=MON-FRI)",
                                           " @dst(gap=skip)",
                                           " @win(later,3h)",
                                           " @avoid(calendar=c) calendar=c:2026-12-24",
                                           " calendar=c:2026-12-24",
                                           " @seed(daily,salt=\"a b\")"};
  const std::vector<std::string> names{
      " name=a", " name=b-2/x", " name=\"c\"", " name=No", " name=", "", " name=a name=b"};
  const std::vector<std::string> commands{" command=true",
                                          " command=\"/bin/x --y 1\"",
                                          " command=\"a | b\"",
                                          " command=\"it's\"",
                                          " command=\"x \\\"y\\\"\"",
                                          " command=",
                                          " command=\"'",
                                          "",
                                          " command=a\\\n",
                                          "\tcommand=\"é\"",
                                          " command=a\tb"};
  const std::vector<std::string> fields{"",         " user=u", " shell=true", " comand=x", " env=A=\"1 2\"",
                                        " nice=99", " # no"};
  std::mt19937 random(7);
  const auto one_of = [&](const std::vector<std::string>& all) { return all[random() % all.size()]; };
  for (int round = 0; round < testing::scaled(60); ++round) {
    std::string text;
    LoadedJobs expected;
    for (int i = 0; i < 40; ++i) {
      const bool usual = random() % 2 == 0;  // or hardly a line would be in order
      const std::string line =
          usual ? schedules[random() % 3] + modifiers[random() % 3] + names[random() % 2] + commands[random() % 3] +
                      fields[random() % 3] + "\n"
                : one_of(schedules) + one_of(modifiers) + one_of(names) + one_of(commands) + one_of(fields) + "\n";
      const auto lines_before = static_cast<std::size_t>(std::ranges::count(text, '\n'));
      LoadedJobs alone = load(std::string(lines_before, '\n') + line);
      std::ranges::move(alone.definitions, std::back_inserter(expected.definitions));
      std::ranges::move(alone.problems, std::back_inserter(expected.problems));
      text += line;
    }
    const LoadedJobs jobs = load(text);
    ASSERT_EQ(jobs.problems, expected.problems) << text;
    ASSERT_EQ(jobs.definitions, expected.definitions) << text;
    for (std::size_t i = 0; i < jobs.definitions.size(); ++i) {
      ASSERT_EQ(jobs.definitions[i].line, expected.definitions[i].line) << text;
    }
  }
}

}  // namespace
}  // namespace kron::jobs::line_templates_test
