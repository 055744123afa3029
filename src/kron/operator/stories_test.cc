// Random stories on the model API server: whatever is lost, late or doubled, whoever crashes, edits or deletes, and
// with two leaders at once that nothing keeps apart, the promises hold. And with any part of the gate missing they do
// not.
#include <gtest/gtest.h>

#include "kron/operator/fake/simulation.h"
#include "kron/operator/fake/situation.h"
#include "kron/testing/scale.h"

namespace kron::testing {
namespace {

std::string told(const Verdict& verdict) {
  std::string text;
  for (const std::string& line : verdict.trace) text += line + "\n";
  for (const std::string& line : verdict.broken) text += "BROKEN: " + line + "\n";
  return text;
}

TEST(OperatorStories, KeepThePromisesWithTwoLeaders) {
  std::size_t executed = 0;
  for (int i = 0; i < scaled(60); ++i) {
    const Verdict verdict = play({.seed = static_cast<std::uint64_t>(i), .length = 120});
    ASSERT_TRUE(verdict.broken.empty()) << "seed " << i << "\n" << told(verdict);
    executed += verdict.executed;
  }
  EXPECT_GT(executed, static_cast<std::size_t>(scaled(60)) / 3) << "stories in which nothing happens prove nothing";
}

TEST(OperatorStories, KeepThePromisesInLongStories) {
  for (int i = 0; i < scaled(6); ++i) {
    const Verdict verdict = play({.seed = static_cast<std::uint64_t>(100'000 + i), .length = 400});
    ASSERT_TRUE(verdict.broken.empty()) << "seed " << 100'000 + i << "\n" << told(verdict);
  }
}

TEST(OperatorStories, RepeatNoPeriodOfAKronJobThatIsMadeAnew) {
  for (int i = 0; i < scaled(40); ++i) {
    const Verdict verdict = play({.seed = static_cast<std::uint64_t>(i), .length = 120, .recreation = true});
    ASSERT_TRUE(verdict.broken.empty()) << "seed " << i << "\n" << told(verdict);
  }
}

struct Broken {
  const char* name;
  Mutant mutant;
  bool recreation = false;
};

class OperatorMutants : public ::testing::TestWithParam<Broken> {};

TEST_P(OperatorMutants, AreCaught) {
  constexpr int kMostStories = 3000;
  for (int i = 0; i < kMostStories; ++i) {
    const Verdict verdict = play({.seed = static_cast<std::uint64_t>(i),
                                  .mutant = GetParam().mutant,
                                  .length = GetParam().recreation ? 120 : 60,
                                  .recreation = GetParam().recreation});
    if (verdict.broken.empty()) continue;
    RecordProperty("seed", i);
    RecordProperty("broken", verdict.broken.front());
    return;
  }
  FAIL() << "no story has noticed";
}

INSTANTIATE_TEST_SUITE_P(All, OperatorMutants,
                         ::testing::Values(Broken{"no_gate", Mutant::no_gate}, Broken{"mark_stays", Mutant::mark_stays},
                                           Broken{"remove_without_version", Mutant::remove_without_version},
                                           Broken{"dropped_on_absence", Mutant::dropped_on_absence},
                                           Broken{"record_without_version", Mutant::record_without_version},
                                           Broken{"no_floor", Mutant::no_floor, true},
                                           Broken{"no_own_answers", Mutant::no_own_answers}),
                         [](const auto& broken) { return std::string(broken.param.name); });

// Two that random stories meet only now and then are told here.
class RareMutants : public Situation, public ::testing::WithParamInterface<bool> {
 protected:
  void use(Mutant mutant) { world.mutant = GetParam() ? mutant : Mutant::none; }
  void expect_noticed() {
    settle_down(world);
    world.witness.look_at_end(world.server);
    EXPECT_EQ(!world.witness.broken().empty(), GetParam());
  }
};

// The first create and an open are under way for long. Meanwhile the Job has run, and somebody has deleted it.
TEST_P(RareMutants, AnOpeningWithoutUidOpensAnotherJobOfTheName) {
  use(Mutant::open_without_uid);
  create();
  work();
  set_clock("12:00:00");
  step(Fate::floats);
  step();
  step();
  step(Fate::floats);
  step();
  ASSERT_EQ(starts(), 1U);
  world.witness.excuse(job("12:00")->meta.uid);
  remove_job("12:00");
  world.land(0);
  world.land(0);
  expect_noticed();
}

// A period is recorded and held by a suspension, and a run by hand is recorded beside it.
TEST_P(RareMutants, ARecordWithOneSlotForgetsWhatWasToBeOpened) {
  use(Mutant::one_slot);
  spec.concurrency = "allow";
  create();
  work();
  set_clock("12:00:00");
  step();
  step();
  spec.suspend = true;
  edit();
  run_now("now-1");
  work_at("12:00:05");
  spec.suspend = false;
  edit();
  work_at("12:00:10");
  expect_noticed();
}

INSTANTIATE_TEST_SUITE_P(All, RareMutants, ::testing::Bool(),
                         [](const auto& is_broken) { return std::string(is_broken.param ? "broken" : "as_it_is"); });

}  // namespace
}  // namespace kron::testing
