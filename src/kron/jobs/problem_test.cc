#include "kron/jobs/problem.h"

#include <gtest/gtest.h>

namespace kron::jobs {
namespace {

TEST(Problem, IsShownWithItsLineACaretAndTheCure) {
  Report report("jobs.kron", "# one\n0 0 * * *\t@tzz(x)\n");
  report.error({2, 11}, "tzz", "unknown modifier '@tzz'", "did you mean @tz?");
  EXPECT_EQ(text_of(report.problems().front()),
            "jobs.kron:2:11: error: unknown modifier '@tzz'\n"
            "    0 0 * * *\t@tzz(x)\n"
            "             \t^\n"
            "    hint: did you mean @tz?\n");
}

TEST(Problem, CaretCountsCharactersNotBytes) {
  Report report("f", "\xC3\xA4\xC3\xB6 x");
  report.warn({1, 6}, "", "here");
  EXPECT_EQ(text_of(report.problems().front()), "f:1:6: warning: here\n    \xC3\xA4\xC3\xB6 x\n       ^\n");
}

TEST(Problem, LongLinesAreCutAroundTheColumn) {
  const std::string line = std::string(1000, 'a') + "X" + std::string(1000, 'b');
  Report report("f", line);
  report.error({1, 1001}, "", "here");
  const Problem& problem = report.problems().front();
  EXPECT_LE(problem.source_line.size(), 200U);
  EXPECT_EQ(problem.source_line.at(problem.caret - 1), 'X');
}

TEST(Problem, PlacesBeyondTheTextAndControlCharactersDoNoHarm) {
  Report report("f", "a\x01z\n");
  report.error({9, 9}, "", "beyond");
  report.error({1, 99}, "", "beyond the line");
  report.note({}, "", "the whole file");
  EXPECT_EQ(text_of(report.problems()[0]), "f:9:9: error: beyond\n");
  EXPECT_EQ(text_of(report.problems()[1]), "f:1:99: error: beyond the line\n    a?z\n       ^\n");
  EXPECT_EQ(text_of(report.problems()[2]), "f: note: the whole file\n");
}

TEST(Report, SaysTheSameAboutTheSamePlaceOnceButCountsIt) {
  Report report("f", "x");
  report.error({1, 1}, "", "bad");
  report.error({1, 1}, "", "bad");
  EXPECT_EQ(report.problems().size(), 1U);
  EXPECT_EQ(report.error_count(), 2U);
}

TEST(Report, FindsThePlaceOfAFieldEvenWhenKeysHoldDots) {
  Node::Map env;
  env.push_back({"a.b", {3, 5}, Node(std::string("value"), {3, 10})});
  Node::Map root;
  root.push_back({"env", {2, 3}, Node(std::move(env), {3, 5})});
  Report report("f", "");
  const Node node(std::move(root), {1, 1});
  report.errors({{Code::invalid, "one; cure", "env.a.b", 3},
                 {Code::invalid, "two", "env.a.b", 0},
                 {Code::invalid, "three", "env.c", 0},
                 {Code::invalid, "four", "name", 0}},
                node);
  ASSERT_EQ(report.problems().size(), 4U);
  EXPECT_EQ(report.problems()[0].at, (Position{3, 12}));
  EXPECT_EQ(report.problems()[0].cure, "cure");
  EXPECT_EQ(report.problems()[1].at, (Position{3, 5}));
  EXPECT_EQ(report.problems()[2].at, (Position{3, 5}));
  EXPECT_EQ(report.problems()[3].at, (Position{1, 1}));
}

TEST(Report, KnowsThePlaceOfAByte) {
  Report report("f", "ab\ncd\n");
  EXPECT_EQ(report.position_of(0), (Position{1, 1}));
  EXPECT_EQ(report.position_of(2), (Position{1, 3}));
  EXPECT_EQ(report.position_of(4), (Position{2, 2}));
}

}  // namespace
}  // namespace kron::jobs
