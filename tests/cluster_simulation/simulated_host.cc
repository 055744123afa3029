#include "simulated_host.h"

#include <algorithm>
#include <utility>

#include "kron/cluster/rundata.h"

namespace kron::testing {
namespace {

using namespace std::chrono_literals;
using cluster::EndCall;

constexpr Seconds kStale{45};

Nanoseconds lease_of(const cluster::Grant& grant, Nanoseconds sent) {
  return sent + grant.ttl - std::min<Nanoseconds>(1s, grant.ttl / 10);
}

}  // namespace

SimulatedHost::SimulatedHost(World world, std::string name, Nanoseconds skew, cluster::Dialect dialect)
    : world_(std::move(world)), name_(std::move(name)), own_clock_(world_.clock, skew), dialect_(dialect) {
  processes.behave([this](const RunSpec& spec) {
    const Nanoseconds time = world_.run_time();
    run_times_[spec.run_id] = time;
    return Behaviour{.runs_for = time};
  });
}

void SimulatedHost::set_terms(const std::vector<ClusterJob>& jobs) {
  cluster::JobTermsTable::Map map;
  for (const ClusterJob& job : jobs) map.emplace(job.definition.job.identity, job.terms);
  terms_.set(std::move(map));
}

bool SimulatedHost::start(const std::vector<ClusterJob>& jobs) {
  const Nanoseconds t = world_.clock.boot_time();
  clock_ = std::make_unique<cluster::ClusterClock>(own_clock_);
  link_ = std::make_unique<cluster::testing::DirectLink>(
      std::make_unique<MutatingConnection>(world_.redis.connection(), world_.mutant), world_.keys, own_clock_);
  ledger_ = std::make_unique<cluster::ClusterLedger>(
      cluster::ClusterLedger::World{.link = *link_,
                                    .keys = world_.keys,
                                    .clock = *clock_,
                                    .log = world_.log,
                                    .grants = grants_,
                                    .terms = terms_,
                                    .instance = [this] { return name_; },
                                    .active_of = [this](std::string_view job) { return active_of(job); },
                                    .on_answer = [this](Written::How how) { ++answers[how]; },
                                    .wait = [this](Nanoseconds time) { world_.wait(*this, time); }},
      cluster::ClusterLedger::Options{.owner = name_ + "-owner", .host = name_, .dialect = dialect_});
  mistaken_ = std::make_unique<MistakenLedger>(*ledger_, world_.mutant);
  link_->on_time = [this](const cluster::TimeSample& sample) { clock_->note(sample); };
  link_->on_lost_writes = [this](const cluster::FenceWatch::Lost& lost) {
    ledger_->assert_what_is_known(lost);
    assert_runs();
  };
  set_terms(jobs);
  link_->look();
  if (!clock_->is_set()) return false;
  auto scheduler =
      std::make_unique<Scheduler>(Scheduler::World{.clock = *clock_,
                                                   .ledger = *mistaken_,
                                                   .runner = *this,
                                                   .log = world_.log,
                                                   .scope =
                                                       [this](const jobs::JobDefinition& definition) {
                                                         const std::string& job = definition.job.identity;
                                                         return terms_.get()->at(job).locked ? job : job + "\n" + name_;
                                                       }},
                                  [](const jobs::JobDefinition& definition, const RunCause& cause) {
                                    return RunSpec{.run_id = cause.run_id, .command = {jobs::command_of(definition)}};
                                  });
  std::vector<jobs::JobDefinition> definitions;
  for (const ClusterJob& job : jobs) definitions.push_back(job.definition);
  if (!scheduler->start(std::move(definitions))) return false;
  scheduler_ = std::move(scheduler);
  // What an earlier daemon could not tell any more.
  std::vector<std::string> untold;
  for (const auto& [run_id, run] : runs_) {
    if (run.is_over) untold.push_back(run_id);
  }
  for (const std::string& run_id : untold) finish(run_id, std::nullopt);
  next_tick_ = next_look_ = next_keep_ = t;
  next_reap_ = t + 30s;
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
  link_.reset();
  clock_.reset();
  for (const auto& [run_id, process] : held_) (void)grants_.take(run_id);
  held_.clear();
  processes.daemon_dies();
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
  if (t >= next_keep_) {
    keep();
    next_keep_ = t + 700ms;
  }
  if (t >= next_reap_) {
    reap();
    next_reap_ = t + 30s;
  }
  if (t < next_tick_ && !processes.has_exits()) return;
  const Wakeup wakeup = scheduler_->tick();
  next_tick_ = t + 1h;
  if (wakeup.at) next_tick_ = t + std::max(*wakeup.at - clock_->wall(), Nanoseconds(0));
  if (wakeup.monotonic) next_tick_ = std::min(next_tick_, std::max(*wakeup.monotonic, t));
  if (wakeup.is_busy) next_tick_ = t;
}

Nanoseconds SimulatedHost::next_turn() const {
  const Nanoseconds next = std::min({next_tick_, next_look_, next_keep_, next_reap_});
  const Nanoseconds t = world_.clock.boot_time();
  if (stopped_until) return std::max(*stopped_until, t);
  return processes.has_exits() ? t : std::max(next, t);
}

void SimulatedHost::enforce_leases() {
  const Nanoseconds t = world_.clock.boot_time();
  for (auto& [run_id, run] : runs_) {
    if (!run.grant.lock_key.empty() && run.lease <= t && run.ends > t) {
      run.ends = t;
      processes.kill(run_id);
    }
  }
}

std::optional<Nanoseconds> SimulatedHost::next_lease() const {
  std::optional<Nanoseconds> next;
  for (const auto& [run_id, run] : runs_) {
    const bool is_over = run.ends <= std::max(run.lease, world_.clock.boot_time());
    if (run.grant.lock_key.empty() || is_over) continue;
    next = std::min(next.value_or(run.lease), run.lease);
  }
  return next;
}

Result<ProcessIdentity> SimulatedHost::start(const RunSpec& spec) {
  Result<ProcessIdentity> process = processes.start(spec);
  if (process) held_[spec.run_id] = *process;
  if (process && world_.mutant == Mutant::gate_before_answer) (void)processes.open_gate(spec.run_id);
  return process;
}

Status SimulatedHost::open_gate(std::string_view run_id) {
  const std::string id(run_id);
  std::optional<cluster::Grant> grant = grants_.take(run_id);
  if (!grant) world_.accuse("run " + id + " was let go and not granted");
  if (!grant) return fail(Code::internal, "no grant");
  SimulatedRun run;
  run.process = held_[id];
  run.lease = lease_of(*grant, grant->sent);
  run.grant = *std::move(grant);
  const Status opened = world_.mutant == Mutant::gate_before_answer ? Status() : processes.open_gate(run_id);
  run.ends = world_.clock.boot_time() + run_times_[id];
  world_.on_start(run);
  runs_[id] = std::move(run);
  held_.erase(id);
  run_times_.erase(id);
  return opened;
}

void SimulatedHost::abandon(std::string_view run_id) {
  held_.erase(std::string(run_id));
  run_times_.erase(std::string(run_id));
  if (world_.mutant == Mutant::gate_before_answer) return processes.kill(run_id);
  processes.abandon(run_id);
}

std::optional<RunExit> SimulatedHost::adopt(std::string_view run_id, const ProcessIdentity& process) {
  std::optional<RunExit> exit = processes.adopt(run_id, process);
  if (exit) finish(std::string(run_id), exit->code);
  return exit;
}

void SimulatedHost::kill(std::string_view run_id) {
  const auto run = runs_.find(std::string(run_id));
  if (run != runs_.end()) run->second.ends = std::min(run->second.ends, world_.clock.boot_time());
  processes.kill(run_id);
}

std::vector<RunExit> SimulatedHost::drain_exits() {
  std::vector<RunExit> exits = processes.drain_exits();
  for (const RunExit& exit : exits) finish(exit.run_id, exit.code);
  return exits;
}

std::vector<ActiveExecution> SimulatedHost::active_of(std::string_view identity) const {
  std::vector<ActiveExecution> active;
  for (const auto& [run_id, run] : runs_) {
    if (run.grant.job != identity || run.is_over) continue;
    active.push_back({.period = run.grant.period,
                      .chosen = run.grant.chosen,
                      .started_at = now(*clock_),
                      .pid = run.process.pid,
                      .process_start = run.process.start_time,
                      .boot_id = run.process.boot_id,
                      .run_id = run_id,
                      .trigger = run.grant.trigger});
  }
  return active;
}

// Told until it is answered; then the host forgets the run.
void SimulatedHost::finish(const std::string& run_id, std::optional<int> code) {
  const auto known = runs_.find(run_id);
  if (known == runs_.end()) return;
  SimulatedRun& run = known->second;
  run.is_over = true;
  run.ends = std::min(run.ends, world_.clock.boot_time());
  const bool is_good = code == 0;
  cluster::BlobParts blob =
      cluster::final_blob(dialect_, {.host = name_,
                                     .job = run.grant.job,
                                     .start_time = run.grant.start_time,
                                     .status = is_good ? cluster::RunStatus::success : cluster::RunStatus::fail,
                                     .retcode = code});
  const EndCall call{.run_id = run_id,
                     .job = run.grant.job,
                     .start_time = run.grant.start_time,
                     .status = is_good ? "success" : "fail",
                     .blob_head = std::move(blob.head),
                     .blob_tail = std::move(blob.tail),
                     .lock_key = run.grant.lock_key,
                     .least_hold = run.grant.least_hold,
                     .output_is_list = dialect_ == cluster::Dialect::cronken,
                     .lines = {}};
  link_->post(call.command(world_.keys), cluster::Link::Urgency::urgent,
              [this, run_id](const cluster::TimedReply& reply) {
                if (reply.reply.is_reply()) runs_.erase(run_id);
              });
}

void SimulatedHost::keep() {
  cluster::KeepCall call;
  for (const auto& [run_id, run] : runs_) {
    if (run.is_over) continue;
    call.runs.push_back(run_id);
    if (!run.grant.lock_key.empty()) call.locks.push_back({run.grant.lock_key, run_id, run.grant.ttl});
  }
  if (call.runs.empty()) return;
  const std::vector<cluster::TimedReply> replies = link_->ask({call.command(world_.keys)}, 3s);
  if (!replies[0].reply.is_reply()) return;
  const Result<cluster::KeepAnswer> answer = cluster::KeepAnswer::parse(replies[0].reply.value);
  if (!answer) return world_.accuse("no answer of keep");
  for (const cluster::KeepCall::Lock& lock : call.locks) {
    const auto run = runs_.find(lock.run_id);
    if (run == runs_.end()) continue;
    const bool is_lost = std::ranges::find(answer->lost, lock.run_id) != answer->lost.end();
    run->second.lease = is_lost ? world_.clock.boot_time() : lease_of(run->second.grant, replies[0].sent);
  }
  enforce_leases();
}

void SimulatedHost::reap() {
  const auto replies = link_->ask({cluster::StaleRunsCall{.age = kStale}.command(world_.keys)}, 3s);
  if (!replies[0].reply.is_reply()) return;
  const Result<cluster::StaleRunsAnswer> stale = cluster::StaleRunsAnswer::parse(replies[0].reply.value);
  if (!stale) return world_.accuse("no answer of stale_runs");
  for (const auto& [run_id, blob] : stale->runs) {
    const Result<cluster::RunData> data = cluster::parse_rundata(blob);
    if (!data) return world_.accuse("a blob that is none: " + blob);
    cluster::BlobParts parts = cluster::final_blob(
        dialect_,
        {.host = data->host, .job = data->job, .start_time = data->start_time, .status = cluster::RunStatus::frozen});
    const EndCall call{.run_id = run_id,
                       .job = data->job,
                       .start_time = data->start_time,
                       .status = "fail",
                       .blob_head = std::move(parts.head),
                       .blob_tail = std::move(parts.tail),
                       .only_if_older = kStale,
                       .lines = {}};
    (void)link_->ask({call.command(world_.keys)}, 3s);
  }
}

void SimulatedHost::assert_runs() {
  for (const auto& [run_id, run] : runs_) {
    if (run.is_over) continue;
    const cluster::AssertCall call{
        .run_id = run_id,
        .owner = name_ + "-owner",
        .fence = run.grant.fence,
        .start_time = run.grant.start_time,
        .blob = cluster::running_blob(dialect_, name_, run.grant.job).with(run.grant.start_time),
        .lock_key = run.grant.lock_key,
        .ttl = run.grant.ttl};
    link_->post(call.command(world_.keys), cluster::Link::Urgency::urgent,
                [this, run_id](const cluster::TimedReply& reply) {
                  if (!reply.reply.is_reply()) return;
                  const Result<cluster::AssertAnswer> answer = cluster::AssertAnswer::parse(reply.reply.value);
                  if (answer && answer->word == cluster::AssertAnswer::Word::taken) kill(run_id);
                });
  }
}

}  // namespace kron::testing
