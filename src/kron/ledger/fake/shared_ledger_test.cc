#include "kron/ledger/fake/shared_ledger.h"

#include <gtest/gtest.h>

namespace kron::testing {
namespace {

using How = Written::How;

constexpr Instant kSharedNow = instant_of(1'772'323'200);
const std::vector<std::string> kOneJob{"job"};

LedgerStep start_of(Instant period, const std::string& run_id) {
  LedgerStep step;
  step.identity = "job";
  step.now.periods.last_handled = period;
  ActiveExecution& run = step.now.active.emplace_back();
  run.run_id = run_id;
  run.period = period;
  step.started.push_back({run_id, period, period, Trigger::schedule});
  return step;
}

struct TwoDaemons : ::testing::Test {
  TwoDaemons() {
    EXPECT_TRUE(a.load(kOneJob, kSharedNow));
    EXPECT_TRUE(b.load(kOneJob, kSharedNow));
  }

  Written write(SharedLedger& ledger, const LedgerStep& step) { return ledger.write(std::vector{step})[0]; }

  SharedRecords records;
  SharedLedger a{records, "a"};
  SharedLedger b{records, "b"};
};

using SharedLedgerOf = TwoDaemons;

TEST_F(SharedLedgerOf, TakesOnlyAStepThatWasJudgedByTheLastRevision) {
  EXPECT_EQ(write(a, start_of(kSharedNow, "one")).how, How::done);
  const Written late = write(b, start_of(kSharedNow, "one"));
  ASSERT_EQ(late.how, How::newer);
  EXPECT_EQ(late.periods->last_handled, kSharedNow);
  EXPECT_EQ(write(b, start_of(kSharedNow + Seconds(60), "two")).how, How::done) << "it knows the revision now";
  EXPECT_EQ(write(a, start_of(kSharedNow + Seconds(60), "two")).how, How::newer);
  EXPECT_EQ(*records.host_of("one"), "a");
  EXPECT_EQ(*records.host_of("two"), "b");
}

TEST_F(SharedLedgerOf, KnowsARunThatItsRecordHasForgotten) {
  EXPECT_EQ(write(a, start_of(kSharedNow, "one")).how, How::done);
  records.put_periods("job", {});
  EXPECT_EQ(write(b, start_of(kSharedNow, "one")).how, How::newer);
  const Written known = write(b, start_of(kSharedNow, "one"));
  EXPECT_EQ(known.how, How::ran);
  EXPECT_EQ(known.run_id, "one");
}

TEST_F(SharedLedgerOf, HoldsALockUntilTheEndOfItsRun) {
  records.at("job").lock = "lock";
  EXPECT_EQ(write(a, start_of(kSharedNow, "one")).how, How::done);
  EXPECT_EQ(write(b, start_of(kSharedNow, "two")).how, How::newer);
  const Written held = write(b, start_of(kSharedNow + Seconds(60), "two"));
  EXPECT_EQ(held.how, How::held);
  EXPECT_EQ(held.run_id, "one");
  LedgerStep end;
  end.identity = "job";
  end.now.periods.last_handled = kSharedNow;
  end.history.push_back({.period = kSharedNow, .outcome = Outcome::executed, .run_id = "one"});
  EXPECT_EQ(write(a, end).how, How::done);
  EXPECT_EQ(write(b, start_of(kSharedNow + Seconds(60), "two")).how, How::newer);
  EXPECT_EQ(write(b, start_of(kSharedNow + Seconds(60), "two")).how, How::done);
}

TEST_F(SharedLedgerOf, ALostAnswerLeavesAStepThatHappened) {
  a.loses_answer = [](const LedgerStep&) { return true; };
  EXPECT_EQ(write(a, start_of(kSharedNow, "one")).how, How::unknown);
  EXPECT_EQ(records.at("job").outcomes.at(kSharedNow), Outcome::executed);
  EXPECT_TRUE(records.at("job").active["a"].empty()) << "nobody may let it go";
  EXPECT_EQ(write(a, start_of(kSharedNow, "one")).how, How::newer);
}

}  // namespace
}  // namespace kron::testing
