#include "top_frame.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "command_rig.h"
#include "fake_krond.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "top_data.h"

// What `kron top` shows, at the sizes of terminals.
namespace kron::cli::top_frame_test {
namespace {

constexpr Instant kNow = instant_of(1'772'409'600);  // 2026-03-02T00:00:00Z

TopData sample() {
  TopData data{.now = kNow, .sentence = "krond 1.2.3, ready: 212 jobs, 2 running, next in 4 min"};
  data.needs = {
      {"report", "failed 3 times in a row"}, {"", "the history cannot be asked"}, {"a", "missed"}, {"b", "x"}};
  data.running = {{"db-backup", "r1", kNow - Seconds(200), Seconds(400)}, {"sync", "r2", kNow - Seconds(9), {}}};
  for (int i = 0; i < 12; ++i) {
    const Instant at = kNow + Seconds(60 * (i + 1));
    data.next.push_back({"job-" + std::to_string(i), at, at - Seconds(300), at + Seconds(900)});
  }
  data.next.front().window_end = data.next.front().window_start;
  data.outcomes = "+++x+tms?r";
  data.written.assign(60, 0);
  data.written[0] = 40;
  data.spread.assign(60, 1);
  return data;
}

std::vector<std::string> lines_of(const std::string& frame) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < frame.size(); ++i) {
    if (frame.compare(i, 2, "\r\n") == 0) {
      lines.emplace_back();
      ++i;
    } else {
      lines.back() += frame[i];
    }
  }
  return lines;
}

std::size_t width_of(const std::string& line) {
  return static_cast<std::size_t>(
      std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string trimmed_line(const std::string& line) { return line.substr(0, line.find_last_not_of(' ') + 1); }

TEST(TopFrame, FillsEveryTerminalExactly) {
  for (const auto& [width, height] : {std::pair(80, 24), std::pair(200, 60), std::pair(40, 12), std::pair(20, 5),
                                      std::pair(1, 1), std::pair(10, 2), std::pair(500, 100)}) {
    for (const bool has_utf8 : {true, false}) {
      const TopView view{.has_utf8 = has_utf8};
      const auto lines =
          lines_of(top_frame(sample(), view, static_cast<std::size_t>(width), static_cast<std::size_t>(height)));
      EXPECT_EQ(lines.size(), static_cast<std::size_t>(height)) << width << "x" << height;
      for (const std::string& line : lines) EXPECT_EQ(width_of(line), static_cast<std::size_t>(width)) << line;
    }
  }
}

TEST(TopFrame, At80x24ShowsEverythingFromTheSentenceToTheLoad) {
  const auto lines = lines_of(top_frame(sample(), {.selected = 1}, 80, 24));
  std::vector<std::string> shown;
  std::ranges::transform(lines, std::back_inserter(shown), trimmed_line);
  const std::vector<std::string> expected{
      "krond 1.2.3, ready: 212 jobs, 2 running, next in 4 min",
      "Needs you (4)",
      "  report: failed 3 times in a row",
      "  the history cannot be asked",
      "  a: missed",
      "Running (2)",
      "  db-backup                  ████████░░░░░░░░ 3 min 20 s of 6 min 40 s usual",
      "> sync                       ░░░░░░░░░░░░░░░░ 9 s",
      "Next",
      "  job-0                                       in 1 min",
      "  job-1                      ░░░░█░░░░░░░░░░░ in 2 min",
      "  job-2                      ░░░░█░░░░░░░░░░░ in 3 min",
      "  job-3                      ░░░░█░░░░░░░░░░░ in 4 min",
      "  job-4                      ░░░░█░░░░░░░░░░░ in 5 min",
      "  job-5                      ░░░░█░░░░░░░░░░░ in 6 min",
      "  job-6                      ░░░░█░░░░░░░░░░░ in 7 min",
      "  job-7                      ░░░░█░░░░░░░░░░░ in 8 min",
      "Recent  ✓✓✓✗✓tms?r",
  };
  ASSERT_GE(shown.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(shown[i], expected[i]) << i;
  EXPECT_THAT(shown[18], AllOf(StartsWith("Load    █▁"), EndsWith("▁ as written")));
  EXPECT_THAT(shown[19], AllOf(StartsWith("        ▂▂"), EndsWith("▂ spread, the next hour")));
  EXPECT_EQ(shown.back(), "j k move  Enter show  l logs  r run  p pause  / filter  q quit");
}

TEST(TopFrame, At200x60HasRoomForLongNamesAndTheWholeHour) {
  TopData data = sample();
  data.running.front().job = std::string(40, 'n');
  const auto lines = lines_of(top_frame(data, {}, 200, 60));
  EXPECT_THAT(lines[6], HasSubstr(std::string(40, 'n') + " "));
  const auto load = std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with("Load"); });
  ASSERT_NE(load, lines.end());
  EXPECT_EQ(width_of(trimmed_line(*load)), 8U + 60 + 11) << "a column for each minute";
}

TEST(TopFrame, At40x12LeavesOutFromTheBottom) {
  const auto lines = lines_of(top_frame(sample(), {}, 40, 12));
  const std::string text = top_frame(sample(), {}, 40, 12);
  EXPECT_THAT(text, Not(HasSubstr("Load")));
  EXPECT_THAT(text, Not(HasSubstr("Recent")));
  EXPECT_THAT(text, AllOf(HasSubstr("krond 1.2.3"), HasSubstr("Needs you (4)"), HasSubstr("db-backup"),
                          HasSubstr("Next"), HasSubstr("job-1         ░█░░░░ in 2 min"), HasSubstr("j k move")));
}

TEST(TopFrame, PlainWithoutUtf8AndWithoutColour) {
  const std::string text = top_frame(sample(), {.has_utf8 = false}, 80, 24);
  EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return (c >= ' ' && c <= '~') || c == '\r' || c == '\n'; }));
  EXPECT_THAT(text, HasSubstr("########........"));
  EXPECT_THAT(text, HasSubstr("Recent  +++x+tms?r"));
  EXPECT_THAT(top_frame(sample(), {.has_colour = true}, 80, 24), HasSubstr("\x1b[31m"));
}

