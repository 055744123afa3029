#include "kron/jobs/destinations.h"

#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "kron/testing/temporary_directory.h"

namespace kron::jobs {
namespace {

constexpr std::string_view kAll = R"(ops:
  webhook:
    url: https://hooks.example.org/kron?key=1
    secret_file: /etc/krond-notify.secret
team:
  mail: {to: [ops@example.org, me@example.org], from: kron@example.org}
pager:
  command: /usr/local/bin/page --to "the one on call"
)";

TEST(Destinations, AreReadByTheirKinds) {
  Report report("notify.yaml", kAll);
  const Destinations all = parse_destinations(kAll, report);
  EXPECT_EQ(report.error_count(), 0U);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all.at("ops"), Destination(Webhook{.url = "https://hooks.example.org/kron?key=1",
                                               .secret_file = "/etc/krond-notify.secret"}));
  EXPECT_EQ(all.at("team"), Destination(Mail{.to = {"ops@example.org", "me@example.org"}, .from = "kron@example.org"}));
  EXPECT_EQ(all.at("pager"), Destination(NotifyCommand{{"/usr/local/bin/page", "--to", "the one on call"}}));
}

TEST(Destinations, AreShownWithoutWhatMayBeASecret) {
  Report report("notify.yaml", kAll);
  const Destinations all = parse_destinations(kAll, report);
  EXPECT_EQ(summary_of(all.at("ops")), "webhook https://hooks.example.org, signed");
  EXPECT_EQ(summary_of(all.at("team")), "mail to ops@example.org, me@example.org");
  EXPECT_EQ(summary_of(all.at("pager")), "command /usr/local/bin/page");
}

struct Wrong {
  std::string_view text;
  std::string_view says;
};

TEST(Destinations, WhatIsWrongIsSaidWithItsPlace) {
  const std::vector<Wrong> wrongs{
      {"- ops", "must be a map of names"},
      {"Ops: {command: /bin/true}", "is no name of a destination"},
      {"ops: x", "a destination must be a map"},
      {"ops: {}", "one of webhook, mail and command"},
      {"ops: {command: /bin/true, mail: {to: a@b}}", "one of webhook, mail and command"},
      {"ops: {webhok: {url: https://x}}", "webhook"},
      {"ops: {webhook: {}}", "has no url"},
      {"ops: {webhook: {url: ftp://x}}", "this is no URL"},
      {"ops: {webhook: {url: 'https://'}}", "this is no URL"},
      {"ops: {webhook: {url: 'https://me:hunter2@x/'}}", "without a password"},
      {"ops: {webhook: {url: https://x, secret_file: a}}", "no absolute path"},
      {"ops: {webhook: {url: https://x, secret: a}}", "secret"},
      {"ops: {mail: {}}", "has no address"},
      {"ops: {mail: {to: 'a@b, c@d'}}", "is no mail address"},
      {"ops: {mail: {to: \"a@b\\nBcc: x\"}}", "is no mail address"},
      {"ops: {mail: {to: -oQ/tmp}}", "is no mail address"},
      {"ops: {command: page}", "absolute path"},
      {"ops: {command: []}", "absolute path"},
      {"ops: {command: /bin/true}\n---\nb: {command: /bin/true}", "second document"},
      {"ops: [", ""},
  };
  for (const Wrong& wrong : wrongs) {
    Report report("notify.yaml", wrong.text);
    parse_destinations(wrong.text, report);
    ASSERT_GE(report.error_count(), 1U) << wrong.text;
    const Problem& first = report.problems().front();
    EXPECT_NE((first.message + first.cure).find(wrong.says), std::string::npos) << wrong.text << ": " << first.message;
    EXPECT_NE(first.at.line, 0U) << wrong.text;
    EXPECT_EQ(first.message.find("hunter2"), std::string::npos);
  }
}

TEST(Destinations, OneThatIsWrongDoesNotTakeTheOthersWithIt) {
  const std::string_view text = "a: {command: no}\nb: {command: /bin/true}\n";
  Report report("notify.yaml", text);
  EXPECT_TRUE(parse_destinations(text, report).contains("b"));
  EXPECT_EQ(report.error_count(), 1U);
}

TEST(Destinations, AJobThatNamesAnotherIsWarnedOf) {
  JobDefinition definition;
  definition.job.identity = "backup";
  definition.line = 7;
  RunOptions options;
  options.notify = AlarmTerms{.on = all_alarm_kinds(), .to = {"ops", "teams"}};
  definition.options = std::make_shared<const RunOptions>(std::move(options));
  Report report("notify.yaml", kAll);
  const auto problems = unknown_destinations(std::span(&definition, 1), parse_destinations(kAll, report));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].severity, Severity::warning);
  EXPECT_EQ(problems[0].at.line, 7U);
  EXPECT_EQ(problems[0].cure, "did you mean team?");
}

TEST(Destinations, HaveLimits) {
  const auto of = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += "d" + std::to_string(i) + ": {command: /bin/true}\n";
    Report report("notify.yaml", text);
    return parse_destinations(text, report).size();
  };
  EXPECT_EQ(of(kMostDestinationsOfAFile), kMostDestinationsOfAFile);
  EXPECT_EQ(of(kMostDestinationsOfAFile + 1), 0U);
  const auto errors_of = [](std::size_t addresses) {
    std::string text = "a: {mail: {to: [";
    for (std::size_t i = 0; i < addresses; ++i) text += (i == 0 ? "a" : ", a") + std::to_string(i) + "@b";
    text += "]}}";
    Report report("notify.yaml", text);
    parse_destinations(text, report);
    return report.error_count();
  };
  EXPECT_EQ(errors_of(kMostMailAddresses), 0U);
  EXPECT_EQ(errors_of(kMostMailAddresses + 1), 1U);
}

TEST(Destinations, AFileThatOthersCanWriteIsRefused) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/notify.yaml";
  std::ofstream(path) << kAll;
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(load_destinations(path).value().size(), 3U);
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  EXPECT_EQ(load_destinations(path).error().code, Code::refused);
}

TEST(Destinations, AnErrorInTheFileNamesItsPlace) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/notify.yaml";
  std::ofstream(path) << "ops:\n  webhook: {url: no}\n";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  const auto loaded = load_destinations(path);
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find(path + ":2:"), std::string::npos) << loaded.error().message;
}

}  // namespace
}  // namespace kron::jobs
