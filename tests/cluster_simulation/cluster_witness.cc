#include "cluster_witness.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "kron/base/rfc3339.h"
#include "kron/cluster/cluster_record.h"
#include "kron/json/document.h"

namespace kron::testing {
namespace {

using namespace std::chrono_literals;

// How long a run may be active that nobody runs, while its host is up and connected.
constexpr Nanoseconds kOrphanFor = 20s;
constexpr Nanoseconds kLongestLock = 6s;

std::string text_at(const Node& map, std::string_view key) {
  const Node* value = map.find(key);
  const auto* text = value == nullptr ? nullptr : value->as<std::string>();
  return text == nullptr ? std::string() : *text;
}

std::set<std::string> texts_of(const RedisValue& list) {
  std::set<std::string> texts;
  for (const RedisValue& item : list.items) texts.insert(item.text);
  return texts;
}

}  // namespace

void ClusterWitness::accuse(std::string violation) {
  if (has_accused()) return;
  report_.violation = std::move(violation) + " (at " + rfc3339(std::chrono::floor<Seconds>(seen_.clock.wall())) + ")";
}

void ClusterWitness::look() {
  check_holders();
  check_records();
  check_outcomes();
  check_orphans();
}

void ClusterWitness::all_is_forgotten() {
  is_lossy_ = true;
  last_entry_ = "0-0";
}

// A claim that is lost may be granted once more, and an outcome told once more.
void ClusterWitness::lose_writes(const std::function<void()>& restart) {
  check_outcomes();
  const std::set<std::string> runs_before = texts_of(ask({"HKEYS", seen_.keys.rundata()}));
  const std::map<std::string, std::string> told_before = last_entries();
  restart();
  const std::set<std::string> runs = texts_of(ask({"HKEYS", seen_.keys.rundata()}));
  std::ranges::set_difference(runs_before, runs, std::inserter(lost_runs_, lost_runs_.end()));
  const std::map<std::string, std::string> told = last_entries();
  for (const auto& [id, text] : told_before) {
    if (told.contains(id)) continue;
    if (const auto key = outcome_key(text)) lost_outcomes_.insert(*key);
  }
  const RedisValue last = ask({"XREVRANGE", seen_.keys.outcomes(), "+", "-", "COUNT", "1"});
  last_entry_ = last.items.empty() ? "0-0" : last.items[0].items[0].text;
  records_.clear();
  lost_writes_at_ = seen_.clock.boot_time();
}

// The last of the outcomes: id and text.
std::map<std::string, std::string> ClusterWitness::last_entries() {
  std::map<std::string, std::string> entries;
  for (const RedisValue& entry : ask({"XREVRANGE", seen_.keys.outcomes(), "+", "-", "COUNT", "100"}).items) {
    entries.emplace(entry.items[0].text, entry.items[1].items[1].text);
  }
  return entries;
}

ClusterReport ClusterWitness::conclude() {
  if (!has_accused()) expect_every_period();
  if (!has_accused()) expect_nothing_left();
  report_.outcomes = outcomes_.size();
  report_.lost_runs = lost_runs_.size();
  return report_;
}

void ClusterWitness::check_start(const cluster::Grant& grant) {
  of_runs_[grant.run_id] = grant.job + (grant.period ? " " + rfc3339(*grant.period) : std::string());
  const bool was_stepped = seen_.plan.steps_clock && seen_.stepped && seen_.clock.boot_time() - *seen_.stepped < 10s;
  if (!grant.chosen || was_stepped) return;
  if (seen_.clock.wall() + seen_.redis_ahead < *grant.chosen) {
    accuse(grant.job + " " + rfc3339(*grant.period) + " was started before " + rfc3339(*grant.chosen));
  }
}

void ClusterWitness::check_executions(SimulatedHost& host) {
  for (const std::string& run_id : host.machine.take_executed()) {
    ++report_.executions;
    if (executed_.insert(run_id).second) continue;
    if (lost_runs_.contains(run_id)) {
      ++report_.executed_again;
      continue;
    }
    accuse("run " + run_id + " of " + of_runs_[run_id] + " was executed twice, now by " + host.name());
  }
}

void ClusterWitness::check_holders() {
  // Locks lapse by Redis's own clock; and what is empty has none, while runs go on until their hosts have heard of it.
  if (seen_.plan.steps_clock || seen_.plan.empties) return;
  // Renewals were lost.
  if (lost_writes_at_ && seen_.clock.boot_time() - *lost_writes_at_ < kLongestLock) return;
  std::map<std::string, std::string> holders;
  for (const auto& host : seen_.hosts) {
    for (const auto& [run_id, lock] : host->locks_held()) {
      if (lost_runs_.contains(run_id)) continue;
      const auto [known, is_new] = holders.emplace(lock, run_id);
      if (!is_new) accuse("runs " + known->second + " and " + run_id + " hold one lock");
    }
  }
}

void ClusterWitness::check_records() {
  const RedisValue all = ask({"HGETALL", seen_.keys.state()});
  for (std::size_t i = 0; i + 1 < all.items.size(); i += 2) {
    const std::string& field = all.items[i].text;
    const std::string& text = all.items[i + 1].text;
    std::string& before = records_[field];
    if (text == before) continue;
    const Result<cluster::ClusterRecord> record = cluster::parse_cluster_record(text);
    if (!record) return accuse("the record of " + field + " is none: " + text);
    if (!before.empty() && !is_lossy_) {
      const Result<cluster::ClusterRecord> old = cluster::parse_cluster_record(before);
      if (record->revision <= old->revision) accuse("the revision of " + field + " has not grown");
      if (cluster::has_forgotten(record->state.periods, old->state.periods)) {
        accuse("the record of " + field + " has gone back: " + before + " -> " + text);
      }
    }
    before = text;
  }
}

void ClusterWitness::check_outcomes() {
  while (true) {
    const RedisValue read = ask({"XREAD", "COUNT", "1000", "STREAMS", seen_.keys.outcomes(), last_entry_});
    if (read.items.empty()) return;
    for (const RedisValue& entry : read.items[0].items[1].items) {
      last_entry_ = entry.items[0].text;
      take_outcome(entry.items[1].items[1].text);
    }
  }
}

void ClusterWitness::take_outcome(const std::string& text) {
  const Result<Node> entry = parse_json(text);
  if (!entry) return accuse("an outcome that is none: " + text);
  const std::string job = text_at(*entry, "job");
  const std::string period = text_at(*entry, "periodId");
  const std::string outcome = text_at(*entry, "outcome");
  const bool is_start = text_at(*entry, "state") == "running";
  if (const Node* span = entry->find("passedOver")) {
    passed_over_.push_back({job, text_at(*span, "first"), text_at(*span, "last")});
    return;
  }
  if (period.empty() || (outcome == "executed" && !is_start)) return;
  if (seen_.paused == job) accuse(job + " " + period + " was " + outcome + " while the job was paused");
  const bool is_locked = terms_of(job).locked;
  const std::string whose = is_locked ? job : job + " on " + text_at(*entry, "host");
  const auto [known, is_new] = outcomes_.emplace(std::pair(whose, period), outcome);
  if (!is_new && !is_lossy_ && !lost_outcomes_.contains({whose, period})) {
    accuse(whose + " " + period + " has a second outcome: " + known->second + ", then " + outcome);
  }
}

// Whose outcome an entry tells, and of which period; none: of none.
std::optional<ClusterWitness::Key> ClusterWitness::outcome_key(const std::string& text) const {
  const Result<Node> entry = parse_json(text);
  const std::string period = entry ? text_at(*entry, "periodId") : std::string();
  if (period.empty()) return std::nullopt;
  const std::string job = text_at(*entry, "job");
  return std::pair(terms_of(job).locked ? job : job + " on " + text_at(*entry, "host"), period);
}

const cluster::JobTerms& ClusterWitness::terms_of(const std::string& job) const {
  return std::ranges::find(seen_.jobs, job, [](const ClusterJob& one) { return one.definition.job.identity; })->terms;
}

// A claim whose answer was lost is ended, and not left to the reaper.
void ClusterWitness::check_orphans() {
  const RedisValue active = ask({"HGETALL", seen_.keys.claims()});
  std::set<std::string> orphans;
  for (std::size_t i = 0; i + 1 < active.items.size(); i += 2) {
    const std::string& run_id = active.items[i].text;
    const std::string owner = active.items[i + 1].text.substr(0, active.items[i + 1].text.find("-owner"));
    SimulatedHost& host = **std::ranges::find(seen_.hosts, owner, [](const auto& one) { return one->name(); });
    if (!host.is_running() || host.holds(run_id)) continue;
    if (seen_.plan.kills) continue;  // a daemon that died between claim and gate cannot end the claim
    orphans.insert(run_id);
    const auto [since, is_new] = orphans_.emplace(run_id, seen_.clock.boot_time());
    // A repetition that comes late leaves such a claim, and so does an end that was lost; then it is the reaper's.
    const bool is_reapers = seen_.plan.repeated > 0 || seen_.plan.stalls || lost_writes_at_.has_value();
    if (!is_reapers && seen_.clock.boot_time() - since->second > kOrphanFor) {
      accuse("run " + run_id + " of " + owner + " is active, and nobody runs it; " +
             std::to_string(host.link().posted()) + " commands wait to be sent");
    }
  }
  std::erase_if(orphans_, [&](const auto& one) { return !orphans.contains(one.first); });
}

void ClusterWitness::expect_every_period() {
  if (is_lossy_ || seen_.plan.edits) return;
  const Instant t = std::chrono::floor<Seconds>(seen_.clock.wall() + seen_.redis_ahead) - seen_.calm / 2;
  for (const ClusterJob& one : seen_.jobs) {
    const Job& job = one.definition.job;
    if (!one.terms.locked) continue;
    const std::string record = ask({"HGET", seen_.keys.state(), job.identity}).text;
    const Instant first = cluster::parse_cluster_record(record)->state.periods.first_seen.value();
    for (auto p = job.schedule.next_after(first - Seconds(1), job.zone); p && *p < t;
         p = job.schedule.next_after(*p, job.zone)) {
      const std::string period = rfc3339(*p);
      const bool is_passed_over = std::ranges::any_of(passed_over_, [&](const auto& span) {
        return span[0] == job.identity && span[1] <= period && period <= span[2];
      });
      if (is_passed_over || outcomes_.contains({job.identity, period}) || decide(job, *p).due() >= t) continue;
      if (seen_.plan.steps_clock) continue;  // what the clock jumps over is nobody's
      return accuse(job.identity + " " + period + " has no outcome; " + record);
    }
  }
}

void ClusterWitness::expect_nothing_left() {
  const auto is_alive = [&](const std::string& run_id) {
    return std::ranges::any_of(seen_.hosts, [&](const auto& host) { return host->machine.is_running(run_id, 5s); });
  };
  for (const RedisValue& run : ask({"ZRANGE", seen_.keys.active(), "0", "-1"}).items) {
    if (!is_alive(run.text)) accuse("run " + run.text + " is left in active");
  }
  for (const RedisValue& run : ask({"HKEYS", seen_.keys.claims()}).items) {
    if (!is_alive(run.text)) accuse("run " + run.text + " is left in claims");
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(seen_.directory)) {
    const std::string run_id = entry.path().filename().string();
    if (entry.is_regular_file() && !is_alive(run_id)) accuse("the claim file of run " + run_id + " is left");
  }
}

}  // namespace kron::testing
