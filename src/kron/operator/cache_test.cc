#include "kron/operator/cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/operator/fake/samples.h"

namespace kron::kronjobs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::kNoon;

KronJobView kron_job(std::string uid, std::string version) {
  KronJobView view{.meta = {.ns = "shop", .name = "report"}, .identity = "shop/report", .job = {}, .status = {}};
  view.meta.uid = std::move(uid);
  view.meta.resource_version = std::move(version);
  return view;
}

JobView job(std::string uid, std::string version, std::string identity = "shop/report") {
  JobView view{.meta = {.ns = "shop", .name = "report-1"}};
  view.meta.uid = std::move(uid);
  view.meta.resource_version = std::move(version);
  view.identity = std::move(identity);
  return view;
}

std::vector<std::string> versions(const Cache& cache) {
  std::vector<std::string> all;
  if (const CacheEntry* entry = cache.find("shop/report")) {
    for (const JobView& one : entry->jobs) all.push_back(one.meta.uid + "@" + one.meta.resource_version);
  }
  return all;
}

TEST(OperatorCache, TakesTheNewestWhateverComesLast) {
  Cache cache;
  cache.put(kron_job("k", "10"), kNoon);
  cache.put(kron_job("k", "9"), kNoon);
  EXPECT_EQ(cache.find("shop/report")->kron_job->meta.resource_version, "10");
  cache.put(job("j", "9"));
  cache.put(job("j", "100"));
  cache.put(job("j", "11"));
  EXPECT_THAT(versions(cache), ElementsAre("j@100"));
  cache.put(job("j", "opaque"));
  EXPECT_THAT(versions(cache), ElementsAre("j@opaque"));
}

TEST(OperatorCache, WhatWasRemovedDoesNotComeBackByALateEvent) {
  Cache cache;
  cache.put(job("j", "5"));
  cache.remove_job("shop", "report-1", "j", "8");
  cache.put(job("j", "7"));
  EXPECT_THAT(versions(cache), IsEmpty());
  cache.put(job("j", "9"));
  EXPECT_THAT(versions(cache), ElementsAre("j@9")) << "its label was put back";
}

TEST(OperatorCache, ALateRemovalDoesNotTakeWhatIsNewer) {
  Cache cache;
  cache.put(job("new", "9"));
  cache.remove_job("shop", "report-1", "old", "8");
  cache.remove_job("shop", "report-1", "new", "8");
  EXPECT_THAT(versions(cache), ElementsAre("new@9"));
}

TEST(OperatorCache, LeavingSightIsNoAnswerAndAnotherUidIs) {
  Cache cache;
  cache.put(kron_job("k", "1"), kNoon);
  cache.put(job("a", "5"));
  cache.remove_job("shop", "report-1", "a", "6");
  EXPECT_THAT(cache.seen("shop/report")->answered, IsEmpty());
  cache.put(job("b", "7"));
  cache.put(job("c", "9"));
  EXPECT_THAT(cache.seen("shop/report")->answered, ElementsAre("b"));
  cache.put(job("b", "10"));
  EXPECT_THAT(versions(cache), ElementsAre("c@9")) << "a uid that is gone never comes back";
}

TEST(OperatorCache, KeepsAJobOfAnotherOnlyForWhoAskedForItsName) {
  Cache cache;
  cache.put(job("x", "5", ""));
  EXPECT_EQ(cache.find("shop/report"), nullptr);
  cache.put(job("x", "5", "elsewhere/report"), "shop/report");
  EXPECT_THAT(versions(cache), ElementsAre("x@5"));
}

TEST(OperatorCache, RemembersThePeriodsOfAKronJobThatIsGone) {
  Cache cache;
  KronJobView first = kron_job("k1", "10");
  first.status.handled = testing::handled_through(kNoon);
  cache.put(first, kNoon);
  cache.remove_kron_job("shop/report", "12", kNoon);
  EXPECT_FALSE(cache.seen("shop/report"));
  cache.put(kron_job("k1", "11"), kNoon);
  EXPECT_FALSE(cache.seen("shop/report")) << "a late event";
  cache.put(kron_job("k2", "13"), kNoon);
  EXPECT_EQ(cache.seen("shop/report")->predecessor->last_handled, kNoon);
  // Deleted again before it has written anything.
  cache.put(kron_job("k3", "15"), kNoon);
  EXPECT_EQ(cache.seen("shop/report")->predecessor->last_handled, kNoon);
}

TEST(OperatorCache, TakesTheLastStateFromTheEventOfTheDeletion) {
  Cache cache;
  cache.put(kron_job("k1", "10"), kNoon);
  KronJobView last = kron_job("k1", "12");
  last.status.handled = testing::handled_through(kNoon);
  cache.remove_kron_job("shop/report", "12", kNoon, &last);
  EXPECT_EQ(cache.find("shop/report")->tombstone->handled.last_handled, kNoon);
}

TEST(OperatorCache, KnowsWhichEventsOnlyRepeatWhatItHas) {
  Cache cache;
  const KronJobView report = kron_job("k1", "10");
  EXPECT_FALSE(cache.has_kron_job(report.meta));
  cache.put(report, kNoon);
  EXPECT_TRUE(cache.has_kron_job(report.meta));
  EXPECT_TRUE(cache.has_kron_job(kron_job("k1", "9").meta));
  EXPECT_FALSE(cache.has_kron_job(kron_job("k1", "11").meta));
  EXPECT_FALSE(cache.has_kron_job(kron_job("k2", "10").meta)) << "another of its name";
  cache.remove_kron_job("shop/report", "12", kNoon);
  EXPECT_FALSE(cache.has_kron_job(report.meta));

  const JobView run = job("u1", "20");
  EXPECT_FALSE(cache.has_job(run.meta));
  cache.put(run);
  EXPECT_TRUE(cache.has_job(run.meta));
  EXPECT_TRUE(cache.has_job(job("u1", "9").meta));
  EXPECT_FALSE(cache.has_job(job("u1", "21").meta));
  EXPECT_FALSE(cache.has_job(job("u2", "9").meta)) << "another of its name";
  cache.remove_job(run.meta.ns, run.meta.name, "u1", "22");
  EXPECT_FALSE(cache.has_job(run.meta));
}

TEST(OperatorCache, ForgetsWhatIsGoneForLong) {
  Cache cache;
  cache.put(kron_job("k1", "10"), kNoon);
  cache.remove_kron_job("shop/report", "12", kNoon);
  cache.expire(kNoon + Seconds(3600));
  EXPECT_NE(cache.find("shop/report"), nullptr);
  cache.expire(kNoon + Seconds(24 * 3600));
  EXPECT_THAT(cache.identities(), IsEmpty());
}

}  // namespace
}  // namespace kron::kronjobs
