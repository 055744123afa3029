#include "completion.h"

#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/testing/temporary_directory.h"

// The scripts that complete words in a shell, made from a program that is made up.
namespace kron::completion {
namespace {

using ::testing::HasSubstr;

Program sample() {
  return {.name = "prog",
          .flags = {{"--help", "Print it's help"}},
          .verbs = {{.name = "run",
                     .summary = "Run a job: $HOME `now` \"quoted\" 'single' [x] \\ %",
                     .flags = {{"--format", "Output format", {.words = {"text", "json"}}},
                               {"--file", "A file", {.are_files = true}},
                               {"--job", "A job", {.are_jobs = true}}},
                     .arguments = {.are_jobs = true}},
                    {.name = "list", .summary = "List them", .flags = {}, .arguments = {}}}};
}

// What the shell says of the script, if that shell is there; nothing when all is well.
std::string complaint_of(const std::string& shell, const std::string& text) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.file("script");
  std::ofstream(path) << text;
  const std::string command = "command -v " + shell + " >/dev/null || exit 0; " + shell + " -n " + path + " 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string said;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) said += static_cast<char>(c);
  ::pclose(pipe);
  return said;
}

TEST(Completion, EveryShellIsOfferedEveryWord) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string text = script(shell, sample());
    for (const char* word : {"prog", "run", "list", "format", "json", "file"})
      EXPECT_THAT(text, HasSubstr(word)) << shell;
  }
}

TEST(Completion, WhatASummaryHoldsIsNoCodeToTheShell) {
  for (const char* shell : {"bash", "zsh", "fish"})
    EXPECT_EQ(complaint_of(shell, script(shell, sample())), "") << shell;
}

TEST(Completion, AProgramWithoutVerbsCompletesItsFlags) {
  const Program flat{
      .name = "flat", .flags = {{"--config", "Job files", {.are_files = true}}, {"--once", "Once"}}, .verbs = {}};
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string text = script(shell, flat);
    EXPECT_THAT(text, HasSubstr("config")) << shell;
    EXPECT_THAT(text, HasSubstr("once")) << shell;
    EXPECT_EQ(complaint_of(shell, text), "") << shell;
  }
}

}  // namespace
}  // namespace kron::completion
