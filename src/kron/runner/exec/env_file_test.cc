#include "kron/runner/exec/env_file.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "kron/base/secret_files.h"

namespace kron::exec {
namespace {

struct Read {
  std::vector<std::string> variables;
  std::string problem;
  std::size_t line = 0;
};

Read read(const std::string& text) {
  // An exact copy with the one byte more that there has to be, so that a sanitizer sees who reads beyond.
  std::vector<char> bytes(text.begin(), text.end());
  bytes.push_back('x');
  EnvFile file(bytes.data(), text.size());
  Read result;
  std::vector<const char*> found;
  while (const char* variable = file.next()) found.push_back(variable);
  // All are there until the end, not only while they are the last.
  for (const char* variable : found) result.variables.emplace_back(variable);
  if (file.problem() != nullptr) result.problem = file.problem();
  result.line = file.line();
  return result;
}

TEST(EnvFile, EachLineIsAVariable) {
  struct Case {
    std::string text;
    std::vector<std::string> variables;
  };
  const std::vector<Case> cases{
      {"", {}},
      {"\n\n", {}},
      {"A=1\nB=2\n", {"A=1", "B=2"}},
      {"A=1\nB=2", {"A=1", "B=2"}},
      {"A=1\r\nB=2\r\n", {"A=1", "B=2"}},
      {"# a comment\n; another\n  # a third\nA=1\n", {"A=1"}},
      {"  A = 1 2  \n", {"A=1 2"}},
      {"A=\n", {"A="}},
      {"A=\"\"\n", {"A="}},
      {"A='it # is'\n", {"A=it # is"}},
      {"A=x # y\n", {"A=x # y"}},
      {"A=x'y\"z\n", {"A=x'y\"z"}},
      {"A=\"a \\\"b\\\" \\\\ \\$c \\`d \\n\"\n", {"A=a \"b\" \\ $c `d \\n"}},
      {"A='a\\'\n", {"A=a\\"}},
      {"A=a\\nb\n", {"A=a\\nb"}},
      {"A=$B ${C} `d`\n", {"A=$B ${C} `d`"}},
      {"A=b=c\n", {"A=b=c"}},
      {"_a1=x\n", {"_a1=x"}},
      {"A=\xC3\xA4\n", {"A=\xC3\xA4"}},
      {"A= \" x \" \n", {"A= x "}},
  };
  for (const Case& each : cases) {
    const Read result = read(each.text);
    EXPECT_EQ(result.problem, "") << each.text;
    EXPECT_EQ(result.variables, each.variables) << each.text;
  }
}

TEST(EnvFile, WhatIsWrongIsSaidWithItsLineAndWithoutTheValue) {
  struct Case {
    std::string text;
    std::size_t line;
    std::string problem;
  };
  const std::vector<Case> cases{
      {"A=1\nhunter2\n", 2, "there is no ="},
      {"1A=hunter2\n", 1, "no name of a variable"},
      {"export A=hunter2\n", 1, "no name of a variable"},
      {"=hunter2\n", 1, "no name of a variable"},
      {"A-B=hunter2\n", 1, "no name of a variable"},
      {"\n\nA=\"hunter2\n", 3, "not closed"},
      {"A='hunter2\nB=x'\n", 1, "not closed"},
      {"A=\"\\\"\n", 1, "not closed"},
      {"A=\"hunter2\" x\n", 1, "follows the closing quote"},
      {std::string("A=hun\0ter2\n", 11), 1, "NUL"},
  };
  for (const Case& each : cases) {
    const Read result = read(each.text);
    EXPECT_NE(result.problem.find(each.problem), std::string::npos) << each.text << result.problem;
    EXPECT_EQ(result.line, each.line) << each.text;
    EXPECT_EQ(result.problem.find("hunter"), std::string::npos);
  }
}

TEST(EnvFile, HasALimitOfLinesNamesAndBytes) {
  std::string lines;
  for (std::size_t i = 0; i < kMostEnvLines; ++i) lines += "A=1\n";
  EXPECT_EQ(read(lines).problem, "");
  EXPECT_EQ(read(lines).variables.size(), kMostEnvLines);
  EXPECT_NE(read(lines + "#").problem, "");
  const std::string name(kMostVariableName, 'N');
  EXPECT_EQ(read(name + "=1").problem, "");
  EXPECT_NE(read(name + "N=1").problem, "");
  const std::string large = "A=" + std::string(kMostSecretFile - 2, 'x');
  EXPECT_EQ(read(large).problem, "");
  EXPECT_EQ(read(large).variables.front(), large);
  EXPECT_NE(read(large + "x").problem, "");
}

}  // namespace
}  // namespace kron::exec
