#include "kron/api/job_source.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"
#include "kron/jobs/load.h"

namespace kron::api {
namespace {

using ::testing::HasSubstr;

class JobSourceTest : public ApiRig {
 protected:
  void load_line(const std::string& line) {
    file_ = (directory_ / "x.kron").string();
    std::ofstream(file_) << line << '\n';
    ZoneDatabase zones;
    jobs::LoadedJobs loaded = jobs::load_text(file_, line + "\n", jobs::Spelling::kron, zones);
    ASSERT_EQ(loaded.definitions.size(), 1U);
    definition_ = loaded.definitions.front();
    do_on_loop([&] { EXPECT_TRUE(host_.reload({definition_})); });
    status_.job_files.read_at = read_at_;
  }
  std::string job() { return ask("GET", "/api/v1/jobs/x").body; }

  std::string file_;
  jobs::JobDefinition definition_;
  Instant read_at_ = std::chrono::floor<Seconds>(std::chrono::system_clock::now()) + Seconds(1);
};

TEST_F(JobSourceTest, AJobIsShownAsItsAuthorWroteIt) {
  load_line("*/3 * * * * * name=x command=true");
  EXPECT_EQ(read_source(definition_, read_at_, true), "*/3 * * * * * name=x command=true");
  JsonWriter json;
  json.begin_map();
  write_source(json, {.definition = definition_, .known = {}, .next = {}}, "it");
  EXPECT_EQ(json.end_map().take(),
            R"({"words":"every 3 seconds","scheduleAsWritten":"*/3 * * * * *","source":"it","firstSeen":null})");
}

TEST_F(JobSourceTest, AFileThatHasChangedOrIsLargeIsNotShown) {
  load_line("@daily name=x command=true");
  EXPECT_TRUE(read_source(definition_, read_at_, true));
  EXPECT_EQ(read_source(definition_, read_at_ - std::chrono::hours(1), true), std::nullopt);
  EXPECT_EQ(read_source(definition_, std::nullopt, true), std::nullopt);
  std::filesystem::resize_file(file_, kMostSourceFile + 1);
  EXPECT_EQ(read_source(definition_, read_at_, true), std::nullopt);
  std::filesystem::remove(file_);
  EXPECT_EQ(read_source(definition_, read_at_, true), std::nullopt);
}

TEST_F(JobSourceTest, TheAnswerHasItAndHidesSecretsFromReaders) {
  load_line("@daily name=x command=true env=A=hunter2");
  EXPECT_THAT(job(), HasSubstr(R"("words":"every day at 00:00","scheduleAsWritten":"@daily",)"
                               R"("source":"@daily name=x command=true env=A=hunter2",)"));
  is_reader_ = true;
  EXPECT_THAT(job(), HasSubstr(R"("source":"@daily name=x command=true env=A=…",)"));
  EXPECT_THAT(job(), ::testing::Not(HasSubstr("hunter2")));
  load_line("@daily name=x command=true ping=https://hc.example/hunter2");
  EXPECT_THAT(job(), HasSubstr(R"("source":"@daily name=x command=true ping=…",)"));
  EXPECT_THAT(job(), ::testing::Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace kron::api