TEST(TopFrame, HostileNamesAreHarmless) {
  TopData data = sample();
  data.running.front().job =
      "a\x1b[2J\nb\xe2\x80\xae"
      "c";
  data.needs.front().what = "\x1b]0;title\x07";
  const std::string text = top_frame(data, {.has_utf8 = false}, 80, 24);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);
  EXPECT_EQ(lines_of(text).size(), 24U);
}

TEST(TopFrame, WhatIsOldIsSaidToBe) {
  TopData data = sample();
  data.problem = "nobody answers";
  EXPECT_THAT(top_frame(data, {}, 80, 24), StartsWith("OLD: nobody answers"));
}

TEST(TopFrame, AFilterLeavesOthersOutAndRowsFollowIt) {
  const TopData data = sample();
  EXPECT_EQ(top_rows(data, {}).size(), 10U) << "two runs and eight starts";
  const TopView view{.filter = "job-1"};
  const auto rows = top_rows(data, view);
  ASSERT_EQ(rows.size(), 3U) << "1, 10 and 11";
  EXPECT_EQ(rows.front().job, "job-1");
  EXPECT_EQ(top_rows(data, {}).front().run_id, "r1");
  const std::string text = top_frame(data, view, 80, 24);
  EXPECT_THAT(text, AllOf(HasSubstr("job-11"), Not(HasSubstr("db-backup")), HasSubstr("[job-1]")));
}

TEST(TopFrame, AKrondThatDoesNotTellWhatNeedsSomebodyIsNotSaidToNeedNobody) {
  EXPECT_THAT(top_frame({.now = kNow, .knows_needs = false}, {}, 80, 24), Not(HasSubstr("eeds you")));
}

TEST(TopFrame, NothingAtAllIsShownToo) {
  const std::string text = top_frame({.now = kNow}, {.prompt = "run a? y: yes"}, 80, 24);
  EXPECT_THAT(text, AllOf(HasSubstr("Nothing needs you"), HasSubstr("Running (0)"), HasSubstr("run a? y: yes")));
}

