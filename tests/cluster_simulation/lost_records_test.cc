// What chance would take long to find: records that are lost and made anew, and runs of another program. What the same
// worlds find when the cluster is broken is in mutants_test.cc.
#include <gtest/gtest.h>

#include "scenario.h"

namespace kron::testing {
namespace {

TEST(LostRecords, WhatWasDueBeforeARecordWasMadeDoesNotRun) { EXPECT_EQ(after_all_was_forgotten(Mutant::none), ""); }

TEST(LostRecords, WhatWasJudgedByARecordThatWasMadeAnewSinceDoesNotRun) {
  EXPECT_EQ(after_a_record_was_made_anew(Mutant::none), "");
}

TEST(LostRecords, WhatWasJudgedByARecordThatWasPutBackSinceDoesNotRun) {
  EXPECT_EQ(after_a_record_was_put_back(Mutant::none), "");
}

TEST(LostRecords, NoRevisionComesAgain) { EXPECT_EQ(after_a_revision_came_again(Mutant::none), ""); }

TEST(LostRecords, WhoNoticesFirstMayKnowLessThanOthers) {
  for (const std::uint64_t more : {0, 1000, 700'000, 999'990, 2'000'000}) {
    EXPECT_EQ(after_one_noticed_that_knew_less(Mutant::none, more), "") << more;
  }
}

TEST(LostRecords, ARunOfCronkenIsThePeriodsOwn) { EXPECT_EQ(after_a_run_of_cronken(Mutant::none), ""); }

}  // namespace
}  // namespace kron::testing
