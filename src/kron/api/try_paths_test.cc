#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"

namespace kron::api::try_paths_test {
namespace {

using ::testing::HasSubstr;

class TryPathsTest : public ApiRig {
 protected:
  http::Response tried(std::string body) { return ask("POST", "/api/v1/try", std::move(body)); }
};

TEST_F(TryPathsTest, AReaderMayTryAndNothingIsSaved) {
  is_reader_ = true;
  const auto answer = tried(R"({"text":"0 12 * * * name=new command=true\n"})");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("identity":"new")"));
  EXPECT_THAT(answer.body, HasSubstr(R"("peakHere":3,"peak":4,"adds":1)"));
  EXPECT_EQ(ask("GET", "/api/v1/jobs/new").status, 404);
}

TEST_F(TryPathsTest, YamlIsTriedWhenItIsSaidToBe) {
  const std::string yaml = R"({"source":"yaml","text":"jobs: [{name: y, schedule: '0 3 * * *', command: 'true'}]"})";
  EXPECT_THAT(tried(yaml).body, HasSubstr(R"("identity":"y")"));
}

TEST_F(TryPathsTest, TheSameTextIsComputedOnce) {
  const std::string body = R"({"text":"0 12 * * * name=new command=true\n"})";
  const std::string told = tried(body).body;
  EXPECT_EQ(tried(body).body, told);
  EXPECT_EQ(looks_ahead_, 1);
  EXPECT_NE(tried(R"({"text":"0 13 * * * name=new command=true\n"})").body, told);
  EXPECT_EQ(looks_ahead_, 2);
}

TEST_F(TryPathsTest, IsAnsweredAlsoToThoseWhoHaveAnAnswer) {
  const auto answer =
      ask("POST", "/api/v1/try", R"({"text":"0 12 * * * name=new command=true\n"})", {{"If-None-Match", "*"}});
  EXPECT_EQ(answer.status, 200) << "304 is for what is read";
  EXPECT_EQ(answer.header("etag"), std::nullopt);
}

TEST_F(TryPathsTest, HasItsLimits) {
  const std::string line(64 << 10, '#');
  const std::pair<std::string, int> cases[] = {
      {R"({"text":"\n"})", 200},
      {R"({"text":")" + line + R"("})", 200},
      {R"({"text":")" + line + R"(#"})", 400},
      {R"({})", 400},
      {"", 400},
      {R"({"text":1})", 400},
      {R"({"text":"","path":"/etc/passwd"})", 400},
      {R"({"text":"","source":"cron"})", 400},
      {R"({"text":")" + line + line + line + R"("})", 413},
  };
  for (const auto& [body, status] : cases) EXPECT_EQ(tried(body).status, status) << body.substr(0, 60);
}

}  // namespace
}  // namespace kron::api::try_paths_test
