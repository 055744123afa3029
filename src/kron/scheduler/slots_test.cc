#include "kron/scheduler/slots.h"

#include <gtest/gtest.h>

namespace kron {
namespace {

jobs::JobDefinition of_pool(const std::string& pool, std::uint32_t slots) {
  jobs::RunOptions options;
  if (!pool.empty()) options.pool = jobs::SlotPool{pool, slots};
  jobs::JobDefinition definition;
  definition.action = jobs::Command{"true"};
  definition.options = std::make_shared<const jobs::RunOptions>(std::move(options));
  return definition;
}

Slots::Place place(std::int64_t chosen, const std::string& identity) { return {instant_of(chosen), identity}; }

TEST(Slots, WhereNothingIsLimitedNobodyNeedsOne) {
  Slots slots(0);
  const jobs::JobDefinition job = of_pool("", 0);
  slots.admit(*job.options);
  EXPECT_EQ(slots.group_of(job), nullptr);
  EXPECT_TRUE(slots.uses().empty());
}

TEST(Slots, ATaskNeedsNone) {
  Slots slots(1);
  jobs::JobDefinition job = of_pool("db", 1);
  job.action = jobs::SubmitTask{"MAIL"};
  slots.admit(*job.options);
  EXPECT_EQ(slots.group_of(job), nullptr);
}

TEST(Slots, TheLineIsInTheOrderOfChosenTimesAndThenOfNames) {
  Slots slots(1);
  const jobs::JobDefinition job = of_pool("", 0);
  Slots::Group& group = *slots.group_of(job);
  slots.take(group);
  slots.wait(group, place(20, "a"), 1, instant_of(50));
  slots.wait(group, place(10, "b"), 2, instant_of(60));
  slots.wait(group, place(10, "a"), 3, instant_of(70));
  EXPECT_EQ(slots.pop_ready(), std::nullopt) << "there is no slot";
  slots.give(group);
  EXPECT_FALSE(slots.may_start(group, place(10, "aa"))) << "it would come second";
  EXPECT_TRUE(slots.may_start(group, place(9, "z")));
  EXPECT_EQ(slots.uses().front().longest, 1U) << "by when the wait began";
  for (const Slots::Job expected : {3U, 2U, 1U}) EXPECT_EQ(slots.pop_ready()->job, expected);
  EXPECT_FALSE(slots.has_waiters());
}

TEST(Slots, APoolThatIsFullKeepsNobodyOfAnotherFromTheHostsSlots) {
  Slots slots(3);
  const jobs::JobDefinition one = of_pool("one", 1);
  const jobs::JobDefinition other = of_pool("other", 1);
  slots.admit(*one.options);
  slots.admit(*other.options);
  Slots::Group& first = *slots.group_of(one);
  Slots::Group& second = *slots.group_of(other);
  slots.take(first);
  slots.wait(first, place(1, "a"), 1, instant_of(1));
  EXPECT_EQ(slots.lacks(first), "one");
  EXPECT_TRUE(slots.may_start(second, place(2, "b"))) << "who stands before it could not start";
  slots.take(second);
  slots.give(first);
  slots.take(*slots.group_of(of_pool("", 0)));
  slots.take(*slots.group_of(of_pool("", 0)));
  EXPECT_EQ(slots.lacks(first), "") << "it is the host that has none";
  EXPECT_FALSE(slots.may_start(first, place(1, "a")));
  const std::vector<Slots::Use> uses = slots.uses();
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_EQ(uses[0], (Slots::Use{"", 3, 3, 1, instant_of(1), 1}));
  EXPECT_EQ(uses[1], (Slots::Use{"one", 1, 0, 0}));
  EXPECT_EQ(uses[2], (Slots::Use{"other", 1, 1, 0}));
}

TEST(Slots, PoolsAreNotInEachOthersWay) {
  Slots slots(0);
  const jobs::JobDefinition one = of_pool("one", 1);
  const jobs::JobDefinition other = of_pool("other", 1);
  slots.admit(*one.options);
  slots.admit(*other.options);
  slots.wait(*slots.group_of(one), place(1, "a"), 1, instant_of(1));
  EXPECT_TRUE(slots.may_start(*slots.group_of(other), place(2, "b")));
}

TEST(Slots, APoolIsGoneWithItsLastJobAndItsLastRun) {
  Slots slots(0);
  const jobs::JobDefinition job = of_pool("db", 2);
  slots.admit(*job.options);
  slots.admit(*job.options);
  Slots::Group& group = *slots.group_of(job);
  slots.take(group);
  slots.dismiss(*job.options);
  slots.dismiss(*job.options);
  ASSERT_EQ(slots.uses().size(), 1U) << "a run of it goes on";
  slots.give(group);
  EXPECT_TRUE(slots.uses().empty());
}

TEST(Slots, ALimitThatIsLoweredEndsNoRunAndLetsNoneStart) {
  Slots slots(0);
  slots.admit(*of_pool("db", 2).options);
  Slots::Group& group = *slots.group_of(of_pool("db", 2));
  slots.take(group);
  slots.take(group);
  slots.admit(*of_pool("db", 1).options);
  EXPECT_FALSE(slots.is_within_limits(group));
  slots.give(group);
  EXPECT_TRUE(slots.is_within_limits(group));
  EXPECT_FALSE(slots.may_start(group, place(1, "a")));
  slots.give(group);
  EXPECT_TRUE(slots.may_start(group, place(1, "a")));
}

}  // namespace
}  // namespace kron
