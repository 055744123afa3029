#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"

namespace kron::api::explain_paths_test {
namespace {

using ::testing::HasSubstr;

class ExplainPathsTest : public ApiRig {
 protected:
  http::Response explained(const std::string& name, const std::string& query) {
    return ask("GET", "/api/v1/jobs/" + name + "/explain" + query);
  }
};

TEST_F(ExplainPathsTest, ThePeriodIsTheOneThatIsNamedOrTheOneOfATimeOrTheNext) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "2026-03-01T12:00:00Z"},
      {"?period=2026-05-01T12:00:00Z", "2026-05-01T12:00:00Z"},
      {"?at=2026-05-01T18:00:00Z", "2026-05-01T12:00:00Z"},
  };
  for (const auto& [query, period] : cases) {
    const auto answer = explained("a%2Fb", query);
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, HasSubstr(std::string(R"("periodId":")") + period + '"')) << query;
  }
}

TEST_F(ExplainPathsTest, HasTheShapeOfTheWindowAndTheStory) {
  const std::string body = explained("c", "").body;
  for (const char* member : {R"("buckets":[{"share":)", R"("allowedSpans":[)", R"("text":")", R"("atNow":{"now":)"}) {
    EXPECT_THAT(body, HasSubstr(member));
  }
}

TEST_F(ExplainPathsTest, KnowsWhatKrondWasStartedWith) {
  EXPECT_THAT(explained("c", "").body, ::testing::Not(HasSubstr("maxRunning")));
  do_on_loop([&] {
    status_.catch_up_spread = std::chrono::minutes(10);
    status_.max_running = 4;
  });
  EXPECT_THAT(explained("c", "").body, HasSubstr(R"("maxRunning":4,"catchUpSpreadSeconds":600)"));
  EXPECT_THAT(explained("c", "").body, HasSubstr("(krond --catch-up-spread)"));
  EXPECT_THAT(ask("GET", "/api/v1/status").body, HasSubstr(R"("maxRunning":4,"catchUpSpreadSeconds":600)"));
}

TEST_F(ExplainPathsTest, WhatThereIsNotIsRefused) {
  const std::tuple<const char*, const char*, int, const char*> cases[] = {
      {"nobody", "", 404, "no job named"},
      {"c", "?period=2026-05-01T12:00:01Z", 404, "the one before is 2026-05-01T12:00:00Z"},
      {"c", "?period=2026-05-01T12:00:00Z&at=2026-05-01T12:00:00Z", 400, "not both"},
      {"c", "?at=noon", 400, "the parameter at"},
      {"c", "?when=now", 400, "when"},
  };
  for (const auto& [name, query, status, text] : cases) {
    const auto answer = explained(name, query);
    EXPECT_EQ(answer.status, status) << name << query;
    EXPECT_THAT(answer.body, HasSubstr(text));
  }
}

}  // namespace
}  // namespace kron::api::explain_paths_test
