#include "kron/api/forecasts.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <thread>

#include "kron/api/fake/api_rig.h"

namespace kron::api::forecasts_test {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::seconds kPatience{20};

class ForecastsTest : public ApiRig {
 protected:
  ~ForecastsTest() override { release(); }

  // Nothing more is computed until release().
  void block() {
    ahead_->run([this, waits = gate_.get_future().share()] {
      is_blocked_.set_value();
      waits.wait();
    });
    is_blocked_.get_future().wait();
    is_released_ = false;
  }
  void release() {
    if (!is_released_) gate_.set_value();
    is_released_ = true;
  }

  std::unique_ptr<http::Client> begun(const std::string& target) {
    auto client = std::make_unique<http::Client>(socket());
    EXPECT_TRUE(client->begin("GET", target));
    return client;
  }
  static http::Response answer_of(http::Client& client) {
    for (;;) {
      pollfd readable{.fd = client.descriptor(), .events = POLLIN, .revents = 0};
      if (::poll(&readable, 1, std::chrono::milliseconds(kPatience).count()) <= 0) break;
      if (auto answer = client.poll()) return *std::move(*answer);
    }
    ADD_FAILURE() << "no answer";
    return {};
  }
  template <class Is>
  static bool soon(Is is) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!is()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

 private:
  std::promise<void> gate_;
  std::promise<void> is_blocked_;
  bool is_released_ = true;
};

TEST_F(ForecastsTest, QuickAnswersDoNotWaitForALookAhead) {
  block();
  const auto waits = begun("/api/v1/load");
  EXPECT_EQ(ask("GET", "/api/v1/jobs/c/decisions").status, 200);
  release();
  EXPECT_EQ(answer_of(*waits).status, 200);
}

TEST_F(ForecastsTest, TheSameQuestionIsComputedOnceForAllWhoAskMeanwhile) {
  block();
  const auto first = begun("/api/v1/load?for=1d");
  ASSERT_TRUE(soon([this] { return looks_ahead_ == 1; }));
  const int items = loop_->items();
  const auto second = begun("/api/v1/load?for=24h");
  ASSERT_TRUE(soon([&] { return loop_->items() > items; }));
  release();
  EXPECT_EQ(answer_of(*first).status, 200);
  EXPECT_EQ(answer_of(*second).status, 200);
  EXPECT_EQ(looks_ahead_, 1);
}

TEST_F(ForecastsTest, AnAnswerIsKeptForTheMinuteTheJobsAndTheRight) {
  const std::string target = "/api/v1/load?from=2026-03-01T00:00:00Z&for=1d&step=1h";
  const std::string told = ask("GET", target).body;
  EXPECT_EQ(ask("GET", target).body, told);
  EXPECT_EQ(looks_ahead_, 1);
  is_reader_ = true;
  EXPECT_EQ(ask("GET", target).body, told);
  EXPECT_EQ(looks_ahead_, 2);
  is_reader_ = false;
  do_on_loop([this] { host_.clock.advance(Seconds(60)); });
  EXPECT_EQ(ask("GET", target).body, told);
  EXPECT_EQ(looks_ahead_, 3);
  do_on_loop([this] { EXPECT_TRUE(host_.scheduler->put(noon_job("another"))); });
  EXPECT_NE(ask("GET", target).body, told);
  EXPECT_EQ(looks_ahead_, 4);
  EXPECT_EQ(ask("GET", "/api/v1/load?from=2026-03-01T00:00:00Z&for=1d&step=2h").status, 200);
  EXPECT_EQ(looks_ahead_, 5);
}

TEST_F(ForecastsTest, NobodyComputesForThoseWhoHaveHungUp) {
  block();
  auto first = begun("/api/v1/load");
  ASSERT_TRUE(soon([this] { return looks_ahead_ == 1; }));
  first.reset();
  ASSERT_TRUE(soon([this] { return api_->forecasts().under_way() == 0; }));
  const auto second = begun("/api/v1/load");
  ASSERT_TRUE(soon([this] { return looks_ahead_ == 2; }));
  release();
  EXPECT_EQ(answer_of(*second).status, 200);
  // Only the second has left an answer.
  const std::size_t bytes = api_->forecasts().bytes_kept();
  EXPECT_GT(bytes, 0U);
  EXPECT_LT(bytes, ask("GET", "/api/v1/load").body.size());
  EXPECT_EQ(looks_ahead_, 2);
}

TEST_F(ForecastsTest, WhoLeavesTakesNothingFromThoseWhoStay) {
  block();
  auto first = begun("/api/v1/load");
  ASSERT_TRUE(soon([this] { return looks_ahead_ == 1; }));
  const int items = loop_->items();
  const auto second = begun("/api/v1/load");
  ASSERT_TRUE(soon([&] { return loop_->items() > items; }));
  first.reset();
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  release();
  EXPECT_EQ(answer_of(*second).status, 200);
  EXPECT_EQ(looks_ahead_, 1);
}

TEST_F(ForecastsTest, OnlySoManyQuestionsWait) {
  block();
  std::vector<std::unique_ptr<http::Client>> waiting;
  for (std::size_t i = 1; i <= Forecasts::kMostUnderWay; ++i) {
    waiting.push_back(begun("/api/v1/load?for=" + std::to_string(i) + "h"));
  }
  ASSERT_TRUE(soon([this] { return api_->forecasts().under_way() == Forecasts::kMostUnderWay; }));
  const auto refused = ask("GET", "/api/v1/load?for=100h");
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("ask again in a moment"));
  release();
  for (const auto& client : waiting) EXPECT_EQ(answer_of(*client).status, 200);
}

TEST_F(ForecastsTest, BeyondTheBudgetTheCureIsTold) {
  do_on_loop([this] {
    jobs::JobDefinition busy = noon_job("busy");
    busy.job = testing::make_job({.schedule = "* * * * * *", .identity = "busy"});
    EXPECT_TRUE(host_.scheduler->put(std::move(busy)));
  });
  // 23 days and some hours of seconds, of which the busiest hours are looked at twice.
  EXPECT_EQ(ask("GET", "/api/v1/load?for=22d&step=1h").status, 200);
  const auto refused = ask("GET", "/api/v1/load?for=24d&step=1h");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("more than 2000000 periods"));
  EXPECT_THAT(refused.body, HasSubstr("kron simulate"));
}

TEST_F(ForecastsTest, WhatIsKeptIsBounded) {
  // Two numbers of a second each, which is two bytes: the first is too large to be kept.
  EXPECT_EQ(ask("GET", "/api/v1/load?step=1s&for=600000s").status, 200);
  EXPECT_EQ(api_->forecasts().bytes_kept(), 0U);
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(ask("GET", "/api/v1/load?step=1s&for=" + std::to_string(450'000 + i) + "s").status, 200);
    EXPECT_LE(api_->forecasts().bytes_kept(), Forecasts::kMostBytesKept);
  }
  EXPECT_GT(api_->forecasts().bytes_kept(), Forecasts::kMostBytesKept / 2);
}

}  // namespace
}  // namespace kron::api::forecasts_test
