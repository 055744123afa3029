#include "cluster_fleet.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "kron/base/rfc3339.h"
#include "kron/cluster/cluster_record.h"
#include "kron/core/sample_jobs.h"
#include "kron/env/fake/silent_log.h"
#include "kron/json/document.h"
#include "kron/scheduler/fake/dice.h"
#include "simulated_host.h"

namespace kron::testing {
namespace {

using namespace std::chrono_literals;

constexpr Instant kClusterStart = instant_of(1'794'000'000);
// When nothing goes wrong any more.
constexpr Seconds kClusterCalm{180};
// How long a run may be active that nobody runs, while its host is up and connected.
constexpr Nanoseconds kOrphanFor = 20s;

constexpr std::array kClusterSchedules{"* * * * * *", "*/2 * * * * *", "*/5 * * * * *", "*/20 * * * * *"};
constexpr std::array kClusterWindows{"0s", "0s", "0s", "7s"};
constexpr std::array kClusterDeadlines{"0s", "1s", "1s", "5s"};
constexpr std::array kClusterSkews{-2s, 0s, 2s, 60s, -30s};

std::string text_at(const Node& map, std::string_view key) {
  const Node* value = map.find(key);
  const auto* text = value == nullptr ? nullptr : value->as<std::string>();
  return text == nullptr ? std::string() : *text;
}

class ClusterFleet {
 public:
  explicit ClusterFleet(const ClusterPlan& plan)
      : plan_(plan),
        dice_(plan.seed),
        order_(plan.seed),
        clock_(kClusterStart),
        redis_([this] { return clock_.wall() + redis_ahead_; }, plan.seed) {
    redis_.set_faults({.request_lost = plan.lost,
                       .not_sent = plan.lost / 2,
                       .reply_lost = plan.lost,
                       .repeated = plan.repeated,
                       .scripts_flushed = plan.lost / 100,
                       .connect_fails = 0.1});
    redis_.on_timeout([this](Nanoseconds) { clock_waits_ += 50ms; });
    for (int i = 0; i < plan.jobs; ++i) jobs_.push_back(new_job(i));
    for (int i = 0; i < plan.hosts; ++i) {
      hosts_.push_back(std::make_unique<SimulatedHost>(
          SimulatedHost::World{.clock = clock_,
                               .redis = redis_,
                               .log = log_,
                               .keys = keys_,
                               .mutant = plan.mutant,
                               .run_time = [this] { return std::chrono::milliseconds(1 + dice_.upto(2'500)); },
                               .accuse = [this](std::string what) { accuse(std::move(what)); },
                               .wait = [this](SimulatedHost& who, Nanoseconds time) { let_others_speak(who, time); },
                               .on_start = [this](const SimulatedRun& run) { check_start(run); }},
          "host" + std::to_string(i), dice_.one_of(kClusterSkews), plan.dialect));
      starts_at_[hosts_.back().get()] = clock_.boot_time();
    }
    by_name_ = {};
    for (const auto& host : hosts_) by_name_[host->name()] = host.get();
  }

  ClusterReport run() && {
    live(clock_.boot_time() + plan_.length);
    redis_.set_faults({});
    is_calm_ = true;
    resume();
    live(clock_.boot_time() + kClusterCalm);
    if (report_.violation.empty()) expect_every_period();
    if (report_.violation.empty()) expect_nothing_left();
    for (const auto& host : hosts_) {
      for (const auto& [how, count] : host->answers) report_.answers[how] += count;
    }
    report_.commands = redis_.commands();
    report_.outcomes = outcomes_.size();
    return report_;
  }

 private:
  ClusterJob new_job(int number) {
    const std::string name = "job" + std::to_string(number);
    ClusterJob job;
    const std::string deadline = dice_.one_of(kClusterDeadlines);
    job.definition.job = make_job({.schedule = dice_.one_of(kClusterSchedules),
                                   .window = dice_.one_of(kClusterWindows),
                                   .deadline = deadline,
                                   .identity = name});
    job.definition.action = jobs::Command{"true"};
    job.terms.locked = !dice_.once_in(5);
    job.terms.lock_name = dice_.once_in(3) ? "shared" : name;
    job.terms.ttl = Seconds(2 + dice_.upto(3));
    job.terms.deadline = job.definition.job.policy.deadline;
    job.terms.read_at = kClusterStart;
    return job;
  }

  RedisValue ask(const RedisCommand& command) { return redis_.execute(command).value; }

  void live(Nanoseconds until) {
    while (clock_.boot_time() < until && report_.violation.empty()) {
      std::ranges::shuffle(hosts_, order_);
      for (const auto& host : hosts_) {
        start_if_due(*host);
        host->enforce_leases();
        host->turn();
        check_executions(*host);
      }
      if (back_at_ && *back_at_ <= clock_.boot_time()) {
        redis_.refuse_connections(std::nullopt);
        back_at_.reset();
      }
      check_holders();
      check_records();
      check_outcomes();
      check_orphans();
      if (!is_calm_) something_happens();
      pass_time(until);
    }
  }

  void start_if_due(SimulatedHost& host) {
    const auto due = starts_at_.find(&host);
    if (due == starts_at_.end() || due->second > clock_.boot_time()) return;
    if (!host.start(jobs_of(host))) {
      host.die();
      due->second = clock_.boot_time() + 500ms;
      return;
    }
    ++report_.starts;
    starts_at_.erase(due);
  }

  const std::vector<ClusterJob>& jobs_of(const SimulatedHost& host) {
    const auto own = own_jobs_.find(host.name());
    return own == own_jobs_.end() ? jobs_ : own->second;
  }

  SimulatedHost& any_host() { return *hosts_[static_cast<std::size_t>(dice_.upto(plan_.hosts - 1))]; }
  ClusterJob& any_job() { return jobs_[static_cast<std::size_t>(dice_.upto(plan_.jobs - 1))]; }

  void something_happens() {
    SimulatedHost& host = any_host();
    const bool is_settled = plan_.forgets_all;
    if (plan_.kills && !is_settled && dice_.once_in(400) && host.is_up()) {
      host.die();
      starts_at_[&host] = clock_.boot_time() + std::chrono::milliseconds(dice_.upto(20'000));
    }
    if (plan_.stops && !is_settled && dice_.once_in(400) && host.is_up()) {
      host.stopped_until = clock_.boot_time() + std::chrono::milliseconds(dice_.upto(15'000));
    }
    if (dice_.once_in(150)) trigger();
    if (plan_.pauses && dice_.once_in(300)) pause();
    if (paused_ && clock_.boot_time() >= resume_at_) resume();
    for (auto& [name, at] : reloads_) {
      SimulatedHost& reloading = *by_name_.at(name);
      if (at > clock_.boot_time() || !reloading.is_up() || reloading.stopped_until) continue;
      own_jobs_[name] = jobs_;
      const Instant read_at = std::chrono::floor<Seconds>(clock_.wall() + redis_ahead_);
      for (ClusterJob& job : own_jobs_[name]) job.terms.read_at = read_at;
      at = reloading.reload(own_jobs_[name]) ? Nanoseconds::max() : clock_.boot_time() + 1s;
    }
    if (plan_.steps_clock && dice_.once_in(500)) {
      redis_ahead_ += std::chrono::milliseconds(dice_.upto(6'000) - 3'000);
      last_step_ = clock_.boot_time();
    }
    if (plan_.deletes_records && dice_.once_in(200)) {
      (void)ask({"HDEL", keys_.state(), any_job().definition.job.identity});
      is_lossy_ = true;
    }
    if (plan_.forgets_all && dice_.once_in(1500)) {
      const RedisValue jobs = ask({"SMEMBERS", keys_.paused()});
      (void)ask({"FLUSHALL"});
      for (const RedisValue& job : jobs.items) (void)ask({"SADD", keys_.paused(), job.text});
      is_lossy_ = true;
      last_entry_ = "0-0";
    }
    if (plan_.edits && dice_.once_in(500)) {
      ClusterJob& job = any_job();
      job.definition.job.schedule =
          parse_schedule(dice_.one_of(kClusterSchedules), job.definition.job.identity).value();
      edited_.insert(job.definition.job.identity);
      reload_all();
    }
  }

  // Every host hears of it at its own time.
  void reload_all() {
    for (const auto& host : hosts_) {
      reloads_[host->name()] = clock_.boot_time() + std::chrono::milliseconds(dice_.upto(10'000));
    }
  }

  void trigger() {
    const std::string& identity = any_job().definition.job.identity;
    const std::string key = "request" + std::to_string(++requests_);
    for (const auto& host : hosts_) {
      if (host->is_up() && !host->stopped_until) (void)host->scheduler().trigger(identity, key);
    }
  }

  void pause() {
    if (paused_) return;
    ClusterJob& job = any_job();
    check_outcomes();
    paused_ = job.definition.job.identity;
    resume_at_ = clock_.boot_time() + std::chrono::milliseconds(dice_.upto(20'000));
    (void)ask({"SADD", keys_.paused(), *paused_});
    job.definition.job.policy.suspend = true;
    reload_all();
  }

  void resume() {
    if (!paused_) return;
    check_outcomes();
    for (ClusterJob& job : jobs_) {
      if (job.definition.job.identity == *paused_) job.definition.job.policy.suspend = false;
    }
    (void)ask({"SREM", keys_.paused(), *paused_});
    paused_.reset();
    reload_all();
    if (!is_calm_) return;
    for (const auto& host : hosts_) {
      own_jobs_[host->name()] = jobs_;
      if (host->is_up()) (void)host->reload(jobs_);
    }
  }

  // One host waits, so that the others notice what it has noticed.
  void let_others_speak(SimulatedHost& who, Nanoseconds time) {
    clock_waits_ += time;
    if (time < 1s) return begin_outage();  // it only wants to ask again
    for (const auto& host : hosts_) {
      if (host.get() == &who || !host->is_up() || host->stopped_until) continue;
      for (int i = 0; i < 20; ++i) {
        host->link().look();
        if (host->link().pump() && host->link().is_up()) break;
      }
    }
  }

  // An answer was lost, and now and then nobody is there any more.
  void begin_outage() {
    if (is_calm_ || back_at_ || plan_.forgets_all || !dice_.once_in(4)) return;
    redis_.refuse_connections(Error{Code::unreachable, "away"});
    back_at_ = clock_.boot_time() + std::chrono::milliseconds(dice_.upto(5'000));
  }

  void pass_time(Nanoseconds until) {
    const Nanoseconds t = clock_.boot_time();
    Nanoseconds next = until;
    for (const auto& host : hosts_) {
      if (host->is_up()) next = std::min(next, host->next_turn());
      if (const auto lease = host->next_lease()) next = std::min(next, *lease);
      if (const auto ends = host->processes.next_end()) next = std::min(next, t + *ends);
    }
    for (const auto& [host, at] : starts_at_) next = std::min(next, at);
    if (back_at_) next = std::min(next, *back_at_);
    Nanoseconds time = std::max(next - t, Nanoseconds(0)) + std::exchange(clock_waits_, Nanoseconds(0));
    // Nobody is there at the very moment.
    if (!is_calm_ && dice_.once_in(3)) time += std::chrono::milliseconds(dice_.upto(30));
    clock_.advance(time);
    for (const auto& host : hosts_) host->processes.advance(time);
  }

  void check_start(const SimulatedRun& run) {
    const bool was_stepped = plan_.steps_clock && last_step_ && clock_.boot_time() - *last_step_ < 10s;
    if (!run.grant.chosen || was_stepped) return;
    if (clock_.wall() + redis_ahead_ < *run.grant.chosen) {
      accuse(run.grant.job + " " + rfc3339(*run.grant.period) + " was started before " + rfc3339(*run.grant.chosen));
    }
  }

  void check_executions(SimulatedHost& host) {
    for (const std::string& run_id : host.processes.take_executed()) {
      ++report_.executions;
      if (!executed_.insert(run_id).second) accuse("run " + run_id + " was executed twice, now by " + host.name());
    }
  }

  void check_holders() {
    if (plan_.steps_clock) return;  // locks lapse by Redis's own clock, and with it
    const Nanoseconds t = clock_.boot_time();
    std::map<std::string, std::string> holders;
    for (const auto& host : hosts_) {
      for (const auto& [run_id, run] : host->runs()) {
        if (run.grant.lock_key.empty() || run.ends <= t || run.lease <= t) continue;
        const auto [known, is_new] = holders.emplace(run.grant.lock_key, run_id);
        if (!is_new) accuse("runs " + known->second + " and " + run_id + " of " + run.grant.job + " hold one lock");
      }
    }
  }

  void check_records() {
    const RedisValue all = ask({"HGETALL", keys_.state()});
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

  void check_outcomes() {
    while (true) {
      const RedisValue read = ask({"XREAD", "COUNT", "1000", "STREAMS", keys_.outcomes(), last_entry_});
      if (read.items.empty()) return;
      for (const RedisValue& entry : read.items[0].items[1].items) {
        last_entry_ = entry.items[0].text;
        take_outcome(entry.items[1].items[1].text);
      }
    }
  }

  void take_outcome(const std::string& text) {
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
    if (paused_ == job) accuse(job + " " + period + " was " + outcome + " while the job was paused");
    const bool is_locked = terms_of(job).locked;
    const std::string whose = is_locked ? job : job + " on " + text_at(*entry, "host");
    const auto [known, is_new] = outcomes_.emplace(std::pair(whose, period), outcome);
    if (!is_new && !is_lossy_) {
      accuse(whose + " " + period + " has a second outcome: " + known->second + ", then " + outcome);
    }
  }

  const cluster::JobTerms& terms_of(const std::string& job) const {
    return std::ranges::find(jobs_, job, [](const ClusterJob& one) { return one.definition.job.identity; })->terms;
  }

  // A claim whose answer was lost is ended, and not left to the reaper.
  void check_orphans() {
    const RedisValue active = ask({"HGETALL", keys_.claims()});
    std::set<std::string> orphans;
    for (std::size_t i = 0; i + 1 < active.items.size(); i += 2) {
      const std::string& run_id = active.items[i].text;
      const std::string owner = active.items[i + 1].text.substr(0, active.items[i + 1].text.find("-owner"));
      const SimulatedHost& host = *by_name_.at(owner);
      if (!host.is_up() || host.stopped_until || host.runs().contains(run_id)) continue;
      if (killed_since(host, run_id)) continue;
      orphans.insert(run_id);
      const auto [since, is_new] = orphans_.emplace(run_id, clock_.boot_time());
      // A repetition that comes late leaves such a claim, and then it is the reaper's.
      if (plan_.repeated == 0 && clock_.boot_time() - since->second > kOrphanFor) {
        accuse("run " + run_id + " of " + owner + " is active, and nobody runs it; " +
               std::to_string(by_name_.at(owner)->link().posted()) + " commands wait to be sent");
      }
    }
    std::erase_if(orphans_, [&](const auto& one) { return !orphans.contains(one.first); });
  }

  // A daemon that died between claim and gate cannot end the claim.
  bool killed_since(const SimulatedHost&, const std::string&) const { return plan_.kills; }

  void expect_every_period() {
    if (is_lossy_ || plan_.edits) return;
    const Instant t = std::chrono::floor<Seconds>(clock_.wall() + redis_ahead_) - kClusterCalm / 2;
    for (const ClusterJob& one : jobs_) {
      const Job& job = one.definition.job;
      if (!one.terms.locked) continue;
      const std::string record = ask({"HGET", keys_.state(), job.identity}).text;
      const Instant first = cluster::parse_cluster_record(record)->state.periods.first_seen.value();
      for (auto p = job.schedule.next_after(first - Seconds(1), job.zone); p && *p < t;
           p = job.schedule.next_after(*p, job.zone)) {
        const std::string period = rfc3339(*p);
        const bool is_passed_over = std::ranges::any_of(passed_over_, [&](const auto& span) {
          return span[0] == job.identity && span[1] <= period && period <= span[2];
        });
        if (is_passed_over || outcomes_.contains({job.identity, period}) || decide(job, *p).due() >= t) continue;
        if (plan_.steps_clock) continue;  // what the clock jumps over is nobody's
        return accuse(job.identity + " " + period + " has no outcome; " + record);
      }
    }
  }

  void expect_nothing_left() {
    const Nanoseconds t = clock_.boot_time();
    std::set<std::string> alive;
    for (const auto& host : hosts_) {
      for (const auto& [run_id, run] : host->runs()) {
        if (run.ends + 5s > t) alive.insert(run_id);
      }
    }
    for (const RedisValue& run : ask({"ZRANGE", keys_.active(), "0", "-1"}).items) {
      if (!alive.contains(run.text)) accuse("run " + run.text + " is left in active");
    }
    for (const RedisValue& run : ask({"HKEYS", keys_.claims()}).items) {
      if (!alive.contains(run.text)) accuse("run " + run.text + " is left in claims");
    }
  }

  void accuse(std::string violation) {
    if (!report_.violation.empty()) return;
    report_.violation = std::move(violation) + " (at " + rfc3339(std::chrono::floor<Seconds>(clock_.wall())) + ")";
  }

  ClusterPlan plan_;
  Dice dice_;
  std::mt19937_64 order_;
  FakeClock clock_;
  Nanoseconds redis_ahead_{0};
  Nanoseconds clock_waits_{0};  // time that somebody has waited in vain
  std::optional<Nanoseconds> last_step_;
  std::optional<Nanoseconds> back_at_;  // Redis is away until then
  FakeRedis redis_;
  SilentLog log_;
  cluster::Keys keys_{"{cronken}"};
  std::vector<ClusterJob> jobs_;
  std::map<std::string, std::vector<ClusterJob>> own_jobs_;  // as a host has read them last
  std::vector<std::unique_ptr<SimulatedHost>> hosts_;
  std::map<std::string, SimulatedHost*> by_name_;
  std::map<SimulatedHost*, Nanoseconds> starts_at_;
  std::map<std::string, Nanoseconds> reloads_;
  std::set<std::string> executed_;
  std::map<std::string, std::string> records_;
  std::map<std::pair<std::string, std::string>, std::string> outcomes_;
  std::vector<std::array<std::string, 3>> passed_over_;
  std::map<std::string, Nanoseconds> orphans_;
  std::set<std::string> edited_;
  std::string last_entry_ = "0-0";
  std::optional<std::string> paused_;
  Nanoseconds resume_at_{0};
  std::uint64_t requests_ = 0;
  bool is_lossy_ = false;  // records were lost: they may go back, for a while
  bool is_calm_ = false;
  ClusterReport report_;
};

}  // namespace

ClusterReport simulate_cluster(const ClusterPlan& plan) { return ClusterFleet(plan).run(); }

}  // namespace kron::testing
