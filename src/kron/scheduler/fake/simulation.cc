#include "kron/scheduler/fake/simulation.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/env/fake/survivors.h"
#include "kron/env/log.h"
#include "kron/scheduler/fake/dice.h"

namespace kron::testing {
namespace {

using namespace std::chrono_literals;
using jobs::JobDefinition;

constexpr std::array kZones{"UTC",           "Europe/Berlin", "America/New_York",  "Australia/Lord_Howe",
                            "Asia/Kolkata",  "Africa/Cairo",  "America/Sao_Paulo", "Pacific/Apia",
                            "Europe/Dublin", "Asia/Tehran"};
// Mostly what people write; a few that are dense, rare, or fall into the gaps of the calendar.
constexpr std::array kSchedules{"30 2 * * *", "0 0 * * *",  "15 4 * * 1-5",  "0 3 * * SUN",
                                "0 0 1 * *",  "0 12 L * *", "59 23 29 2 *",  "0 9 LW * *",
                                "@every 36h", "45 1 * * *", "17 5,17 * * *", "0 */6 * * *",
                                "0 2 * * *",  "30 1 * * *", "0 0 * * FRI#2", "*/20 9-10 * * MON"};
constexpr std::array kDense{"0 * * * *", "*/30 * * * *", "@every 45m"};
constexpr std::array kWindows{"0s", "0s", "0s", "30m", "2h", "6h", "30h"};
constexpr std::array kDeadlines{"0s", "0s", "5m", "2h", "2d"};
constexpr std::array kModes{WindowMode::after, WindowMode::before, WindowMode::around};
constexpr std::array kConcurrencies{Concurrency::forbid, Concurrency::allow, Concurrency::replace, Concurrency::queue};
constexpr std::array kPausesAfter{0U, 0U, 0U, 1U, 3U};
constexpr std::array kMaxRunning{0U, 0U, 2U, 6U};
constexpr std::array kPools{"", "", "one", "some"};
constexpr std::array<std::optional<Seconds>, 3> kSpreads{std::nullopt, Seconds(10min), Seconds(5h)};

// 2026 to the end of 2028: a leap year, and every change of the clocks thrice.
constexpr Instant kStart = instant_of(1'767'225'600);
constexpr Seconds kBusiestFor{600};
constexpr std::array<std::optional<Seconds>, 3> kRepeats{std::nullopt, Seconds(6h), Seconds(72h)};
constexpr std::array kAfters{1U, 1U, 2U, 3U};

// Tells the witness what is held up, and for how long.
class HeardLog : public Log {
 public:
  explicit HeardLog(Witness& witness) : witness_(witness) { witness_.hears_log(); }

  void write(LogLevel, std::string_view event, std::span<const LogField> fields) override {
    const bool is_spread = event == "start_spread";
    if (!is_spread && event != "period_waits") return;
    const auto field = [&](std::string_view key) {
      for (const LogField& one : fields) {
        if (one.key == key) return std::string(std::get<std::string_view>(one.value));
      }
      return std::string();
    };
    const std::optional<Instant> until = is_spread ? std::optional(*parse_rfc3339(field("until"))) : std::nullopt;
    witness_.told_of_wait(field("identity"), *parse_rfc3339(field("periodId")), until);
  }

 private:
  Witness& witness_;
};

class Simulation {
 public:
  explicit Simulation(const SimulationPlan& plan) : plan_(plan), dice_(plan.seed), outside_(kStart) {
    outside_.runner.behave([this](const RunSpec&) { return behaviour(); });
    outside_.writer = &writer_;
    outside_.observer = [this](const Event& event) {
      if (const auto* owed = std::get_if<MessageOwed>(&event)) outside_.owed.push_back(*owed);
      if (plan_.on_event) plan_.on_event(event);
    };
    outside_.max_running = plan.max_running.value_or(plan.quiet ? 0 : dice_.one_of(kMaxRunning));
    for (int i = 0; i < plan.jobs; ++i) outside_.jobs.push_back(new_job());
  }

  SimulationReport run() && {
    restart();
    const Nanoseconds end = elapsed_ + plan_.length;
    while (elapsed_ < end && report_.violation.empty()) {
      const Seconds stretch =
          std::min(1s + dice_.seconds(2 * plan_.between_events), std::chrono::ceil<Seconds>(end - elapsed_));
      live(stretch);
      if (!plan_.quiet) happen();
      if (!plan_.quiet && report_.violation.empty()) carry_messages();
      judge();
    }
    if (report_.violation.empty()) carry_all_messages();
    if (plan_.quiet) expect_every_period();
    if (plan_.at_end && daemon_) plan_.at_end(outside_, daemon_->scheduler());
    report_.executions = outside_.witness.executions();
    report_.outcomes = outside_.witness.outcomes();
    report_.paused = outside_.witness.paused_by_failures();
    report_.superseded = outside_.witness.superseded();
    report_.without_slot = outside_.witness.without_slot();
    report_.spread = outside_.witness.spread();
    report_.retried = outside_.witness.retried();
    report_.ruled = outside_.witness.ruled();
    report_.opened = outside_.witness.opened();
    report_.closed = outside_.witness.closed();
    report_.repeated = outside_.witness.repeated();
    report_.late = outside_.witness.late();
    return report_;
  }

 private:
  JobDefinition new_job() {
    JobDefinition definition;
    Job& job = definition.job;
    job.identity = "job/" + std::to_string(++names_);
    redefine(definition);
    definition.action = jobs::Command{"true"};
    return definition;
  }

  void redefine(JobDefinition& definition) {
    Job& job = definition.job;
    const char* schedule = dice_.once_in(25) ? dice_.one_of(kDense) : dice_.one_of(kSchedules);
    if (dice_.once_in(40)) schedule = "@reboot";
    job.schedule = parse_schedule(schedule, job.identity).value();
    job.zone = zones_.find(dice_.one_of(kZones)).value();
    job.window = {dice_.one_of(kModes), parse_duration(dice_.one_of(kWindows)).value()};
    job.policy.deadline = parse_whole_seconds(dice_.one_of(kDeadlines)).value();
    job.policy.concurrency = plan_.quiet ? Concurrency::allow : dice_.one_of(kConcurrencies);
    if (!plan_.quiet) {
      job.policy.pause_after = dice_.one_of(kPausesAfter);
      job.policy.catch_up_spread = dice_.one_of(kSpreads);
    }
    std::string pool = plan_.quiet ? "" : dice_.one_of(kPools);
    jobs::RunOptions options;
    if (!pool.empty()) options.pool = jobs::SlotPool{std::move(pool), 0};
    if (!plan_.quiet) options.notify = any_terms();
    definition.options = std::make_shared<const jobs::RunOptions>(std::move(options));
    size_pool_of(definition);
    job.constraints = {};
    if (dice_.once_in(8)) static_cast<void>(add_clause(job.constraints.avoid, "dow", "SAT,SUN"));
  }

  std::optional<AlarmTerms> any_terms() {
    if (dice_.once_in(4)) return std::nullopt;
    AlarmTerms terms;
    terms.after = dice_.one_of(kAfters);
    terms.repeat = dice_.one_of(kRepeats);
    for (const AlarmKind kind : all_alarm_kinds()) {
      if (!dice_.once_in(5)) terms.on.push_back(kind);
    }
    for (const char* to : {"ops", "team", "pager"}) {
      if (terms.to.empty() || dice_.once_in(2)) terms.to.emplace_back(to);
    }
    return terms;
  }

  // A pool has one size, whoever names it.
  void size_pool_of(JobDefinition& definition) const {
    if (!definition.options->pool) return;
    jobs::RunOptions options = *definition.options;
    options.pool->slots = options.pool->name == "one" ? 1 : slots_of_some_;
    definition.options = std::make_shared<const jobs::RunOptions>(std::move(options));
  }

  Behaviour behaviour() {
    Behaviour b{.runs_for = dice_.seconds(dice_.once_in(20) ? Seconds(30h) : Seconds(10min)),
                .exit_code = static_cast<int>(dice_.upto(3))};
    b.ignores_term = dice_.once_in(10);
    b.unkillable = dice_.once_in(200);
    b.vanishes = dice_.once_in(50);
    if (dice_.once_in(4)) b.attempts = static_cast<std::uint32_t>(2 + dice_.upto(3));
    const bool rule = dice_.once_in(2);  // by its job's rules: what its exit code alone would not say
    if (dice_.once_in(6) && rule != (b.exit_code != 0)) b.failed = rule;
    return b;
  }

  // The daemon lives for this long; when its ledger breaks it is started again, as its supervisor would.
  void live(Seconds time) {
    last_event_ = "living";
    const Nanoseconds before = outside_.clock.boot_time();
    daemon_->run_for(time);
    elapsed_ += outside_.clock.boot_time() - before;
    if (!daemon_->scheduler().broken()) return look_at_who_waits();
    ++report_.broken;
    die();
    restart();
  }

  void judge() {
    daemon_->report_executed();
    file_system_->forget_the_past();
    const std::string& violation = outside_.witness.violation();
    if (violation.empty() || !report_.violation.empty()) return;
    report_.violation = violation + " (at " + rfc3339(now(outside_.clock)) + ", after " + last_event_ + ")";
  }

  // A period waits only while a run is active, or all slots are taken, its job is not paused, and its deadline is not
  // over; or while the disk takes no records, for then neither an end nor an outcome can be told.
  void look_at_who_waits() {
    for (const JobDefinition& definition : outside_.jobs) {
      const std::string& job = definition.job.identity;
      const auto view = daemon_->scheduler().view(job);
      if (!view || !view->queued) continue;
      ++report_.waits;
      const Policy& policy = definition.job.policy;
      const Seconds longest = std::max(policy.deadline, kBusyAllowance) + 1s;
      const bool is_long = !disk_fails_ && now(outside_.clock) - *view->queued->chosen > longest;
      if (view->slot_wait) ++report_.slot_waits;
      const bool waits_for_run = policy.concurrency == Concurrency::queue && !view->known.active.empty();
      const bool has_reason = (view->slot_wait ? disk_fails_ || is_full(view->slot_wait->pool) : waits_for_run) &&
                              !is_suspended(definition.job, view->known.periods, now(outside_.clock));
      if (is_long || !has_reason) {
        outside_.witness.accuse(job + " " + rfc3339(view->queued->nominal) +
                                (is_long ? " waits beyond its deadline" : " waits for nothing") + " at " +
                                rfc3339(now(outside_.clock)) + ", chosen " + rfc3339(*view->queued->chosen) +
                                ", deadline " + duration_text(policy.deadline));
      }
    }
  }

  bool is_full(const std::string& pool) const {
    for (const auto& [use, longest] : daemon_->scheduler().slot_uses()) {
      if (use.pool == pool) return use.used >= use.slots;
    }
    return false;
  }

  // What is owed goes to the queue, in its order, and is then noted as paid; or the daemon dies on the way.
  void carry_messages() {
    if (dice_.once_in(3)) return;
    const auto many = static_cast<std::size_t>(dice_.upto(static_cast<std::int64_t>(outside_.owed.size())));
    carry_messages(dice_.once_in(3) ? many : outside_.owed.size(), true);
  }

  void carry_messages(std::size_t many, bool may_die) {
    const auto end = outside_.owed.begin() + static_cast<std::ptrdiff_t>(many);
    const std::vector<MessageOwed> all(outside_.owed.begin(), end);
    outside_.owed.erase(outside_.owed.begin(), end);
    for (const MessageOwed& owed : all) {
      for (const std::string& to : owed.message.to) {
        outside_.witness.submitted(owed.identity, owed.message, to);
        if (may_die && dice_.once_in(100)) return restarts();
      }
      daemon_->scheduler().note_alarm(owed.identity, {.paid = {key_of(owed.message)}});
    }
  }

  // Given the time, nothing stays owed.
  void carry_all_messages() {
    do {
      carry_messages(outside_.owed.size(), false);
      live(1min);
    } while (!outside_.owed.empty() && report_.violation.empty());
    outside_.witness.check_all_submitted(outside_.jobs);
    for (const JobDefinition& definition : outside_.jobs) {
      const auto record = daemon_->ledger().read(definition.job.identity);
      if (record && record->alarm && !record->alarm->owed.empty()) {
        outside_.witness.accuse(definition.job.identity + ": a message stays owed");
      }
    }
    judge();
  }

  // Somebody finds late what runs or waits; or says so when it has long ended.
  void is_late() {
    const std::vector<JobDefinition> jobs = outside_.jobs;
    for (const JobDefinition& definition : jobs) {
      const std::string& job = definition.job.identity;
      const auto view = daemon_->scheduler().view(job);
      if (!view) continue;
      AlarmSign sign{.kind = AlarmKind::late, .at = now(outside_.clock)};
      const auto& active = view->known.active;
      const bool runs = !active.empty() && active.front().period && active.front().trigger != Trigger::manual;
      if (!runs && !view->held_up && !dice_.once_in(8)) continue;
      if (runs) sign.run_id = active.front().run_id;
      if (runs) sign.period = *active.front().period;
      if (!runs && view->held_up) sign.period = view->held_up->nominal;
      if (!runs && !view->held_up) sign.period = view->known.periods.last_handled.value_or(sign.at);
      daemon_->scheduler().note_alarm(job, {.signs = {sign}});
    }
    if (dice_.once_in(2)) outside_.pass(10min);  // the signs and the ends of the runs share their steps
  }

  // What is on its way to the disk may reach it, and nobody is told.
  void die() {
    daemon_->report_executed();
    if (dice_.once_in(2)) writer_.drop();
    daemon_.reset();
    outside_.owed.clear();
    if (plan_.on_life) plan_.on_life(now(outside_.clock), false);
    report_.unanswered += std::exchange(pending_, 0);
    outside_.runner.daemon_dies();
  }

  void restart() { restart(std::nullopt); }

  void restart(std::optional<Instant> on_time_since) {
    ++report_.restarts;
    if (plan_.on_life) plan_.on_life(now(outside_.clock), true);
    file_system_->fail_when(nullptr);
    auto daemon = Daemon::start(outside_, *file_system_, log_, plan_.mutation, on_time_since);
    if (!daemon) {
      outside_.witness.accuse("the daemon does not start: " + daemon.error().message);
      report_.violation = outside_.witness.violation();
      return;
    }
    daemon_ = *std::move(daemon);
  }

  void happen() {
    ++report_.events;
    using Event = std::pair<const char*, void (Simulation::*)()>;
    static constexpr std::array kEvents{
        Event{"a restart", &Simulation::restarts},
        Event{"downtime", &Simulation::downtime},
        Event{"a power cut", &Simulation::power_cut},
        Event{"a power cut", &Simulation::power_cut},
        Event{"suspend", &Simulation::suspends},
        Event{"resume", &Simulation::resumes},
        Event{"sleep", &Simulation::sleeps},
        Event{"a small jump", &Simulation::small_jump},
        Event{"a jump to 2036", &Simulation::far_jump},
        Event{"a reload", &Simulation::reloads},
        Event{"a reload", &Simulation::reloads},
        Event{"a manual run", &Simulation::triggers},
        Event{"a manual run, twice", &Simulation::triggers_twice},
        Event{"a crowd of requests", &Simulation::crowd_of_requests},
        Event{"a full disk", &Simulation::full_disk},
        Event{"a failing disk", &Simulation::failing_disk},
        Event{"a slow disk", &Simulation::slow_disk},
        Event{"a planned restart", &Simulation::planned_restart},
        Event{"a failed start", &Simulation::start_fails},
        Event{"a stop", &Simulation::stops},
        Event{"a late run", &Simulation::is_late},
        Event{"a late run", &Simulation::is_late},
    };
    const Event& event = dice_.one_of(kEvents);
    (this->*event.second)();
    last_event_ = event.first;
  }

  void restarts() {
    die();
    restart();
  }

  void downtime() {
    die();
    outside_.pass(dice_.seconds(3 * 24h));
    restart();
  }

  // Cut at any call of a busy moment, and one of the disks that may be left.
  void power_cut() {
    ++report_.power_cuts;
    file_system_->cut_power_after(file_system_->changes() + static_cast<std::size_t>(dice_.upto(12)));
    daemon_->run_for(kBusiestFor);
    die();
    const Disk& disk = file_system_->disk();
    const Survivors left = survivors_of(disk, 4, static_cast<std::uint64_t>(dice_.upto(1 << 30)));
    const auto pick = static_cast<std::size_t>(dice_.upto(static_cast<std::int64_t>(left.all.size()) - 1));
    Disk survivor = disk.after_power_cut(left.all[pick].kept, left.all[pick].contents);
    file_system_ = std::make_unique<PowerCutFileSystem>(std::move(survivor));
    outside_.lose_power(dice_.seconds(2h));
    restart();
  }

  std::string any_job() {
    if (outside_.jobs.empty()) return "nobody";
    return outside_.jobs[static_cast<std::size_t>(dice_.upto(static_cast<std::int64_t>(outside_.jobs.size()) - 1))]
        .job.identity;
  }

  // The disk takes its time, in which anything may happen.
  void asks(const std::string& job) {
    outside_.write_takes = dice_.seconds(5s);
    outside_.witness.asked(job);
    ++pending_;
  }
  void is_answered() {
    --pending_;
    ++report_.answers;
  }
  OperatorRequest::Done pause_answer(const std::string& job, bool is_paused) {
    return [this, job, is_paused](const Status& done) {
      is_answered();
      outside_.witness.answered(job, done, is_paused);
    };
  }

  void suspends() {
    const bool ends = dice_.once_in(2);
    const Instant until = now(outside_.clock) + dice_.seconds(24h * 10);
    const std::string job = any_job();
    asks(job);
    daemon_->scheduler().suspend(job, ends ? std::optional(until) : std::nullopt, dice_.once_in(3),
                                 pause_answer(job, true));
  }
  void resumes() {
    for (const JobDefinition& definition : outside_.jobs) {
      const std::string& job = definition.job.identity;
      const auto view = daemon_->scheduler().view(job);
      if (!view || !view->known.periods.suspended) continue;
      asks(job);
      daemon_->scheduler().resume(job, dice_.once_in(3), pause_answer(job, false));
    }
  }
  void triggers() {
    const std::string job = any_job();
    triggers(job, dice_.once_in(2) ? "" : "key" + std::to_string(++keys_));
  }
  // Who was not answered, or has not waited, asks again.
  void triggers_twice() {
    const std::string job = any_job();
    const std::string key = "key" + std::to_string(++keys_);
    triggers(job, key);
    switch (dice_.upto(3)) {
      case 0:
        restarts();
        break;
      case 1:
        power_cut();
        break;
      case 2:
        live(Seconds(3s));
        break;
      default:
        break;
    }
    triggers(job, key);
  }
  void triggers(const std::string& job, const std::string& key) {
    asks(job);
    daemon_->scheduler().trigger(job, key, [this, job](const Result<Triggered>& triggered) {
      is_answered();
      outside_.witness.answered(job, triggered);
    });
  }
  // Several at once, of which some are for the same job, while the daemon is stopped, edited or killed.
  void crowd_of_requests() {
    for (int i = 0; i < 6; ++i) {
      const std::string job = any_job();
      asks(job);
      if (dice_.once_in(2)) {
        daemon_->scheduler().suspend(job, std::nullopt, false, pause_answer(job, true));
      } else {
        daemon_->scheduler().resume(job, false, pause_answer(job, false));
      }
      triggers(job, dice_.once_in(2) ? "" : "key" + std::to_string(++keys_));
    }
    if (dice_.once_in(3)) live(Seconds(3s));
    switch (dice_.upto(3)) {
      case 0:
        return planned_restart();
      case 1:
        return restarts();
      case 2:
        return reloads();
      default:
        return power_cut();
    }
  }
  void stops() { outside_.pass(dice_.seconds(3h)); }
  void sleeps() { outside_.clock.sleep(dice_.seconds(9h)); }
  void small_jump() {
    ++report_.clock_jumps;
    outside_.clock.jump(dice_.seconds(4h) - 2h);
  }
  void far_jump() {
    ++report_.clock_jumps;
    const Nanoseconds away = 24h * 365 * 8;
    outside_.clock.jump(away);
    daemon_->run_for(60s);
    outside_.clock.jump(-away);
  }

  void reloads() {
    std::vector<JobDefinition> jobs = outside_.jobs;
    std::erase_if(jobs, [&](const JobDefinition&) { return dice_.once_in(50); });
    for (const JobDefinition& removed : std::exchange(removed_, {})) jobs.push_back(removed);
    for (const JobDefinition& old : outside_.jobs) {
      const bool kept = std::ranges::any_of(jobs, [&](const auto& j) { return j.job.identity == old.job.identity; });
      if (!kept && dice_.once_in(2)) removed_.push_back(old);  // it will come back
    }
    for (JobDefinition& definition : jobs) {
      if (dice_.once_in(30)) redefine(definition);
    }
    while (static_cast<int>(jobs.size() + removed_.size()) < plan_.jobs) jobs.push_back(new_job());
    if (dice_.once_in(4)) slots_of_some_ = static_cast<std::uint32_t>(1 + dice_.upto(3));
    for (JobDefinition& definition : jobs) size_pool_of(definition);
    if (Status loaded = daemon_->reload(std::move(jobs)); !loaded) {
      outside_.witness.accuse("a reload failed: " + loaded.error().message);
    }
  }

  void full_disk() {
    file_system_->fail_when([](const CallRecord& call) {
      return call.call == Call::write || call.call == Call::create ? Fault::no_space : Fault::none;
    });
    disk_fails_ = true;
    live(Seconds(20min));
    disk_fails_ = false;
    file_system_->fail_when(nullptr);
  }

  void failing_disk() {
    file_system_->fail_change(file_system_->changes() + static_cast<std::size_t>(dice_.upto(40)), Fault::io_error);
    disk_fails_ = true;
    live(Seconds(2h));
    disk_fails_ = false;
    file_system_->fail_when(nullptr);
  }

  // Turns take seconds, and are worked off in slices; but not so many seconds that all jobs together are late.
  void slow_disk() {
    const std::int64_t most = 4'000 / plan_.jobs;
    file_system_->fail_when([this, most](const CallRecord& call) {
      if (call.call == Call::create) outside_.clock.advance(std::chrono::milliseconds(dice_.upto(most)));
      return Fault::none;
    });
    live(Seconds(2h));
    file_system_->fail_when(nullptr);
  }

  void planned_restart() {
    daemon_->scheduler().stop_starting();
    const Instant since = daemon_->scheduler().behind_since();
    die();
    outside_.pass(dice_.seconds(9s));
    restart(std::max(since, now(outside_.clock) - 10s));
  }

  void start_fails() { outside_.runner.fail_next_start({Code::io, "no more processes"}); }

  // Nothing but time has passed: each period whose time has come has its outcome.
  void expect_every_period() {
    const Instant t = now(outside_.clock);
    for (const JobDefinition& definition : outside_.jobs) {
      const Job& job = definition.job;
      const Witness::Facts* facts = outside_.witness.facts(job.identity);
      for (auto p = job.schedule.next_after(kStart - 48h, job.zone); p && *p < t + 48h;
           p = job.schedule.next_after(*p, job.zone)) {
        const Instant due = decide(job, *p).due();
        const bool expected = due >= kStart && due < t;
        const bool found = facts != nullptr && facts->outcomes.contains(*p);
        if (expected && !found) report_.violation = job.identity + " " + rfc3339(*p) + " has no outcome";
      }
    }
  }

  SimulationPlan plan_;
  Dice dice_;
  ZoneDatabase zones_;
  Outside outside_;
  HeardLog log_{outside_.witness};
  std::unique_ptr<PowerCutFileSystem> file_system_ = std::make_unique<PowerCutFileSystem>();
  HeldWriter writer_;
  std::unique_ptr<Daemon> daemon_;
  std::vector<JobDefinition> removed_;
  std::uint32_t slots_of_some_ = 3;
  bool disk_fails_ = false;
  std::size_t pending_ = 0;  // requests that are not answered yet
  int keys_ = 0;
  Nanoseconds elapsed_{0};
  int names_ = 0;
  std::string last_event_ = "the start";
  SimulationReport report_;
};

}  // namespace

SimulationReport simulate(const SimulationPlan& plan) { return Simulation(plan).run(); }

}  // namespace kron::testing
