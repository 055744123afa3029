#include "scenario.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/core/sample_jobs.h"

namespace kron::testing {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kScenarioStep = 20ms;

}  // namespace

Scenario::Scenario(Mutant mutant, const char* schedule, const char* deadline, cluster::Dialect dialect) {
  for (const char* name : {"a", "b"}) {
    hosts_.push_back(std::make_unique<SimulatedHost>(
        SimulatedHost::World{.clock = clock,
                             .redis = redis,
                             .log = log_,
                             .keys = keys,
                             .directory = directory_.path(),
                             .mutant = mutant,
                             .run_time = [] { return 10ms; },
                             .accuse = [this](std::string what) { trouble_ = std::move(what); },
                             .wait = [this](SimulatedHost& who, Nanoseconds time) { wait(who, time); }},
        name, 0s, dialect));
  }
  ClusterJob job;
  job.definition.job = make_job({.schedule = schedule, .deadline = deadline, .identity = "job"});
  job.definition.action = jobs::Command{"true"};
  job.terms = {.locked = true,
               .lock_name = "job",
               .ttl = 5s,
               .deadline = job.definition.job.policy.deadline,
               .read_at = kScenarioStart};
  jobs_.push_back(job);
}

// Who runs goes on meanwhile: it looks whether writes were lost.
void Scenario::wait(SimulatedHost& who, Nanoseconds time) {
  clock.advance(time);
  for (const auto& one : hosts_) {
    if (one.get() == &who || !one->is_running() || time < 1s) continue;
    one->link().look();
    one->link().pump();
  }
}

void Scenario::start(std::size_t number) {
  if (!host(number).start(jobs_)) trouble_ = "host " + host(number).name() + " cannot be started";
}

void Scenario::forget_all_with(std::size_t number) {
  host(number).die();
  forget_all();
}

void Scenario::run_until(WallTime time) {
  while (clock.wall() < time) {
    for (const auto& one : hosts_) one->turn();
    clock.advance(kScenarioStep);
    for (const auto& one : hosts_) one->machine.advance(kScenarioStep);
  }
}

cluster::ClusterRecord Scenario::record() {
  return cluster::parse_cluster_record(ask({"HGET", keys.state(), "job"}).text).value_or(cluster::ClusterRecord{});
}

std::vector<std::string> Scenario::executed() {
  std::vector<std::string> all;
  for (const auto& one : hosts_) {
    all.insert(all.end(), one->machine.executed().begin(), one->machine.executed().end());
  }
  return all;
}

std::string Scenario::found(const char* what_ran_again) {
  const std::vector<std::string> all = executed();
  return std::set<std::string>(all.begin(), all.end()).size() != all.size() ? what_ran_again : trouble_;
}

int Scenario::outcomes_of(Instant period) {
  int count = 0;
  for (const RedisValue& entry : ask({"XRANGE", keys.outcomes(), "-", "+"}).items) {
    const std::string& text = entry.items[1].items[1].text;
    if (text.find("\"periodId\":\"" + rfc3339(period)) == std::string::npos) continue;
    const bool is_end_of_run = text.find("\"outcome\":\"executed\"") != std::string::npos &&
                               text.find("\"state\":\"running\"") == std::string::npos;
    count += is_end_of_run ? 0 : 1;
  }
  return count;
}

std::string after_all_was_forgotten(Mutant mutant) {
  Scenario world(mutant, "*/10 * * * * *", "5s");
  world.start(0);
  world.run_until(kScenarioStart + 20s + 100ms);
  if (world.executed().size() != 2) return "two periods were due, and not run";
  world.forget_all_with(0);
  world.start(1);
  world.start(0);
  world.run_for(2s);
  return world.found("what was due before the record was made was run again");
}

std::string after_a_record_was_made_anew(Mutant mutant) {
  Scenario world(mutant, "*/10 * * * * *", "30s");
  world.start(0);
  world.start(1);
  world.run_for(1s);
  world.stop(1);
  world.run_until(kScenarioStart + 10s + 500ms);
  if (world.executed().size() != 1) return "a period was due, and not run";
  world.forget_all_with(0);
  world.start(0);
  world.wake(1);
  world.run_for(2s);
  return world.found("what was judged by the lost record was run again");
}

std::string after_a_record_was_put_back(Mutant mutant) {
  Scenario world(mutant, "*/10 * * * * *", "30s");
  world.start(0);
  world.run_until(kScenarioStart + 10s + 500ms);
  world.forget_all();
  world.run_for(2s);
  const std::uint64_t first = world.record().revision;
  world.start(1);
  world.run_for(1s);
  world.stop(1);
  world.run_until(kScenarioStart + 20s + 500ms);
  if (world.executed().size() != 2) return "two periods were due, and not run";
  world.forget_all();
  world.run_for(2s);
  if (first == 0 || world.record().revision == 0) return "the record was not put back";
  world.wake(1);
  world.run_for(4s);
  return world.found("what was judged by the lost record was run again");
}

std::string after_a_revision_came_again(Mutant mutant) {
  Scenario world(mutant, "* * * * * *", "0s");
  world.start(0);
  world.start(1);
  world.run_for(10s);
  world.stop(1);
  const std::uint64_t remembered = world.record().revision;
  world.forget_all_with(0);
  world.start(0);
  for (int i = 0; i < 3000 && world.record().revision != remembered; ++i) world.run_for(kScenarioStep);
  // It wakes when the second is over in which the other has run.
  world.stop(0);
  const Instant last = world.record().state.periods.last_handled.value_or(kScenarioStart);
  world.run_for(500ms);
  world.wake(1);
  world.run_for(400ms);
  if (world.record().state.periods.last_handled < last) return "the record has gone back";
  return world.outcomes_of(last) == 1 ? world.trouble() : "a period has a second outcome";
}

std::string after_one_noticed_that_knew_less(Mutant mutant, std::uint64_t more) {
  Scenario world(mutant, "*/10 * * * * *", "5s");
  world.start(0);
  world.start(1);
  world.run_until(kScenarioStart + 20s);
  constexpr std::uint64_t kInAWhile = cluster::FenceWatch::kFar / 2;
  for (std::uint64_t granted = 0; granted < more; granted += kInAWhile) {
    (void)world.ask({"INCRBY", world.keys.fence(), std::to_string(std::min(kInAWhile, more - granted))});
    world.host(0).link().look();
  }
  world.host(0).turn();
  if (world.executed().size() != 2) return "two periods were due, and not run";
  world.forget_all();
  world.host(1).turn();
  world.run_for(2s);
  return world.found("what only the other knew of was run again");
}

std::string after_a_run_of_cronken(Mutant mutant) {
  Scenario world(mutant, "*/10 * * * * *", "1s", cluster::Dialect::cronken);
  world.start(0);
  world.run_until(kScenarioStart + 9s + 900ms);
  const std::string run_id = "0123456789ab4def8123456789abcdef";
  (void)world.ask(
      {"HSET", world.keys.rundata(), run_id,
       R"({"host":"c","job_name":"job","status":"success","start_time":"1794000010.001","retcode":0,"output":""})"});
  (void)world.ask({"ZADD", world.keys.results("job", "success"), "1794000010.005", run_id});
  world.run_until(kScenarioStart + 11s);
  if (!world.executed().empty()) return "the period was run by both";
  const cluster::ClusterRecord record = world.record();
  const bool is_its_own =
      record.state.last_outcome == Outcome::executed && record.state.periods.last_handled == kScenarioStart + 10s;
  return is_its_own ? world.trouble() : "the period that was run is not counted as executed";
}

}  // namespace kron::testing
