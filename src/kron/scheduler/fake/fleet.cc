#include "kron/scheduler/fake/fleet.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "kron/base/rfc3339.h"
#include "kron/core/sample_jobs.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/fake_process_runner.h"
#include "kron/env/fake/silent_log.h"
#include "kron/ledger/fake/shared_ledger.h"
#include "kron/scheduler/fake/dice.h"
#include "kron/scheduler/fake/held_writer.h"
#include "kron/scheduler/scheduler.h"

namespace kron::testing {
namespace {

using namespace std::chrono_literals;
using jobs::JobDefinition;

constexpr Instant kFleetStart = instant_of(1'767'225'600);
// When nothing goes wrong any more; then each daemon has had its word on everything.
constexpr Seconds kCalm{600};

constexpr std::array kFleetSchedules{"* * * * *", "*/2 * * * *", "*/5 * * * *", "*/20 * * * * *", "@every 90s"};
constexpr std::array kFleetWindows{"0s", "0s", "0s", "50s", "4m"};
constexpr std::array kFleetDeadlines{"0s", "0s", "1s", "20s", "10m"};
constexpr std::array kFleetConcurrencies{Concurrency::forbid, Concurrency::forbid, Concurrency::allow};

struct FleetHost {
  FleetHost(std::string its_name, SharedRecords& records) : name(std::move(its_name)), ledger(records, name) {}

  std::string name;
  SharedLedger ledger;
  FakeProcessRunner runner;
  HeldWriter writer;
  std::unique_ptr<Scheduler> scheduler;  // none: it is down
  std::optional<Nanoseconds> written_at = {};
  int pending = 0;  // requests that are not answered yet
  std::optional<Nanoseconds> next_tick = {};
  std::optional<Nanoseconds> starts_at = {};
};

class Fleet {
 public:
  explicit Fleet(const FleetPlan& plan) : plan_(plan), dice_(plan.seed), clock_(kFleetStart) {
    records_.takes_all = plan.takes_all;
    for (int i = 0; i < plan.jobs; ++i) jobs_.push_back(new_job(i));
    for (int i = 0; i < plan.hosts; ++i) {
      hosts_.push_back(std::make_unique<FleetHost>("host" + std::to_string(i), records_));
      FleetHost& host = *hosts_.back();
      host.runner.behave([this](const RunSpec&) { return Behaviour{.runs_for = dice_.seconds(90s)}; });
      host.ledger.instead = [this](const LedgerStep& step) { return fault(step); };
      host.ledger.loses_answer = [this](const LedgerStep&) { return is_unlucky(); };
      start(host);
    }
  }

  FleetReport run() && {
    live(clock_.monotonic() + plan_.length);
    is_calm_ = true;
    live(clock_.monotonic() + kCalm);
    if (!plan_.loses_writes) expect_every_period();
    for (const auto& host : hosts_) {
      if (host->pending != 0) accuse("requests are not answered");
      for (const auto& [how, count] : host->ledger.answers) report_.answers[how] += count;
    }
    for (const JobDefinition& job : jobs_) report_.outcomes += records_.at(job.job.identity).outcomes.size();
    return report_;
  }

 private:
  JobDefinition new_job(int number) {
    JobDefinition definition;
    definition.job = make_job({.schedule = dice_.one_of(kFleetSchedules),
                               .window = dice_.one_of(kFleetWindows),
                               .deadline = dice_.one_of(kFleetDeadlines),
                               .concurrency = dice_.one_of(kFleetConcurrencies),
                               .identity = "job/" + std::to_string(number)});
    definition.action = jobs::Command{"true"};
    // Some share a lock.
    if (dice_.once_in(3)) records_.at(definition.job.identity).lock = "lock" + std::to_string(dice_.upto(1));
    return definition;
  }

  bool is_unlucky() { return !is_calm_ && plan_.fault_in != 0 && dice_.once_in(2 * plan_.fault_in); }

  std::optional<Written> fault(const LedgerStep& step) {
    if (!is_unlucky()) return std::nullopt;
    switch (dice_.upto(2)) {
      case 0:
        return Written::refused({Code::unreachable, "away"}, now(clock_) + dice_.seconds(5s));
      case 1:
        return Written::unknown({Code::unreachable, "the request was lost"});
      default:
        return step.started.empty() ? std::nullopt : std::optional(Written::held("of another system"));
    }
  }

  void start(FleetHost& host) {
    ++report_.restarts;
    host.starts_at.reset();
    host.scheduler = std::make_unique<Scheduler>(
        Scheduler::World{.clock = clock_,
                         .ledger = host.ledger,
                         .runner = host.runner,
                         .log = log_,
                         .writer = &host.writer,
                         .on_written = [this, &host] { host.next_tick = clock_.monotonic(); }},
        [](const JobDefinition& definition, const RunCause& cause) {
          return RunSpec{.run_id = cause.run_id, .command = {jobs::command_of(definition)}};
        });
    if (Status started = host.scheduler->start(jobs_); !started) accuse("no start: " + started.error().message);
    host.next_tick = clock_.monotonic();
  }

  // What is on its way to the ledger may reach it, and nobody is told.
  void kill(FleetHost& host) {
    if (dice_.once_in(2)) host.writer.drop();
    host.scheduler.reset();
    host.written_at.reset();
    host.pending = 0;
    host.runner.daemon_dies();
    host.next_tick.reset();
    host.starts_at = clock_.monotonic() + dice_.seconds(60s);
  }

  void live(Nanoseconds until) {
    while (clock_.monotonic() < until && report_.violation.empty()) {
      std::ranges::shuffle(hosts_, order_);
      for (const auto& host : hosts_) turn_of(*host);
      check_executions();
      if (!records_.violation().empty() && !plan_.loses_writes) accuse(records_.violation());
      if (!is_calm_) something_happens();
      pass_time(until);
    }
  }

  void turn_of(FleetHost& host) {
    const Nanoseconds t = clock_.monotonic();
    if (host.starts_at && *host.starts_at <= t) start(host);
    if (host.written_at && *host.written_at <= t) {
      host.written_at.reset();
      host.writer.finish();
    }
    if (!host.scheduler || (host.next_tick.value_or(t + 1ns) > t && !host.runner.has_exits())) return;
    const Wakeup wakeup = host.scheduler->tick();
    host.next_tick.reset();
    await_write(host);
    if (wakeup.at) host.next_tick = t + std::max(*wakeup.at - clock_.wall(), Nanoseconds(0));
    if (wakeup.is_busy) host.next_tick = t;
    // Now and then it has other things to do.
    if (host.next_tick && !is_calm_ && dice_.once_in(40))
      *host.next_tick += std::chrono::milliseconds(dice_.upto(4'000));
  }

  void something_happens() {
    FleetHost& host = *hosts_.front();
    if (dice_.once_in(300) && host.scheduler) kill(host);
    if (dice_.once_in(100) && host.scheduler) ask(host);
    if (dice_.once_in(200) && host.scheduler) host.scheduler->look_again();
    if (!plan_.loses_writes) return;
    const std::string& identity = jobs_[static_cast<std::size_t>(dice_.upto(plan_.jobs - 1))].job.identity;
    if (dice_.once_in(20)) kept_.insert_or_assign(identity, records_.at(identity).periods);
    if (dice_.once_in(60) && kept_.contains(identity)) records_.put_periods(identity, kept_.at(identity));
  }

  // Some name their run, and ask every host for the same one.
  void ask(FleetHost& host) {
    const std::string& job = jobs_[static_cast<std::size_t>(dice_.upto(plan_.jobs - 1))].job.identity;
    const bool has_key = dice_.once_in(2);
    const std::string key = has_key ? "key" + std::to_string(++keys_) : "";
    for (const auto& other : hosts_) {
      if (other->scheduler && (has_key || other.get() == &host)) trigger(*other, job, key);
    }
  }

  void trigger(FleetHost& host, const std::string& job, const std::string& key) {
    ++host.pending;
    host.scheduler->trigger(job, key, [this, &host](const Result<Triggered>& triggered) {
      --host.pending;
      ++report_.requests_answered;
      if (!triggered || triggered->how != Triggered::How::started) return;
      const std::string* granted = records_.host_of(triggered->run_id);
      if (granted == nullptr || *granted != host.name)
        accuse("run " + triggered->run_id + " was promised and not granted");
    });
    await_write(host);
  }

  void await_write(FleetHost& host) {
    if (host.writer.has_work() && !host.written_at) host.written_at = clock_.monotonic() + dice_.seconds(3s);
  }

  void pass_time(Nanoseconds until) {
    Nanoseconds next = until;
    for (const auto& host : hosts_) {
      if (host->next_tick) next = std::min(next, *host->next_tick);
      if (host->written_at) next = std::min(next, *host->written_at);
      if (host->starts_at) next = std::min(next, *host->starts_at);
      if (const auto ends = host->runner.next_end()) next = std::min(next, clock_.monotonic() + *ends);
      if (host->scheduler && host->runner.has_exits()) next = clock_.monotonic();
    }
    const Nanoseconds time = std::max(next - clock_.monotonic(), Nanoseconds(0));
    clock_.advance(time);
    for (const auto& host : hosts_) host->runner.advance(time);
  }

  void check_executions() {
    for (const auto& host : hosts_) {
      for (const std::string& run_id : host->runner.take_executed()) {
        ++report_.executions;
        const std::string* granted = records_.host_of(run_id);
        if (granted == nullptr || *granted != host->name) accuse("run " + run_id + " was executed and not granted");
        if (!executed_.insert(run_id).second) accuse("run " + run_id + " was executed twice");
      }
    }
  }

  void expect_every_period() {
    const Instant t = now(clock_) - kCalm / 2;
    for (const JobDefinition& definition : jobs_) {
      const Job& job = definition.job;
      const SharedRecords::Record& record = records_.at(job.identity);
      for (auto p = job.schedule.next_after(kFleetStart, job.zone); p && *p < t;
           p = job.schedule.next_after(*p, job.zone)) {
        const bool is_passed_over = std::ranges::any_of(record.history, [&](const HistoryEntry& entry) {
          return entry.passed_over && entry.passed_over->first <= *p && *p <= entry.passed_over->last;
        });
        if (record.outcomes.contains(*p) || is_passed_over || decide(job, *p).due() >= t) continue;
        accuse(job.identity + " " + rfc3339(*p) + " has no outcome");
      }
    }
  }

  void accuse(std::string violation) {
    if (!report_.violation.empty()) return;
    report_.violation = std::move(violation) + " (at " + rfc3339(now(clock_)) + ")";
  }

  FleetPlan plan_;
  Dice dice_;
  std::mt19937_64 order_{plan_.seed};
  FakeClock clock_;
  SilentLog log_;
  SharedRecords records_;
  std::vector<JobDefinition> jobs_;
  std::vector<std::unique_ptr<FleetHost>> hosts_;
  std::map<std::string, JobState> kept_;
  std::set<std::string> executed_;
  int keys_ = 0;
  bool is_calm_ = false;
  FleetReport report_;
};

}  // namespace

FleetReport simulate_fleet(const FleetPlan& plan) { return Fleet(plan).run(); }

}  // namespace kron::testing
