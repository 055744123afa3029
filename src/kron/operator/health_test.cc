#include "kron/operator/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/silent_log.h"
#include "kron/operator/fake/samples.h"

namespace kron::kronjobs {
namespace {

using ::testing::HasSubstr;

class HealthTest : public ::testing::Test {
 protected:
  HealthTest() { clock.advance(Seconds(100)); }

  [[nodiscard]] int status(std::string path, std::string method = "GET") const {
    return health.answer({.method = std::move(method), .segments = {std::move(path)}}).status;
  }

  testing::FakeClock clock{testing::kNoon};
  metrics::OperatorMetrics metrics{"1.2.3", testing::kNoon};
  Health health{clock, metrics};
};

TEST_F(HealthTest, IsAliveBeforeItIsReady) {
  EXPECT_EQ(status("healthz"), 200);
  EXPECT_EQ(status("readyz"), 503);
  health.turned(true);
  EXPECT_EQ(status("readyz"), 200);
  health.turned(false);
  EXPECT_EQ(status("readyz"), 503);
  EXPECT_EQ(status("healthz"), 200);
}

TEST_F(HealthTest, IsNotAliveWhenTheLoopHangs) {
  health.turned(true);
  clock.advance(Seconds(30));
  EXPECT_EQ(status("healthz"), 200);
  clock.advance(Nanoseconds(1));
  EXPECT_EQ(status("healthz"), 503);
  EXPECT_EQ(status("readyz"), 503);
  health.turned(true);
  EXPECT_EQ(status("healthz"), 200);
}

TEST_F(HealthTest, ShowsTheMetricsAndNothingElse) {
  const http::Response shown = health.answer({.method = "GET", .segments = {"metrics"}});
  EXPECT_EQ(shown.status, 200);
  EXPECT_THAT(shown.body, HasSubstr("kron_build_info{version=\"1.2.3\"} 1\n"));
  EXPECT_EQ(status("other"), 404);
  EXPECT_EQ(health.answer({.method = "GET", .segments = {"metrics", "x"}}).status, 404);
  EXPECT_EQ(status("healthz", "POST"), 405);
}

TEST_F(HealthTest, ListensOnAPort) {
  testing::SilentLog log;
  ASSERT_TRUE(health.listen("127.0.0.1:0", log));
  EXPECT_NE(health.port(), 0);
  Health other(clock, metrics);
  EXPECT_FALSE(other.listen("127.0.0.1:" + std::to_string(health.port()), log));
  EXPECT_FALSE(other.listen("localhost", log));
}

}  // namespace
}  // namespace kron::kronjobs
