#include "kron/daemon/cluster_member.h"

#include <gtest/gtest.h>
#include <mutex>
#include <poll.h>

#include "kron/cluster/cluster_clock.h"
#include "kron/cluster/events.h"
#include "kron/cluster/link_thread.h"
#include "kron/env/fake/fake_redis.h"
#include "kron/env/fake/silent_log.h"
#include "kron/env/mailbox.h"

// A member of a cluster on a Redis in memory: real threads, and a loop that the test turns.
namespace kron::daemon {
namespace {

constexpr char kJob[] = R"({"cron_args":{"cronstring":"@never"},"job_args":{"cmd":"true","lock":true,"ttl":10}})";

class ClusterMemberTest : public ::testing::Test {
 protected:
  ClusterMemberTest() {
    EXPECT_TRUE(redis_.execute({"HSET", keys_.jobs(), "a", kJob}).is_reply());
    rules_.options.host = "h1";
    rules_.options.job_shell = "/bin/sh";
    rules_.options.name_space = "{c}";
    rules_.owner = std::string(32, 'a');
    rules_.version = "1";
    rules_.local_zone = "UTC";
  }

  ~ClusterMemberTest() override {
    if (link_) link_->stop(Nanoseconds(0));
    member_.reset();
  }

  void start() {
    link_ = std::make_unique<cluster::LinkThread>(redis_.connection(), keys_, machine_, log_);
    auto member = ClusterMember::create(world(), rules_);
    ASSERT_TRUE(member) << member.error().message;
    member_ = *std::move(member);
    link_->listen({.on_up = [this] { mailbox_.post([this] { member_->link_is_up(); }); },
                   .on_time = [this](const cluster::TimeSample& sample) { clock_.note(sample); }});
    ASSERT_TRUE(link_->start());
  }

  ClusterMember::World world() {
    return {.link = *link_,
            .keys = keys_,
            .clock = clock_,
            .log = log_,
            .terms = terms_,
            .to_loop = [this](std::function<void()> work) { mailbox_.post(std::move(work)); },
            .new_subscription = [this] { return redis_.subscription(true); },
            .why_down = [this] { return link_->why_down(); },
            .why_forbidden = [this] { return link_->why_forbidden(); },
            .explained = [](std::string_view error) { return std::string(error); },
            .local_address = [] { return "10.0.0.1"; },
            .runs = [] { return 0; },
            .clock_offset = [] { return 0.0; },
            .on_name = [this](const std::string& name) { names_.push_back(name); },
            .put =
                [this](const std::vector<jobs::JobDefinition>& some, Instant) {
                  put_ += some.size();
                  return Status();
                },
            .drop = [](std::span<const std::string>) { return Status(); },
            .loaded =
                [this] {
                  told_.push_back("jobs " + std::to_string(put_));
                  applied_.push_back(std::exchange(put_, 0));
                  return Status();
                },
            .trigger =
                [this](std::string_view job, std::string_view id, const cluster::Sender&, const auto& done) {
                  told_.push_back("trigger " + std::string(job) + " " + std::string(id));
                  done(Status());
                },
            .terminate =
                [this](std::string_view run, const cluster::Sender&) {
                  told_.push_back("terminate " + std::string(run));
                  return Status();
                },
            .kill = [](std::string_view, const cluster::Sender&) { return Status(); },
            .look_again = [this] { ++looks_; },
            .wake_tasks =
                [this](std::string type) {
                  const std::scoped_lock lock(mutex_);
                  wakes_.push_back(std::move(type));
                }};
  }

  // Turns the loop until it is so; false after ten seconds.
  bool comes(const std::function<bool()>& is_so) {
    const Nanoseconds end = machine_.monotonic() + Seconds(10);
    while (!is_so()) {
      if (machine_.monotonic() > end) return false;
      member_->tick();
      pollfd polled{.fd = mailbox_.descriptor(), .events = POLLIN, .revents = 0};
      ::poll(&polled, 1, 20);
      mailbox_.work_off(Seconds(1));
    }
    return true;
  }

  void publish(const cluster::Event& event) {
    EXPECT_TRUE(redis_.execute({"PUBLISH", keys_.events(), cluster::text_of(event)}).is_reply());
  }

