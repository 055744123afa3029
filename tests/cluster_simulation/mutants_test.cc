// Ways to break a cluster, each with the simulation that notices it. A mutation of a script is made on the script's way
// to Redis, one of the daemon at a seam of it. Those that have neither, such as an end and a start in one step, are in
// tests/mutants.
#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "cluster_fleet.h"
#include "scenario.h"

namespace kron::testing {
namespace {

// What a simulation finds when nothing is broken. Many mutants are noticed in the same one, which is simulated once.
std::string found_unbroken(ClusterPlan plan) {
  static std::vector<std::pair<ClusterPlan, std::string>> known;
  plan.mutant = Mutant::none;
  const auto again = std::ranges::find(known, plan, &decltype(known)::value_type::first);
  if (again != known.end()) return again->second;
  return known.emplace_back(plan, simulate_cluster(plan).violation).second;
}

// What one of some simulations finds. The same simulation must find nothing when nothing is broken. `plan.seed` is that
// of the first: one that finds it, as far as is known.
std::function<std::string(Mutant)> by_chance(ClusterPlan plan, int most = 20) {
  return [plan, most](Mutant mutant) mutable {
    plan.mutant = mutant;
    for (int i = 0; i < most; ++i, ++plan.seed) {
      const std::string found = simulate_cluster(plan).violation;
      if (found.empty()) continue;
      EXPECT_EQ(found_unbroken(plan), "") << "seed " << plan.seed;
      return found;
    }
    return std::string();
  };
}

std::function<std::string(Mutant)> by_scenario(std::string (*scenario)(Mutant)) {
  return [scenario](Mutant mutant) {
    EXPECT_EQ(scenario(Mutant::none), "");
    return scenario(mutant);
  };
}

struct Broken {
  const char* name;
  Mutant mutant;
  std::function<std::string(Mutant)> find;
  std::string finds;  // in what is found
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

std::vector<Broken> all_mutants() {
  const ClusterPlan faults;
  const ClusterPlan other_faults = {.seed = 2};
  const ClusterPlan calls_lost = {.lost = 0.05, .repeated = 0, .kills = false};
  const ClusterPlan emptied = {.lost = 0, .repeated = 0, .kills = false, .empties = true};
  const ClusterPlan writes_lost = {.seed = 12, .kills = false, .loses_writes = true};
  const ClusterPlan forgotten = {.seed = 23, .lost = 0, .repeated = 0, .forgets_all = true};
  return {
      {"NoRevisionCheck", Mutant::no_revision_check, by_chance(faults), ""},
      {"GateBeforeAnswer", Mutant::gate_before_answer, by_chance(faults), "executed twice"},
      {"UnknownTakenAsRefused", Mutant::unknown_without_end, by_chance(calls_lost), "nobody runs it"},
      {"OutcomesWhilePaused", Mutant::outcomes_while_paused, by_chance(other_faults), "while the job was paused"},
      {"AnewWithFirstRevision", Mutant::anew_with_first_revision, by_scenario(after_a_record_was_made_anew),
       "run again"},
      {"AnewWithFirstRevisionByChance", Mutant::anew_with_first_revision, by_chance(emptied), "executed twice"},
      {"PutBackWithFirstRevision", Mutant::put_back_with_first_revision, by_scenario(after_a_record_was_put_back),
       "run again"},
      {"RevisionsCountSteps", Mutant::revisions_count_steps, by_chance(writes_lost), ""},
      {"FirstSightAtOnce", Mutant::first_sight_at_once, by_scenario(after_all_was_forgotten), "run again"},
      {"FirstSightAtOnceByChance", Mutant::first_sight_at_once, by_chance(emptied), "executed twice"},
      {"RanTakenAsRefused", Mutant::ran_is_refused, by_scenario(after_a_run_of_cronken), "not counted"},
      {"NoLockCheck", Mutant::no_lock_check, by_chance(faults), "hold one lock"},
      {"RaisedByTheSeen", Mutant::raised_by_the_seen,
       by_scenario([](Mutant mutant) { return after_one_noticed_that_knew_less(mutant, 700'000); }), "run again"},
      {"StartsBeforeAllHaveSpoken", Mutant::starts_unsettled, by_chance(forgotten), "executed twice"},
  };
}

class Mutants : public ::testing::TestWithParam<Broken> {};

TEST_P(Mutants, IsNoticed) {
  const std::string found = GetParam().find(GetParam().mutant);
  EXPECT_NE(found, "");
  EXPECT_NE(found.find(GetParam().finds), std::string::npos) << found;
}

INSTANTIATE_TEST_SUITE_P(ClusterSimulation, Mutants, ::testing::ValuesIn(all_mutants()),
                         [](const ::testing::TestParamInfo<Broken>& one) { return one.param.name; });

}  // namespace
}  // namespace kron::testing
