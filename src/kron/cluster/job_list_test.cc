#include "kron/cluster/job_list.h"

#include <chrono>
#include <ctime>
#include <gtest/gtest.h>

#include "kron/cluster/definition_edit.h"
#include "kron/cluster/events.h"
#include "kron/cluster/redis_rig.h"
#include "kron/testing/scale.h"

namespace kron::cluster {
namespace {

ZoneDatabase& list_zones() {
  static ZoneDatabase database;
  return database;
}

std::string job_text(std::string_view command = "x", std::string_view more = "") {
  return R"({"cron_args":{"hour":"1"}, "job_args":{"cmd":")" + std::string(command) + R"(","lock":true,"ttl":5.0})" +
         std::string(more) + "}";
}

// A host: its list, and what its scheduler was told.
struct ListHost {
  explicit ListHost(testing::RedisRig& rig)
      : link(rig.link_of_its_own()),
        list({.link = *link,
              .keys = rig.keys,
              .clock = rig.clock,
              .log = rig.log,
              .terms = terms,
              .aside = rig.aside(),
              .prefetch =
                  [this](std::span<const std::string> names, const JobTermsTable::Map&) {
                    fetched.assign(names.begin(), names.end());
                    return can_fetch;
                  },
              .put =
                  [this](std::vector<jobs::JobDefinition> definitions, Instant) {
                    if (!answer) return answer;
                    slices.push_back(definitions.size());
                    if (on_slice) on_slice();
                    for (jobs::JobDefinition& job : definitions) put(std::move(job));
                    return answer;
                  },
              .drop =
                  [this](std::span<const std::string> names) {
                    for (const std::string& name : names) jobs.erase(name);
                    return Status();
                  },
              .loaded = [this] { return ++applied, Status(); }},
             {.zones = list_zones(), .name_space = "{t}"}) {}

  void put(jobs::JobDefinition job) {
    const std::string name = job.job.identity;
    jobs.insert_or_assign(name, std::move(job));
  }
  [[nodiscard]] bool is_suspended(const std::string& name) const { return jobs.at(name).job.policy.suspend; }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, job] : jobs) names.push_back(name);
    return names;
  }

  std::unique_ptr<testing::DirectLink> link;
  JobTermsTable terms;
  Status answer;
  int applied = 0;
  std::vector<std::size_t> slices;
  std::function<void()> on_slice;
  std::vector<std::string> fetched;
  Status can_fetch;
  std::map<std::string, jobs::JobDefinition> jobs;
  JobList list;
};

using Names = std::vector<std::string>;
using Cause = JobList::Cause;

struct JobListTest : ::testing::Test {
  void define(const std::string& name, const std::string& text) { rig.ask({"HSET", rig.keys.jobs(), name, text}); }
  std::string stored(const std::string& name) { return rig.text({"HGET", rig.keys.jobs(), name}); }
  Names paused() { return rig.texts({"SMEMBERS", rig.keys.paused()}); }

  testing::RedisRig rig;
};

