#include "kron/scheduler/fake/daemon.h"

#include <algorithm>
#include <utility>

#include "kron/env/durable.h"
#include "kron/scheduler/log_events.h"
#include "kron/state/names.h"

namespace kron::testing {

// Passes everything on, and tells the witness what came back.
class Daemon::TellingLedger : public Ledger {
 public:
  TellingLedger(Daemon& daemon, Mutation mutation) : daemon_(daemon), mutation_(mutation) {}

  Result<std::vector<KnownJob>> load(std::span<const std::string> identities, Instant now) override {
    auto known = daemon_.ledger_->load(identities, now);
    if (!known) return known;
    for (std::size_t i = 0; i < identities.size(); ++i) {
      const auto record = daemon_.ledger_->read(identities[i]);
      witness().loaded(identities[i], (*known)[i], record ? record->history : std::vector<HistoryEntry>(),
                       record ? record->alarm : std::nullopt);
      if (mutation_ == Mutation::pauses_are_forgotten) (*known)[i].periods.suspended.reset();
    }
    return known;
  }

  Result<KnownJob> reset(std::string_view identity, Instant now, std::string_view boot_id) override {
    return daemon_.ledger_->reset(identity, now, boot_id);
  }

  Result<bool> has_run(std::string_view identity, std::string_view run_id) override {
    return daemon_.ledger_->has_run(identity, run_id);
  }

  std::vector<Written> write(std::span<const LedgerStep> steps) override {
    for (const LedgerStep& step : steps) witness().tried(step);
    std::vector<Written> results = daemon_.ledger_->write(steps);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!results[i].is_done()) continue;
      const auto definition = daemon_.definition_of(steps[i].identity);
      const Job* job = definition ? &definition->job : nullptr;
      witness().wrote(steps[i], job, results[i].owed);
      for (const ActiveExecution& run : steps[i].now.active) {
        const bool is_new = std::ranges::count(steps[i].started, run.run_id, &StartedRun::run_id) != 0;
        if (is_new && job != nullptr) witness().check_spread(steps[i].identity, run, *job);
      }
      if (!steps[i].started.empty()) check_slots(steps[i].identity);
      const bool moves_back = mutation_ == Mutation::last_handled_moves_back;
      if (moves_back && !steps[i].history.empty()) move_back(steps[i].identity);
    }
    return results;
  }

  const std::optional<Error>& broken() const override { return daemon_.ledger_->broken(); }

  void forget_limits() { is_limited_.reset(); }

 private:
  Witness& witness() { return daemon_.outside_.witness; }

  // Jobs without a view are gone, and their runs have the slots that they had.
  void check_slots(const std::string& started) {
    const auto has_pool = [](const jobs::JobDefinition& definition) { return definition.options->pool.has_value(); };
    if (!is_limited_)
      is_limited_ = daemon_.outside_.max_running != 0 || std::ranges::any_of(daemon_.outside_.jobs, has_pool);
    if (!*is_limited_) return;
    witness().check_slots(started, daemon_.outside_.max_running, [this](const std::string& identity) {
      const auto view = daemon_.scheduler_->view(identity);
      return view ? std::optional(view->definition.options->pool) : std::nullopt;
    });
  }

  void move_back(const std::string& identity) {
    StateRecord record = daemon_.ledger_->read(identity).value();
    record.periods.last_handled.reset();
    const auto directory = daemon_.file_system_.open_directory(kStateDirectory).value();
    const std::string name = state_file_name(sha256({identity}));
    static_cast<void>(durable_replace(daemon_.file_system_, *directory, {.name = name, .bytes = state::print(record)}));
  }

  Daemon& daemon_;
  Mutation mutation_;
  std::optional<bool> is_limited_;  // a crowd that is not is not looked through at each start
};

// Lets every run go as soon as it is there.
class Daemon::EagerRunner : public ProcessRunner {
 public:
  explicit EagerRunner(FakeProcessRunner& runner) : runner_(runner) {}

  Result<ProcessIdentity> start(const RunSpec& spec) override {
    auto process = runner_.start(spec);
    if (process) static_cast<void>(runner_.open_gate(spec.run_id));
    return process;
  }
  Status open_gate(std::string_view) override { return {}; }
  void abandon(std::string_view run_id) override { runner_.kill(run_id); }
  std::optional<RunExit> adopt(std::string_view run_id, const ProcessIdentity& process) override {
    return runner_.adopt(run_id, process);
  }
  void terminate(std::string_view run_id) override { runner_.terminate(run_id); }
  void kill(std::string_view run_id) override { runner_.kill(run_id); }
  std::vector<RunExit> drain_exits() override { return runner_.drain_exits(); }

 private:
  FakeProcessRunner& runner_;
};

