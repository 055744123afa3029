#include "cluster_fleet.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "cluster_witness.h"
#include "kron/core/sample_jobs.h"
#include "kron/env/fake/silent_log.h"
#include "kron/scheduler/fake/dice.h"
#include "kron/testing/temporary_directory.h"
#include "simulated_host.h"

namespace kron::testing {
namespace {

using namespace std::chrono_literals;

constexpr Instant kClusterStart = instant_of(1'794'000'000);
// When nothing goes wrong any more.
constexpr Seconds kClusterCalm{180};
constexpr std::size_t kMostLostWrites = 12;
constexpr std::array kClusterSchedules{"* * * * * *", "*/2 * * * * *", "*/5 * * * * *", "*/20 * * * * *"};
constexpr std::array kClusterWindows{"0s", "0s", "0s", "7s"};
constexpr std::array kClusterDeadlines{"0s", "1s", "1s", "5s"};
constexpr std::array kClusterSkews{-2s, 0s, 2s, 60s, -30s};

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
                       .connect_fails = plan.empties ? 0 : 0.1});
    redis_.on_timeout([this](Nanoseconds) { clock_waits_ += 50ms; });
    if (plan.loses_writes) redis_.keep_log_of(kMostLostWrites);
    for (int i = 0; i < plan.jobs; ++i) jobs_.push_back(new_job(i));
    for (int i = 0; i < plan.hosts; ++i) {
      hosts_.push_back(std::make_unique<SimulatedHost>(
          SimulatedHost::World{.clock = clock_,
                               .redis = redis_,
                               .log = log_,
                               .keys = keys_,
                               .directory = directory_.path(),
                               .mutant = plan.mutant,
                               .run_time = [this] { return std::chrono::milliseconds(1 + dice_.upto(2'500)); },
                               .accuse = [this](std::string what) { witness_.accuse(std::move(what)); },
                               .wait = [this](SimulatedHost& who, Nanoseconds time) { let_others_speak(who, time); },
                               .on_start = [this](const cluster::Grant& grant) { witness_.check_start(grant); }},
          "host" + std::to_string(i), dice_.one_of(kClusterSkews), plan.dialect));
      starts_at_[hosts_.back().get()] = clock_.boot_time();
    }
    by_name_ = {};
    for (const auto& host : hosts_) by_name_[host->name()] = host.get();
  }

  ClusterReport run() && {
    live(clock_.boot_time() + plan_.length);
    redis_.set_faults({});
    be_well();
    is_calm_ = true;
    resume();
    for (const auto& host : hosts_) {
      own_jobs_[host->name()] = jobs_;
      if (host->is_up()) (void)host->reload(jobs_);
    }
    live(clock_.boot_time() + kClusterCalm);
    ClusterReport report = witness_.conclude();
    for (const auto& host : hosts_) {
      for (const auto& [how, count] : host->answers) report.answers[how] += count;
      report.losses_reported += host->lost_writes_reported;
    }
    report.starts = starts_;
    report.commands = redis_.commands();
    return report;
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
    while (clock_.boot_time() < until && !witness_.has_accused()) {
      std::ranges::shuffle(hosts_, order_);
      for (const auto& host : hosts_) {
        start_if_due(*host);
        host->machine.enforce_leases();
        host->turn();
        witness_.check_executions(*host);
      }
      if (back_at_ && *back_at_ <= clock_.boot_time()) be_well();
      witness_.look();
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
    ++starts_;
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
      if (at > clock_.boot_time() || !reloading.is_running()) continue;
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
      witness_.record_is_deleted();
    }
    if (plan_.forgets_all && dice_.once_in(1500)) forget_all();
    if (plan_.empties && dice_.once_in(60)) empty();
    if (plan_.stalls && !back_at_ && dice_.once_in(400)) {
      redis_.stall();
      be_ill();
    }
    if (plan_.is_replica && !back_at_ && dice_.once_in(400)) {
      redis_.set_read_only(true);
      be_ill();
    }
    if (plan_.loses_writes && dice_.once_in(100)) lose_writes();
    if (plan_.edits && dice_.once_in(500)) {
      ClusterJob& job = any_job();
      job.definition.job.schedule =
          parse_schedule(dice_.one_of(kClusterSchedules), job.definition.job.identity).value();
      reload_all();
    }
  }

  void be_ill() { back_at_ = clock_.boot_time() + std::chrono::milliseconds(dice_.upto(5'000)); }
  void be_well() {
    back_at_.reset();
    redis_.refuse_connections(std::nullopt);
    redis_.set_read_only(false);
    redis_.go_on(dice_.once_in(2));
  }

  void forget_all() {
    const RedisValue jobs = ask({"SMEMBERS", keys_.paused()});
    (void)ask({"FLUSHALL"});
    for (const RedisValue& job : jobs.items) (void)ask({"SADD", keys_.paused(), job.text});
    witness_.all_is_forgotten();
  }

  // Those who know what has run die with what Redis knew. Who is stopped knows only what was before, and wakes when
  // the records have been made anew.
  void empty() {
    if (std::ranges::none_of(hosts_, [](const auto& host) { return host->is_running(); })) return;
    forget_all();
    for (const auto& host : hosts_) {
      if (!host->is_running()) continue;
      host->die();
      if (!host->start(jobs_of(*host))) witness_.accuse(host->name() + " cannot be started");
      ++starts_;
    }
    // And some remember the record as it was made.
    if (SimulatedHost& host = any_host(); dice_.once_in(2)) {
      host.stopped_until = clock_.boot_time() + std::chrono::milliseconds(dice_.upto(15'000));
    }
  }

  void lose_writes() {
    witness_.lose_writes([this] {
      redis_.restart_without(1 + static_cast<std::size_t>(dice_.upto(kMostLostWrites - 1)));
      // What was written by hand is none of this.
      for (const ClusterJob& job : jobs_) (void)ask({"SREM", keys_.paused(), job.definition.job.identity});
      if (paused_) (void)ask({"SADD", keys_.paused(), *paused_});
    });
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
      if (host->is_running()) (void)host->scheduler().trigger(identity, key);
    }
  }

  void pause() {
    if (paused_) return;
    ClusterJob& job = any_job();
    witness_.check_outcomes();
    paused_ = job.definition.job.identity;
    resume_at_ = clock_.boot_time() + std::chrono::milliseconds(dice_.upto(20'000));
    (void)ask({"SADD", keys_.paused(), *paused_});
    job.definition.job.policy.suspend = true;
    reload_all();
  }

  void resume() {
    if (!paused_) return;
    witness_.check_outcomes();
    for (ClusterJob& job : jobs_) {
      if (job.definition.job.identity == *paused_) job.definition.job.policy.suspend = false;
    }
    (void)ask({"SREM", keys_.paused(), *paused_});
    paused_.reset();
    reload_all();
  }

  // One host waits, so that the others notice what it has noticed.
  void let_others_speak(SimulatedHost& who, Nanoseconds time) {
    clock_waits_ += time;
    if (time < 1s) return begin_outage();  // it only wants to ask again
    for (const auto& host : hosts_) {
      if (host.get() == &who || !host->is_running()) continue;
      for (int i = 0; i < 20; ++i) {
        host->link().look();
        if (host->link().pump() && host->link().is_up()) break;
      }
    }
  }

  // An answer was lost, and now and then nobody is there any more.
  void begin_outage() {
    if (is_calm_ || back_at_ || plan_.forgets_all || plan_.empties || !dice_.once_in(4)) return;
    redis_.refuse_connections(Error{Code::unreachable, "away"});
    be_ill();
  }

  void pass_time(Nanoseconds until) {
    const Nanoseconds t = clock_.boot_time();
    Nanoseconds next = until;
    for (const auto& host : hosts_) {
      if (host->is_up()) next = std::min(next, host->next_turn());
      if (const auto event = host->machine.next_event()) next = std::min(next, *event);
    }
    for (const auto& [host, at] : starts_at_) next = std::min(next, at);
    if (back_at_) next = std::min(next, *back_at_);
    Nanoseconds time = std::max(next - t, Nanoseconds(0)) + std::exchange(clock_waits_, Nanoseconds(0));
    // Nobody is there at the very moment.
    if (!is_calm_ && dice_.once_in(3)) time += std::chrono::milliseconds(dice_.upto(30));
    clock_.advance(time);
    for (const auto& host : hosts_) host->machine.advance(time);
  }

  ClusterPlan plan_;
  Dice dice_;
  std::mt19937_64 order_;
  FakeClock clock_;
  TemporaryDirectory directory_{memory_directory()};
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
  std::optional<std::string> paused_;
  Nanoseconds resume_at_{0};
  std::uint64_t requests_ = 0;
  std::size_t starts_ = 0;
  bool is_calm_ = false;
  ClusterWitness witness_{{.plan = plan_,
                           .clock = clock_,
                           .redis = redis_,
                           .keys = keys_,
                           .jobs = jobs_,
                           .hosts = hosts_,
                           .directory = directory_.path(),
                           .redis_ahead = redis_ahead_,
                           .stepped = last_step_,
                           .paused = paused_,
                           .calm = kClusterCalm}};
};

}  // namespace

ClusterReport simulate_cluster(const ClusterPlan& plan) { return ClusterFleet(plan).run(); }

}  // namespace kron::testing