TEST(TopSource, AsksKrondAndKeepsWhatItKnewWhenThatIsGone) {
  FakeKrond krond;
  krond.on("GET /status", R"({"version":"1","ready":true,"now":"2026-03-02T00:00:00Z","jobs":2,"running":1,)"
                          R"("nextDue":"2026-03-02T00:04:00Z"})");
  krond.on("GET /runs?result=running&limit=100",
           R"({"runs":[{"job":"a","runId":"r1","startedAt":"2026-03-01T23:59:00Z"}]})");
  krond.on("GET /jobs?state=running&fields=usualSeconds", R"({"jobs":[{"identity":"a","usualSeconds":90}]})");
  krond.on(
      "GET /runs?limit=200",
      R"({"runs":[{"job":"a","outcome":"executed","state":"running","runId":"r1","startedAt":"2026-03-01T23:59:00Z"},)"
      R"({"job":"b","outcome":"missed","endedAt":"2026-03-01T23:58:00Z"},)"
      R"({"job":"b","outcome":"executed","state":"ended","runId":"r2","exitCode":1,"startedAt":"2026-03-01T23:57:00Z","endedAt":"2026-03-01T23:57:00Z"},)"
      R"({"job":"b","outcome":"executed","state":"ended","runId":"r3","exitCode":0,"startedAt":"2026-03-01T23:56:00Z","endedAt":"2026-03-01T23:56:00Z"},{}]})");
  krond.on("GET /jobs?fields=next&limit=1000",
           R"({"jobs":[{"identity":"b","next":{"startsAt":"2026-03-02T01:00:00Z"}},)"
           R"({"identity":"a","next":{"startsAt":"2026-03-02T00:04:00Z"}},{"identity":"c","next":null}]})");
  krond.on("GET /jobs/a/decisions?count=1",
           R"({"decisions":[{"windowStart":"2026-03-02T00:00:00Z","windowEnd":"2026-03-02T00:10:00Z"}]})");
  krond.on("GET /attention", R"({"items":[{"matter":"failing","name":"b","what":"failed twice"}]})");
  krond.on("GET /load?for=1h&step=1m", R"({"before":{"starts":[2,0]},"after":{"starts":[1,1]}})");
  TopSource source{DaemonClient(krond.socket())};
  const TopData data = source.look();
  EXPECT_EQ(data.sentence, "krond 1, ready: 2 jobs, 1 running, next in 4 min");
  ASSERT_EQ(data.running.size(), 1U);
  EXPECT_EQ(data.running.front().usual, Seconds(90));
  ASSERT_EQ(data.next.size(), 2U);
  EXPECT_EQ(data.next.front().job, "a") << "the soonest first";
  EXPECT_EQ(data.next.front().window_end - data.next.front().window_start, Seconds(600));
  EXPECT_EQ(data.outcomes, "?+xmr") << "the newest last";
  EXPECT_EQ(data.needs.front().what, "failed twice");
  EXPECT_EQ(data.written, (std::vector<std::int64_t>{2, 0}));
  const std::size_t asked = krond.asked().size();
  source.look();
  EXPECT_EQ(krond.asked().size(), asked + 3) << "the lists of all jobs are not asked for again at once";
  krond.on("POST /jobs/a/pause", "{}");
  krond.refuse("POST /jobs/b/trigger", {Code::conflict, "a run of it goes on"});
  EXPECT_EQ(source.act("pause", "a"), "paused a; `kron resume a` resumes it");
  EXPECT_EQ(source.act("trigger", "b"), "b: a run of it goes on");
  source.look();
  EXPECT_GT(krond.asked().size(), asked + 3 + 2 + 3) << "what is next may be another one now";
  krond.stop();
  const TopData& old = source.look();
  EXPECT_NE(old.problem, "");
  EXPECT_EQ(old.next.size(), 2U);
}

TEST(TopVerb, NeedsATerminal) { EXPECT_THAT(kron({"top"}).err, HasSubstr("needs a terminal")); }

}  // namespace
}  // namespace kron::cli::top_frame_test