Daemon::Daemon(Outside& outside, PowerCutFileSystem& file_system, std::unique_ptr<FileLedger> ledger, Log& log,
               Mutation mutation)
    : outside_(outside),
      mutation_(mutation),
      file_system_(file_system),
      ledger_(std::move(ledger)),
      telling_ledger_(std::make_unique<TellingLedger>(*this, mutation)),
      eager_runner_(std::make_unique<EagerRunner>(outside.runner)) {
  ProcessRunner& runner =
      mutation == Mutation::gate_opens_at_start ? static_cast<ProcessRunner&>(*eager_runner_) : outside.runner;
  scheduler_ = std::make_unique<Scheduler>(
      Scheduler::World{.clock = outside.clock,
                       .ledger = *telling_ledger_,
                       .runner = runner,
                       .log = log,
                       .writer = outside.writer,
                       .on_written =
                           [&outside] {
                             if (outside.on_written) outside.on_written();
                           },
                       .observers = {[&outside](const Event& event) {
                                       if (outside.observer) outside.observer(event);
                                     },
                                     logging_to(log)},
                       .ends_wait = outside.ends_wait,
                       .catch_up_spread = outside.catch_up_spread,
                       .max_running = mutation == Mutation::max_running_is_ignored ? 0 : outside.max_running,
                       .scope = outside.scope,
                       .clock_is_corrected = outside.clock_is_corrected},
      [](const jobs::JobDefinition& definition, const RunCause& cause) {
        return RunSpec{.run_id = cause.run_id, .command = {command_of(definition)}, .grace = definition.options->grace};
      });
}

Daemon::~Daemon() = default;

Result<std::unique_ptr<Daemon>> Daemon::start(Outside& outside, PowerCutFileSystem& file_system, Log& log,
                                              Mutation mutation, std::optional<Instant> on_time_since) {
  file_system.set_time(now(outside.clock));
  auto ledger = FileLedger::open(file_system, kStateDirectory, log);
  if (!ledger) return fail(ledger.error());
  outside.witness.restarted();
  std::unique_ptr<Daemon> daemon(new Daemon(outside, file_system, std::move(*ledger), log, mutation));
  if (Status started = daemon->scheduler_->start(daemon->sabotaged(outside.jobs), on_time_since); !started)
    return fail(started.error());
  return daemon;
}

Status Daemon::reload(std::vector<jobs::JobDefinition> jobs) {
  outside_.jobs = std::move(jobs);
  telling_ledger_->forget_limits();
  return scheduler_->reload(sabotaged(outside_.jobs));
}

std::vector<jobs::JobDefinition> Daemon::sabotaged(std::vector<jobs::JobDefinition> jobs) const {
  for (jobs::JobDefinition& definition : jobs) {
    Policy& policy = definition.job.policy;
    const bool overlaps = mutation_ == Mutation::queued_runs_overlap && policy.concurrency == Concurrency::queue;
    if (overlaps) policy.concurrency = Concurrency::allow;
    if (mutation_ == Mutation::spread_is_ignored) policy.catch_up_spread = Seconds(0);
  }
  return jobs;
}

// As the operator has written it; nothing when the job is not wanted any more.
std::optional<jobs::JobDefinition> Daemon::definition_of(const std::string& identity) const {
  auto view = scheduler_->view(identity);
  if (!view) return std::nullopt;
  if (mutation_ == Mutation::none) return std::move(view->definition);
  for (const jobs::JobDefinition& definition : outside_.jobs) {
    if (definition.job.identity == identity) return definition;
  }
  return std::nullopt;
}

void Daemon::run_for(Nanoseconds length) {
  const FakeClock& clock = outside_.clock;
  const Nanoseconds end = clock.boot_time() + length;
  constexpr Nanoseconds kNever = Nanoseconds::max();
  Nanoseconds written_at = kNever;
  while (!scheduler_->broken()) {
    file_system_.set_time(now(clock));
    if (written_at <= clock.monotonic()) {
      outside_.writer->finish();
      written_at = kNever;
    }
    const Wakeup wakeup = scheduler_->tick();
    const bool is_writing = outside_.writer != nullptr && outside_.writer->has_work();
    if (!is_writing) written_at = kNever;
    if (is_writing && written_at == kNever) written_at = clock.monotonic() + outside_.write_takes;
    Nanoseconds wait = end - clock.boot_time();
    const auto sooner = [&](Nanoseconds other) { wait = std::min(wait, std::max(other, Nanoseconds(0))); };
    if (wakeup.at) sooner(*wakeup.at - clock.wall());
    if (wakeup.monotonic) sooner(*wakeup.monotonic - clock.monotonic());
    if (written_at != kNever) sooner(written_at - clock.monotonic());
    if (const auto ends = outside_.runner.next_end()) sooner(*ends);
    if (outside_.runner.has_exits()) wait = Nanoseconds(0);
    outside_.pass(wait);
    if (clock.boot_time() >= end) break;
  }
  if (clock.boot_time() < end) outside_.pass(end - clock.boot_time());
}

void Daemon::report_executed() {
  for (const std::string& run_id : outside_.runner.take_executed()) outside_.witness.executed(run_id);
}

std::map<std::string, std::string> files_of(const Disk& disk, std::string_view directory) {
  std::map<std::string, std::string> files;
  const auto id = disk.find_path(directory);
  if (!id) return files;
  for (const auto& [name, file] : disk.at(*id).entries) {
    if (name != kLockName) files.emplace(name, disk.at(file).data);
  }
  return files;
}

}  // namespace kron::testing
