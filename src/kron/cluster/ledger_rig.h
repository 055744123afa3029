#pragma once

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kron/cluster/cluster_ledger.h"
#include "kron/cluster/redis_rig.h"

namespace kron::cluster::testing {

inline constexpr Instant kLedgerStart = instant_of(1'794'000'000);

// A host of the cluster, without a scheduler, for a job called "job".
struct LedgerHost {
  LedgerHost(RedisRig& rig, std::string its_name, ClusterLedger::Options options = {})
      : name(std::move(its_name)), link(rig.redis.connection(), rig.keys, rig.clock) {
    options.owner = name + "-owner";
    options.host = name;
    ledger = std::make_unique<ClusterLedger>(
        ClusterLedger::World{.link = link,
                             .keys = rig.keys,
                             .clock = rig.clock,
                             .log = log,
                             .grants = grants,
                             .terms = terms,
                             .instance = [this] { return name; },
                             .read_again = [this](const std::string& job) { read_again.push_back(job); },
                             .on_lost_write = [this] { ++lost_writes; },
                             .wait =
                                 [this](Nanoseconds time) {
                                   waited += time;
                                   if (while_waiting) while_waiting();
                                 }},
        options);
    link.on_lost_writes = [this](const FenceWatch::Lost& lost) { ledger->assert_what_is_known(lost); };
    set_terms(
        {.locked = true, .lock_name = "lock", .ttl = Seconds(10), .deadline = Seconds(1), .read_at = kLedgerStart});
  }

  void set_terms(const JobTerms& of_job) { terms.set({{"job", of_job}}); }
  void set_unlocked() { set_terms({.locked = false, .lock_name = "", .ttl = Seconds(10), .read_at = kLedgerStart}); }
  KnownJob load(Instant t) { return ledger->load(std::vector<std::string>{"job"}, t).value()[0]; }
  Written write(const LedgerStep& step) { return ledger->write(std::vector{step})[0]; }

  std::string name;
  kron::testing::CapturingLog log;
  Grants grants;
  JobTermsTable terms;
  DirectLink link;
  std::unique_ptr<ClusterLedger> ledger;
  std::vector<std::string> read_again;
  int lost_writes = 0;
  Nanoseconds waited{0};
  std::function<void()> while_waiting = {};
};

// Two hosts on one Redis, and the steps that they write.
class LedgerTest : public ::testing::Test, protected RedisRig {
 protected:
  static constexpr std::uint64_t kHash = 7;  // of the job's schedule

  LedgerTest() : RedisRig(kLedgerStart, "{cronken}") {}

  static Instant at(std::int64_t seconds) { return kLedgerStart + Seconds(seconds); }
  static std::string run_id(Instant period) { return "run" + std::to_string(epoch_seconds(period)); }
  void go_to(Instant time) { clock.advance_to(time); }

  static LedgerStep step(JobState periods, Instant handled) {
    periods.last_handled = handled;
    periods.schedule = ScheduleSeen{kHash, {}};
    LedgerStep step;
    step.identity = "job";
    step.now.periods = std::move(periods);
    return step;
  }
  // What starts the run of a period.
  static LedgerStep start(const JobState& periods, Instant period) {
    LedgerStep it = step(periods, period);
    it.last_outcome = Outcome::executed;
    it.last_chosen = period;
    it.started.push_back({run_id(period), period, period, Trigger::schedule});
    return it;
  }
  static LedgerStep trigger(const JobState& periods, const std::string& run, bool has_key) {
    LedgerStep it;
    it.identity = "job";
    it.now.periods = periods;
    it.started.push_back({run, {}, {}, Trigger::manual, has_key});
    return it;
  }

  LedgerHost a{*this, "a"};
  LedgerHost b{*this, "b"};
};

}  // namespace kron::cluster::testing