TEST_F(JobListTest, LoadsWhatIsThereAndItsTerms) {
  define("a", job_text());
  define("b", job_text("y"));
  ListHost host(rig);
  EXPECT_FALSE(host.list.is_loaded());
  Status done = fail(Code::internal, "not called");
  host.list.reload(Cause::boot, [&](const Status& status) { done = status; });
  EXPECT_TRUE(done);
  EXPECT_TRUE(host.list.is_loaded());
  EXPECT_EQ(host.names(), (Names{"a", "b"}));
  EXPECT_EQ(host.terms.find("a").value(), (JobTerms{true, "a", Seconds(5), Seconds(1), instant_of(1'800'000'000)}));
  EXPECT_EQ(*host.list.text("b"), job_text("y"));
  EXPECT_EQ(host.list.text("c"), nullptr);
}

TEST_F(JobListTest, OneBadDefinitionDisablesOnlyItselfAndItsErrorsAreNotedOnce) {
  define("bad", R"({"x":1.50})");
  define("junk", "{");
  define("good", job_text());
  ListHost first(rig);
  ListHost second(rig);
  first.list.reload(Cause::boot);
  const std::string noted = stored("bad");
  second.list.reload(Cause::boot);
  EXPECT_EQ(first.names(), Names{"good"});
  EXPECT_TRUE(noted.starts_with(R"({"x":1.50,"job_state":{"validation_errors":")")) << noted;
  EXPECT_EQ(stored("bad"), noted);
  EXPECT_EQ(stored("junk"), "{");
  EXPECT_EQ(first.list.refused().size(), 2U);
  EXPECT_EQ(rig.log.lines_of("cluster_job_refused").size(), 4U);  // two of each host
  first.list.reload(Cause::subscribed);
  EXPECT_EQ(rig.log.lines_of("cluster_job_refused").size(), 4U);
}

TEST_F(JobListTest, TheDefinitionWinsOverTheSetAtLoad) {
  define("a", job_text("x", R"(,"job_state":{"paused":true})"));
  define("b", job_text());
  rig.ask({"SADD", rig.keys.paused(), "b", "gone"});
  ListHost host(rig);
  host.list.reload(Cause::boot);
  EXPECT_TRUE(host.is_suspended("a"));
  EXPECT_FALSE(host.is_suspended("b"));
  EXPECT_EQ(paused(), (Names{"a", "gone"}));
}

TEST_F(JobListTest, ThePauseOfAJobSurvivesInSetAndTextByteForByte) {
  const std::string before = job_text("x", R"(, "unknown" : [1e3, 2.50])");
  define("a", before);
  ListHost first(rig);
  ListHost second(rig);
  for (ListHost* host : {&first, &second}) host->list.reload(Cause::boot);
  for (ListHost* host : {&first, &second}) host->list.set_paused("a", jobs::ClusterPause{});
  const std::string after = job_text("x", R"(, "unknown" : [1e3, 2.50],"job_state":{"paused":true})");
  EXPECT_EQ(stored("a"), after);
  EXPECT_EQ(paused(), Names{"a"});
  for (ListHost* host : {&first, &second}) {
    EXPECT_TRUE(host->is_suspended("a"));
    EXPECT_EQ(*host->list.text("a"), after);
    host->list.reload(Cause::subscribed);
    EXPECT_TRUE(host->is_suspended("a"));
  }
  for (ListHost* host : {&first, &second}) host->list.set_paused("a", std::nullopt);
  EXPECT_EQ(stored("a"), job_text("x", R"(, "unknown" : [1e3, 2.50],"job_state":{"paused":false})"));
  EXPECT_TRUE(paused().empty());
  EXPECT_FALSE(second.is_suspended("a"));
}

TEST_F(JobListTest, APauseFollowsATextThatSomebodyChanged) {
  define("a", job_text());
  ListHost host(rig);
  host.list.reload(Cause::boot);
  define("a", job_text("other"));
  host.list.set_paused("a", jobs::ClusterPause{});
  EXPECT_EQ(stored("a"), job_text("other", R"(,"job_state":{"paused":true})"));
  EXPECT_EQ(paused(), Names{"a"});
}

TEST_F(JobListTest, WhatIsNoJsonIsPausedInTheSetOnly) {
  define("junk", "{");
  ListHost host(rig);
  host.list.reload(Cause::boot);
  host.list.set_paused("junk", jobs::ClusterPause{});
  host.list.set_paused("nobody", jobs::ClusterPause{});
  EXPECT_EQ(stored("junk"), "{");
  EXPECT_EQ(paused(), Names{"junk"});
}

TEST_F(JobListTest, AllAreTheJobsThatAreLoadedNow) {
  for (int i = 0; i < 250; ++i) define("j" + std::to_string(i), job_text());
  ListHost host(rig);
  host.list.reload(Cause::boot);
  define("later", job_text());
  host.list.set_paused(std::string(events::kAllJobs), jobs::ClusterPause{});
  EXPECT_EQ(paused().size(), 250U);
  EXPECT_EQ(stored("later"), job_text());
  EXPECT_EQ(stored("j7"), job_text("x", R"(,"job_state":{"paused":true})"));
  EXPECT_TRUE(host.is_suspended("j249"));
  host.list.set_paused(std::string(events::kAllJobs), std::nullopt);
  EXPECT_TRUE(paused().empty());
  EXPECT_FALSE(host.is_suspended("j0"));
}

TEST_F(JobListTest, AddAndRemoveLastUntilTheNextReading) {
  define("a", job_text());
  ListHost host(rig);
  host.list.reload(Cause::boot);
  host.list.add("new", job_text());
  host.list.add("bad", "{}");
  host.list.add("a", "junk");
  EXPECT_EQ(host.names(), (Names{"a", "new"}));
  EXPECT_TRUE(host.terms.contains("new"));
  EXPECT_EQ(rig.ask({"HLEN", rig.keys.jobs()}).integer, 1);
  host.list.remove("a");
  host.list.remove("nobody");
  EXPECT_EQ(host.names(), Names{"new"});
  EXPECT_FALSE(host.terms.contains("a"));
  host.list.reload(Cause::requested);
  EXPECT_EQ(host.names(), Names{"a"});
}

TEST_F(JobListTest, AnEmptyListIsTakenOnlyWhenSomebodyAsksForIt) {
  define("a", job_text());
  ListHost host(rig);
  host.list.reload(Cause::boot);
  rig.ask({"DEL", rig.keys.jobs()});
  host.list.reload(Cause::subscribed);
  EXPECT_EQ(host.names(), Names{"a"});
  EXPECT_EQ(rig.log.lines_of("cluster_jobs_vanished").size(), 1U);
  host.list.reload(Cause::requested);
  EXPECT_TRUE(host.names().empty());
  ListHost fresh(rig);
  fresh.list.reload(Cause::boot);
  EXPECT_TRUE(fresh.list.is_loaded());
}

TEST_F(JobListTest, WhatHappensDuringAReadingIsDoneAfterIt) {
  define("a", job_text());
  ListHost host(rig);
  host.list.reload(Cause::boot);
  rig.is_held = true;
  int done = 0;
  host.list.reload(Cause::subscribed, [&](const Status&) { ++done; });
  host.list.set_paused("a", jobs::ClusterPause{});
  host.list.add("new", job_text());
  EXPECT_FALSE(host.is_suspended("a"));
  rig.do_aside();
  EXPECT_EQ(done, 1);
  EXPECT_TRUE(host.is_suspended("a"));
  EXPECT_EQ(host.names(), (Names{"a", "new"}));
  // Those who ask meanwhile share the next one.
  host.list.reload(Cause::subscribed, [&](const Status&) { ++done; });
  host.list.reload(Cause::subscribed, [&](const Status&) { ++done; });
  host.list.reload(Cause::requested, [&](const Status&) { ++done; });
  const int before = host.applied;
  rig.do_aside();
  EXPECT_EQ(done, 4);
  EXPECT_EQ(host.applied, before + 2);
}

TEST_F(JobListTest, AListThatCannotBeReadIsReadAgain) {
  define("a", job_text());
  ListHost host(rig);
  rig.redis.refuse_connections(Error{Code::unreachable, "nobody there"});
  Status done;
  host.list.reload(Cause::boot, [&](const Status& status) { done = status; });
  EXPECT_FALSE(done);
  EXPECT_FALSE(host.list.is_loaded());
  const std::optional<Nanoseconds> next = host.list.tick(rig.clock.monotonic());
  ASSERT_TRUE(next);
  EXPECT_EQ(*next, rig.clock.monotonic() + std::chrono::seconds(1));
  rig.redis.refuse_connections(std::nullopt);
  rig.clock.advance(std::chrono::seconds(1));
  EXPECT_FALSE(host.list.tick(rig.clock.monotonic()));
  EXPECT_EQ(host.names(), Names{"a"});
  // A scheduler that does not take the jobs is asked again too.
  host.answer = fail(Code::io, "no");
  host.list.reload(Cause::requested);
  host.answer = {};
  define("b", job_text());
  rig.clock.advance(std::chrono::seconds(1));
  host.list.tick(rig.clock.monotonic());
  EXPECT_EQ(host.names(), (Names{"a", "b"}));
}

TEST_F(JobListTest, ADrainedHostStartsNothingAlsoAfterAReload) {
  define("a", job_text());
  ListHost host(rig);
  host.list.reload(Cause::boot);
  host.list.drain();
  EXPECT_TRUE(host.is_suspended("a"));
  define("b", job_text());
  host.list.reload(Cause::requested);
  host.list.add("c", job_text());
  host.list.set_paused("a", std::nullopt);
  EXPECT_EQ(host.names(), (Names{"a", "b", "c"}));
  for (const std::string& name : host.names()) EXPECT_TRUE(host.is_suspended(name)) << name;
  EXPECT_TRUE(paused().empty());
  EXPECT_EQ(stored("a"), job_text());
  EXPECT_TRUE(host.list.is_draining());
}

TEST_F(JobListTest, ValidateNotesErrorsAndTakesThemAway) {
  define("bad", "{}");
  define("cured", job_text("x", R"(,"job_state":{"validation_errors":"old"})"));
  define("also", job_text("x", R"(,"job_state":{"validation_errors":"old"})"));
  ListHost host(rig);
  host.list.validate({"cured", "nobody"});
  EXPECT_EQ(stored("cured"), job_text("x", R"(,"job_state":{})"));
  EXPECT_EQ(stored("bad"), "{}");
  host.list.validate({});
  EXPECT_EQ(stored("also"), job_text("x", R"(,"job_state":{})"));
  EXPECT_TRUE(*validation_errors_of(stored("bad")));
  EXPECT_EQ(rig.ask({"EXISTS", rig.keys.validation_lock()}).integer, 0);
  // Another host is at it.
  define("bad", "{}");
  rig.ask({"SET", rig.keys.validation_lock(), "other"});
  host.list.validate({});
  EXPECT_EQ(stored("bad"), "{}");
  EXPECT_EQ(rig.text({"GET", rig.keys.validation_lock()}), "other");
}

TEST_F(JobListTest, AReloadFollowsTheZoneOfTheCluster) {
  define("a", job_text());
  ListHost host(rig);
  host.list.reload(Cause::boot);
  rig.ask({"HSET", rig.keys.cluster(), "timezone", "Asia/Tokyo"});
  host.list.reload(Cause::requested);
  EXPECT_EQ(host.jobs.at("a").job.zone.name(), "Asia/Tokyo");
  host.list.add("b", job_text());
  EXPECT_EQ(host.jobs.at("b").job.zone.name(), "Asia/Tokyo");
  EXPECT_EQ(rig.log.lines_of("cluster_timezone_changed").size(), 1U);
}

TEST_F(JobListTest, ADefinitionIsReadAgainWhenAskedFor) {
  define("a", job_text());
  ListHost host(rig);
  host.list.reload(Cause::boot);
  define("a", job_text("y"));
  rig.clock.advance(std::chrono::seconds(10));
  host.list.read_again("a");
  EXPECT_EQ(*host.list.text("a"), job_text("y"));
  EXPECT_EQ(host.terms.find("a").value().read_at, instant_of(1'800'000'010));
}

TEST_F(JobListTest, AListThatIsGoneIsNotToldOfTheEnd) {
  define("a", job_text());
  rig.is_loop_held = true;
  auto host = std::make_unique<ListHost>(rig);
  bool is_told = false;
  host->list.reload(Cause::boot, [&](const Status&) { is_told = true; });
  ASSERT_EQ(rig.loop.size(), 1U);
  host.reset();
  rig.do_loop();
  EXPECT_FALSE(is_told);
}

TEST_F(JobListTest, WhereTooMuchWaitsTheListIsReadLater) {
  define("a", job_text());
  ListHost host(rig);
  rig.is_full = true;
  host.list.reload(Cause::boot);
  EXPECT_FALSE(host.list.is_loaded());
  rig.is_full = false;
  rig.clock.advance(std::chrono::seconds(1));
  host.list.tick(rig.clock.monotonic());
  EXPECT_TRUE(host.list.is_loaded());
}

Nanoseconds thread_time() {
  timespec time{};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return Seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

// The loop only hands over and takes; the texts are read in pages and judged aside. What the scheduler does with the
// jobs is its own business.
TEST_F(JobListTest, ALongListIsAppliedInSlicesBetweenWhichTheLoopIsFree) {
  for (int i = 0; i < 600; ++i) define("job-" + std::to_string(1000 + i), job_text());
  ListHost host(rig);
  host.on_slice = [this] { rig.clock.advance(std::chrono::milliseconds(30)); };
  rig.is_loop_held = true;
  int done = 0;
  host.list.reload(Cause::boot, [&](const Status& status) { done += status ? 1 : 100; });
  host.list.set_paused("job-1000", jobs::ClusterPause{});
  for (const std::size_t applied : {256U, 512U, 600U}) {
    EXPECT_EQ(done, 0);
    EXPECT_FALSE(host.list.is_loaded());
    ASSERT_EQ(rig.loop.size(), 1U);
    const Aside::Work work = std::move(rig.loop.front());
    rig.loop.pop_front();
    work();
    EXPECT_EQ(host.jobs.size(), applied);
  }
  EXPECT_EQ(done, 1);
  EXPECT_EQ(host.applied, 1);
  EXPECT_TRUE(host.list.is_loaded());
  EXPECT_TRUE(host.is_suspended("job-1000")) << "what came meanwhile is done afterwards";
  // Those that are gone go in slices too.
  rig.ask({"DEL", rig.keys.jobs()});
  define("left", job_text());
  host.list.reload(Cause::requested);
  rig.do_loop();
  EXPECT_EQ(host.names(), Names{"left"});
  EXPECT_EQ(host.terms.names(), Names{"left"});
}

TEST_F(JobListTest, WhatIsKnownOfNewJobsIsReadAside) {
  define("a", job_text());
  ListHost host(rig);
  host.list.reload(Cause::boot);
  EXPECT_EQ(host.fetched, Names{"a"});
  define("b", job_text());
  host.list.reload(Cause::requested);
  EXPECT_EQ(host.fetched, Names{"b"});
}

TEST_F(JobListTest, AListIsReadAgainWhenWhatIsKnownOfItsJobsCannotBeRead) {
  define("a", job_text());
  ListHost host(rig);
  host.can_fetch = fail(Code::unreachable, "nobody there");
  host.list.reload(Cause::boot);
  EXPECT_TRUE(host.names().empty());
  EXPECT_FALSE(host.list.is_loaded());
  host.can_fetch = {};
  rig.clock.advance(std::chrono::seconds(1));
  host.list.tick(rig.clock.monotonic());
  EXPECT_EQ(host.names(), Names{"a"});
  EXPECT_TRUE(host.list.is_loaded());
}

TEST_F(JobListTest, AListThatFailsHalfWayIsAppliedWholeLater) {
  for (int i = 0; i < 300; ++i) define("job-" + std::to_string(1000 + i), job_text());
  ListHost host(rig);
  host.on_slice = [&] { host.answer = fail(Code::unreachable, "gone"); };
  host.list.reload(Cause::boot);
  EXPECT_EQ(host.jobs.size(), 256U);
  EXPECT_FALSE(host.list.is_loaded());
  host.on_slice = {};
  host.answer = {};
  rig.clock.advance(std::chrono::seconds(1));
  host.list.tick(rig.clock.monotonic());
  EXPECT_EQ(host.jobs.size(), 300U);
  EXPECT_TRUE(host.list.is_loaded());
}

TEST_F(JobListTest, ManyDefinitionsDoNotHoldUpTheLoop) {
  const int count = kron::testing::scaled(20'000);
  for (int i = 0; i < count; ++i) define("job-" + std::to_string(i), job_text());
  ListHost host(rig);
  host.answer = fail(Code::conflict, "not measured");
  rig.is_held = rig.is_loop_held = true;
  // Of this thread alone, and beside what is done aside: the machine may be busy, or slowed down by a sanitizer.
  const auto time = [](const std::function<void()>& work) {
    const Nanoseconds begin = thread_time();
    work();
    return thread_time() - begin;
  };
  const Nanoseconds handed_over = time([&] { host.list.reload(Cause::boot); });
  const std::uint64_t commands_before = rig.redis.commands();
  const Nanoseconds aside = time([&] { rig.do_aside(); });
  EXPECT_GT(rig.redis.commands() - commands_before, 2U);
  ASSERT_EQ(rig.loop.size(), 1U);
  const Nanoseconds taken = time([&] { rig.do_loop(); });
  EXPECT_LT(handed_over, aside / 10);
  EXPECT_LT(taken, aside / 10);
  host.answer = {};
  host.list.reload(Cause::requested);
  rig.do_aside();
  rig.do_loop();
  EXPECT_EQ(host.list.size(), static_cast<std::size_t>(count));
  // The old texts go aside too.
  rig.do_aside();
}

}  // namespace
}  // namespace kron::cluster