  RealClock machine_;
  testing::FakeRedis redis_{[this] { return machine_.wall(); }};
  cluster::Keys keys_{"{c}"};
  testing::SilentLog log_;
  Mailbox mailbox_;
  cluster::ClusterClock clock_{machine_};
  cluster::JobTermsTable terms_;
  ClusterMember::Rules rules_;
  std::vector<std::string> names_;
  std::size_t put_ = 0;
  std::vector<std::size_t> applied_;
  std::vector<std::string> told_;
  int looks_ = 0;
  std::mutex mutex_;
  std::vector<std::string> wakes_;  // guarded
  std::unique_ptr<cluster::LinkThread> link_;
  std::unique_ptr<ClusterMember> member_;
};

TEST_F(ClusterMemberTest, JoinsReadsTheJobsAndIsReady) {
  start();
  EXPECT_FALSE(member_->is_ready());
  ASSERT_TRUE(comes([this] { return member_->is_ready(); })) << member_->why_not_ready();
  EXPECT_EQ(names_, std::vector<std::string>{"h1"});
  EXPECT_EQ(applied_, std::vector<std::size_t>{1});
  EXPECT_EQ(looks_, 1);
  api::ClusterStatus status;
  member_->fill(status);
  EXPECT_EQ(status.instance, "h1");
  EXPECT_EQ(status.timezone, "UTC");
}

TEST_F(ClusterMemberTest, WhoWaitsForTasksIsWokenByWhatOthersSubmit) {
  start();
  ASSERT_TRUE(comes([this] { return member_->is_ready(); })) << member_->why_not_ready();
  EXPECT_TRUE(redis_.execute({"PUBLISH", keys_.wake(), "MAIL"}).is_reply());
  ASSERT_TRUE(comes([this] {
    const std::scoped_lock lock(mutex_);
    return wakes_.size() == 2;
  }));
  EXPECT_EQ(wakes_, (std::vector<std::string>{"", "MAIL"})) << "once when it has subscribed, and then by type";
  EXPECT_EQ(told_, std::vector<std::string>{"jobs 1"}) << "it is no event";
}

TEST_F(ClusterMemberTest, WhileRedisIsAwayItSaysSoAndGoesOnByItself) {
  redis_.refuse_connections(Error{Code::unreachable, "nobody there"});
  start();
  ASSERT_TRUE(comes([this] { return member_->why_not_ready().find("nobody there") != std::string::npos; }));
  EXPECT_TRUE(applied_.empty());
  redis_.refuse_connections(std::nullopt);
  EXPECT_TRUE(comes([this] { return member_->is_ready(); })) << member_->why_not_ready();
}

TEST_F(ClusterMemberTest, AHostOfAnotherZoneRefusesToStart) {
  EXPECT_TRUE(redis_.execute({"HSET", keys_.cluster(), "timezone", "Europe/Paris", "format", "1"}).is_reply());
  rules_.options.default_timezone = "UTC";
  start();
  ASSERT_TRUE(comes([this] { return member_->refused().has_value(); }));
  EXPECT_EQ(member_->refused()->code, Code::refused);
  EXPECT_NE(member_->refused()->message.find("Europe/Paris"), std::string::npos);
  EXPECT_TRUE(names_.empty());
}

TEST_F(ClusterMemberTest, ARedisThatIsTooOldIsNotUsed) {
  redis_.set_info("redis_version", "5.0.1");
  start();
  EXPECT_TRUE(comes([this] { return member_->why_not_ready().find("5.0.1") != std::string::npos; }));
  EXPECT_TRUE(names_.empty());
}

TEST_F(ClusterMemberTest, WhatMayCostRecordsIsInTheStatus) {
  redis_.set_info("aof_enabled", "0");
  start();
  ASSERT_TRUE(comes([this] { return member_->is_ready(); }));
  api::ClusterStatus status;
  member_->fill(status);
  const auto is_about_it = [](const auto& warning) { return warning.message.find("appendonly") != std::string::npos; };
  EXPECT_TRUE(std::ranges::any_of(status.warnings, is_about_it));
}

TEST_F(ClusterMemberTest, EventsReachTheScheduler) {
  start();
  ASSERT_TRUE(comes([this] { return member_->is_ready(); }));
  told_.clear();
  publish(cluster::events::Trigger{.job = "a", .id = "x"});
  publish(cluster::events::TerminateRun{"r1"});
  ASSERT_TRUE(comes([this] { return told_.size() == 2; }));
  EXPECT_EQ(told_[0], "trigger a x");
  EXPECT_EQ(told_[1], "terminate r1");
}

TEST_F(ClusterMemberTest, AReloadEventReadsTheListAgain) {
  start();
  ASSERT_TRUE(comes([this] { return member_->is_ready(); }));
  EXPECT_TRUE(redis_.execute({"HSET", keys_.jobs(), "b", kJob}).is_reply());
  publish(cluster::events::Reload{});
  EXPECT_TRUE(comes([this] { return applied_.size() == 2; }));
  EXPECT_EQ(applied_.back(), 2U);
}

TEST_F(ClusterMemberTest, WhatFollowsAReloadMeansTheJobsThatItReads) {
  start();
  ASSERT_TRUE(comes([this] { return member_->is_ready(); }));
  told_.clear();
  EXPECT_TRUE(redis_.execute({"HSET", keys_.jobs(), "b", kJob}).is_reply());
  publish(cluster::events::Reload{});
  publish(cluster::events::Trigger{.job = "b", .id = "x"});
  publish(cluster::events::Reload{});
  publish(cluster::events::TerminateRun{"r1"});
  ASSERT_TRUE(comes([this] { return told_.size() == 4; }));
  EXPECT_EQ(told_, (std::vector<std::string>{"jobs 2", "trigger b x", "jobs 2", "terminate r1"}));
}

TEST_F(ClusterMemberTest, AfterTheConnectionWasLostTheJobsAreReadAgain) {
  start();
  ASSERT_TRUE(comes([this] { return member_->is_ready(); }));
  EXPECT_TRUE(redis_.execute({"HSET", keys_.jobs(), "b", kJob}).is_reply());
  redis_.restart();
  EXPECT_TRUE(comes([this] { return applied_.back() == 2U && member_->is_ready(); }));
  EXPECT_GE(looks_, 2);
}

TEST_F(ClusterMemberTest, TheZoneOfTheClusterMayChange) {
  start();
  ASSERT_TRUE(comes([this] { return member_->is_ready(); }));
  EXPECT_TRUE(redis_.execute({"HSET", keys_.cluster(), "timezone", "Europe/Paris"}).is_reply());
  publish(cluster::events::Reload{});
  EXPECT_TRUE(comes([this] {
    api::ClusterStatus status;
    member_->fill(status);
    return status.timezone == "Europe/Paris" && member_->is_ready();
  }));
}

}  // namespace
}  // namespace kron::daemon
