#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"

namespace kron::api {
namespace {

using ::testing::HasSubstr;

class DayPathsTest : public ApiRig {
 protected:
  void add_run(const std::string& job, Instant at, int exit_code) {
    history_->add({.job = job,
                   .outcome = Outcome::executed,
                   .run_id = job + std::to_string(epoch_seconds(at)),
                   .started_at = at,
                   .ended_at = at + Seconds(90),
                   .exit_code = exit_code});
  }
  std::string days(const std::string& query = "", const std::string& job = "a%2Fb") {
    return ask("GET", "/api/v1/jobs/" + job + "/days" + query).body;
  }
};

TEST_F(DayPathsTest, EachDayWithAnythingIsTold) {
  add_run("a/b", testing::utc("2026-02-27T23:59:59Z"), 0);
  add_run("a/b", testing::utc("2026-02-28T10:00:00Z"), 0);
  add_run("a/b", testing::utc("2026-02-28T11:00:00Z"), 1);
  const std::string first = R"({"day":"2026-02-27","counts":{"+":1},"runs":1,"sumSeconds":90,"maxSeconds":90})";
  const std::string second = R"({"day":"2026-02-28","counts":{"+":1,"x":1},"runs":2,"sumSeconds":180,"maxSeconds":90})";
  EXPECT_EQ(days(), R"({"job":"a/b","days":[)" + first + "," + second + "]}");
  EXPECT_EQ(days("?from=2026-02-28"), R"({"job":"a/b","days":[)" + second + "]}");
  EXPECT_EQ(days("?from=2026-02-27&to=2026-02-28"), R"({"job":"a/b","days":[)" + first + "]}")
      << "to is not among them";
  EXPECT_EQ(days("", "c"), R"({"job":"c","days":[]})");
}

TEST_F(DayPathsTest, AJobThatIsGoneIsToldOfAsLongAsItsDaysAre) {
  add_run("gone", testing::utc("2026-02-28T10:00:00Z"), 0);
  EXPECT_THAT(days("", "gone"), HasSubstr("2026-02-28"));
  EXPECT_EQ(ask("GET", "/api/v1/jobs/never/days").status, 404);
}

TEST_F(DayPathsTest, WrongDaysAreRefused) {
  EXPECT_EQ(ask("GET", "/api/v1/jobs/c/days?from=2025-01-26&to=2026-03-02").status, 200) << "400 days";
  for (const char* wrong : {"?from=2025-01-25&to=2026-03-02", "?from=yesterday", "?to=2026-3-1", "?from=2026-02-30",
                            "?from=2026-02-02&to=2026-02-01"}) {
    EXPECT_EQ(ask("GET", std::string("/api/v1/jobs/c/days") + wrong).status, 400) << wrong;
  }
}

}  // namespace
}  // namespace kron::api
