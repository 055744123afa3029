#include "simulated_host.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "kron/cluster/reaper.h"

namespace kron::testing {
namespace {

using namespace std::chrono_literals;

// A step of the shipper may give it more to do; what is left waits for the next turn.
constexpr int kShipsAtOnce = 4;

}  // namespace

SimulatedHost::SimulatedHost(World world, std::string name, Nanoseconds skew, cluster::Dialect dialect)
    : machine(world.clock, world.run_time),
      world_(std::move(world)),
      name_(std::move(name)),
      own_clock_(world_.clock, skew),
      dialect_(dialect) {
  std::filesystem::create_directories(world_.directory + "/" + name_);
}

void SimulatedHost::set_terms(const std::vector<ClusterJob>& jobs) {
  cluster::JobTermsTable::Map map;
  for (const ClusterJob& job : jobs) map.emplace(job.definition.job.identity, job.terms);
  terms_.set(std::move(map));
}

bool SimulatedHost::start(const std::vector<ClusterJob>& jobs) {
  set_terms(jobs);
  if (!make_parts()) return false;
  link_->look();
  if (!clock_->is_set() || !start_scheduler(jobs)) return false;
  const Nanoseconds t = world_.clock.boot_time();
  next_tick_ = next_look_ = next_keep_ = next_ship_ = t;
  next_reap_ = t + 30s;
  return true;
}

bool SimulatedHost::make_parts() {
  const std::string directory = world_.directory + "/" + name_;
  const std::string owner = name_ + "-owner";
  Result<cluster::Claims> claims = cluster::Claims::open(directory);
  if (!claims) {
    world_.accuse("no claims: " + claims.error().message);
    return false;
  }
  clock_ = std::make_unique<cluster::ClusterClock>(own_clock_);
  link_ = std::make_unique<cluster::testing::DirectLink>(
      std::make_unique<MutatingConnection>(world_.redis.connection(), world_.mutant), world_.keys, own_clock_);
  grants_ = std::make_unique<cluster::Grants>();
  runs_ = std::make_unique<cluster::ActiveRuns>(*std::move(claims));
  runs_->on_change([this](const cluster::ActiveRuns::Change& change) {
    next_ship_ = Nanoseconds(0);
    if (change.ttl > Nanoseconds(0)) next_keep_ = Nanoseconds(0);
  });
  runner_ = std::make_unique<cluster::ClusterRunner>(
      cluster::ClusterRunner::Parts{.processes = machine,
                                    .grants = *grants_,
                                    .runs = *runs_,
                                    .clock = *clock_,
                                    .host = own_clock_,
                                    .log = world_.log,
                                    .instance = [this] { return name_; },
                                    .exits = [this] { next_tick_ = Nanoseconds(0); }});
  keep_alive_ = std::make_unique<cluster::KeepAlive>(
      *runs_, *link_, world_.keys, own_clock_, world_.log,
      cluster::KeepAlive::Options{
          .owner = owner, .host = name_, .dialect = dialect_, .kill = [this](const ProcessIdentity& helper) {
            machine.kill_helper(helper);
          }});
  shipper_ =
      std::make_unique<cluster::OutputShipper>(*runs_, *link_, world_.keys, own_clock_, world_.log,
                                               cluster::OutputShipper::Options{.runs_directory = directory + "/runs",
                                                                               .host = name_,
                                                                               .instance = [this] { return name_; },
                                                                               .dialect = dialect_});
  shipper_->on_answer([this] { next_ship_ = Nanoseconds(0); });
  cluster::ClusterLedger::Options options{.owner = owner, .host = name_, .dialect = dialect_};
  if (world_.mutant == Mutant::starts_unsettled) options.settling = Nanoseconds(0);
  ledger_ = std::make_unique<cluster::ClusterLedger>(
      cluster::ClusterLedger::World{.link = *link_,
                                    .keys = world_.keys,
                                    .clock = *clock_,
                                    .log = world_.log,
                                    .grants = *grants_,
                                    .terms = terms_,
                                    .instance = [this] { return name_; },
                                    .active_of = [this](std::string_view job) { return runner_->active_of(job); },
                                    .on_lost_write = [this] { ++lost_writes_reported; },
                                    .on_answer = [this](Written::How how) { ++answers[how]; },
                                    .wait = [this](Nanoseconds time) { world_.wait(*this, time); }},
      std::move(options));
  mistaken_ = std::make_unique<MistakenLedger>(*ledger_, world_.mutant);
  link_->on_time = [this](const cluster::TimeSample& sample) { clock_->note(sample); };
  link_->on_lost_writes = [this](const cluster::FenceWatch::Lost& lost) {
    ledger_->assert_what_is_known(lost);
    keep_alive_->assert_runs();
  };
  if (const Status recovered = runner_->recover(); !recovered) {
    world_.accuse("claims cannot be read: " + recovered.error().message);
    return false;
  }
  return true;
}

bool SimulatedHost::start_scheduler(const std::vector<ClusterJob>& jobs) {
  auto scheduler = std::make_unique<Scheduler>(
      Scheduler::World{.clock = *clock_,
                       .ledger = *mistaken_,
                       .runner = *this,
                       .log = world_.log,
                       .scope =
                           [this](const jobs::JobDefinition& definition) {
                             const std::string& job = definition.job.identity;
                             return terms_.find(job).value().locked ? job : job + "\n" + name_;
                           }},
      [](const jobs::JobDefinition& definition, const RunCause& cause) {
        return RunSpec{.run_id = cause.run_id, .command = {jobs::command_of(definition)}};
      });
  std::vector<jobs::JobDefinition> definitions;
  for (const ClusterJob& job : jobs) definitions.push_back(job.definition);
  if (!scheduler->start(std::move(definitions))) return false;
  scheduler_ = std::move(scheduler);
  return true;
}

bool SimulatedHost::reload(const std::vector<ClusterJob>& jobs) {
  set_terms(jobs);
  std::vector<jobs::JobDefinition> definitions;
  for (const ClusterJob& job : jobs) definitions.push_back(job.definition);
  next_tick_ = world_.clock.boot_time();
  return scheduler_->reload(std::move(definitions)).has_value();
}

void SimulatedHost::die() {
  scheduler_.reset();
  mistaken_.reset();
  ledger_.reset();
  shipper_.reset();
  keep_alive_.reset();
  runner_.reset();
  runs_.reset();
  grants_.reset();
  link_.reset();
  clock_.reset();
  machine.daemon_dies();
  stopped_until.reset();
}

void SimulatedHost::turn() {
  const Nanoseconds t = world_.clock.boot_time();
  if (!is_up()) return;
  if (stopped_until && *stopped_until > t) return;
  stopped_until.reset();
  if (t >= next_look_) {
    const bool was_up = link_->is_up();
    link_->look();
    link_->pump();
    if (!was_up && link_->is_up()) scheduler_->look_again();
    next_look_ = t + 1s;
  }
  if (t >= next_keep_) next_keep_ = t + keep_alive_->tick();
  if (t >= next_reap_) {
    (void)cluster::Reaper::reap(*link_, world_.keys, {.dialect = dialect_}, world_.log);
    next_reap_ = t + 30s;
  }
  if (t >= next_tick_ || machine.has_exits()) {
    next_tick_ = t + 1h;
    const Wakeup wakeup = scheduler_->tick();
    if (wakeup.at) next_tick_ = std::min(next_tick_, t + std::max(*wakeup.at - clock_->wall(), Nanoseconds(0)));
    if (wakeup.monotonic) next_tick_ = std::min(next_tick_, std::max(*wakeup.monotonic, t));
    if (wakeup.is_busy) next_tick_ = t;
  }
  ship();
}

// The ends of runs, each of which may be answered at once.
void SimulatedHost::ship() {
  const Nanoseconds t = world_.clock.boot_time();
  for (int i = 0; i < kShipsAtOnce && t >= next_ship_; ++i) {
    next_ship_ = Nanoseconds::max();
    const Nanoseconds next = t + std::min<Nanoseconds>(shipper_->tick(), 1h);
    next_ship_ = std::min(next_ship_, next);
  }
}

Nanoseconds SimulatedHost::next_turn() const {
  const Nanoseconds t = world_.clock.boot_time();
  if (stopped_until) return std::max(*stopped_until, t);
  if (machine.has_exits()) return t;
  return std::max(std::min({next_tick_, next_look_, next_keep_, next_ship_, next_reap_}), t);
}

std::vector<std::pair<std::string, std::string>> SimulatedHost::locks_held() const {
  std::vector<std::pair<std::string, std::string>> held;
  for (const auto& [run_id, lock] : locks_) {
    if (machine.is_running(run_id)) held.emplace_back(run_id, lock);
  }
  return held;
}

Result<ProcessIdentity> SimulatedHost::start(const RunSpec& spec) {
  if (world_.mutant == Mutant::gate_before_answer) machine.let_go_early(spec);
  return runner_->start(spec);
}

Status SimulatedHost::open_gate(std::string_view run_id) {
  Status opened = runner_->open_gate(run_id);
  if (!opened) world_.accuse("run " + std::string(run_id) + " was let go in vain: " + opened.error().message);
  cluster::Grant grant;
  runs_->with(run_id, [&](const cluster::ActiveRun& run) { grant = run.claim.grant; });
  std::erase_if(locks_, [this](const auto& run) { return !machine.is_running(run.first); });
  if (!grant.lock_key.empty()) locks_[grant.run_id] = grant.lock_key;
  if (opened && world_.on_start) world_.on_start(grant);
  return opened;
}

void SimulatedHost::abandon(std::string_view run_id) {
  if (world_.mutant == Mutant::gate_before_answer) machine.kill(run_id);
  runner_->abandon(run_id);
}

std::optional<RunExit> SimulatedHost::adopt(std::string_view run_id, const ProcessIdentity& process) {
  return runner_->adopt(run_id, process);
}

}  // namespace kron::testing
