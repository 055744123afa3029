#include <algorithm>
#include <utility>

#include "kron/scheduler/scheduler.h"

namespace kron {
namespace {

// Large enough to share the syncs.
constexpr std::size_t kLargestBatch = 128;

}  // namespace

Scheduler::Step& Scheduler::step_for(JobNumber job) {
  const auto known = std::ranges::find(steps_, job, &Step::job);
  if (known != steps_.end()) return *known;
  const Entry& entry = jobs_.wake(job);
  Step& step = steps_.emplace_back();
  step.job = job;
  step.before = entry.known;
  step.ledger.identity = entry.definition.job.identity;
  step.ledger.history_cap = entry.definition.options->history;
  return step;
}

bool Scheduler::holds_runs(JobNumber job) const {
  const auto known = std::ranges::find(steps_, job, &Step::job);
  return known != steps_.end() && !known->held.empty();
}

// What is said of a job builds on what was said of it before: that must have succeeded, or be undone.
void Scheduler::settle_in_flight(JobNumber job) {
  if (in_flight_ && std::ranges::find(in_flight_->steps, job, &Step::job) != in_flight_->steps.end()) finish_write();
}

void Scheduler::commit() {
  if (!steps_.empty()) begin_write(Where::here);
  finish_write();
}

// While a full batch is on its way to the disk, the processes of the next one are created.
void Scheduler::commit_if_full() {
  if (steps_.size() >= batch_size_) {
    begin_write(world_.writes_aside ? Where::aside : Where::here);
    batch_size_ = std::min(2 * batch_size_, kLargestBatch);
  }
  if (jobs_.is_restless()) jobs_.let_rest();
}

// Nothing of this object is touched by the write, and the ledger by nobody else until it is finished.
void Scheduler::begin_write(Where where) {
  finish_write();
  in_flight_ = std::make_unique<Batch>();
  in_flight_->steps = std::exchange(steps_, {});
  in_flight_->records.reserve(in_flight_->steps.size());
  for (Step& step : in_flight_->steps) {
    step.ledger.now = jobs_.known(step.job);
    std::optional<ScheduleSeen>& schedule = step.ledger.now.periods.schedule;
    if (!schedule) schedule = ScheduleSeen{schedule_hash(jobs_.definition(step.job).job), std::nullopt};
    in_flight_->records.push_back(std::move(step.ledger));
  }
  const auto write = [&world = world_, batch = in_flight_.get()] {
    const Nanoseconds begun = world.clock.monotonic();
    batch->written = world.ledger.write(batch->records);
    batch->took = world.clock.monotonic() - begun;
  };
  if (where == Where::aside) {
    writer_.begin(write);
  } else {
    write();
  }
}

// Lets the runs go whose records are durable. If we die before the write, nothing has happened: the runs die at their
// gates. If we die after it and before a gate opens, that run is recorded as started and never ran: its period is
// executed with an unknown exit code, which is allowed; a second run would not be.
void Scheduler::finish_write() {
  if (!in_flight_) return;
  writer_.finish();
  const std::unique_ptr<Batch> batch = std::exchange(in_flight_, nullptr);
  broken_ = world_.ledger.broken();
  tell(RecordsWritten{batch->records.size(), batch->took});
  for (std::size_t i = 0; i < batch->steps.size(); ++i) {
    Step& step = batch->steps[i];
    const Written& written = batch->written[i];
    if (!written.is_done()) {
      world_.log.error("record_failed", {{"identity", batch->records[i].identity}, {"reason", written.why.message}});
      undo(step);
      forget_if_idle(step.job);
      continue;
    }
    for (const std::string& run_id : step.held) {
      if (const Status opened = world_.runner.open_gate(run_id); !opened) {
        world_.log.error("gate_failed", {{"runId", run_id}, {"reason", opened.error().message}});
      }
    }
    for (const RunExit& exit : step.ended) job_of_run_.erase(exit.run_id);
    for (const auto& say : step.log_lines) say();
    forget_if_idle(step.job);
  }
}

// A step that is not durable has not happened: its runs are ended at their gates, its job is as before.
void Scheduler::undo(Step& step) {
  for (const std::string& run_id : step.held) {
    world_.runner.abandon(run_id);
    job_of_run_.erase(run_id);
  }
  jobs_.wake(step.job).known = std::move(step.before);
  const Instant again = now(world_.clock) + kRetry;
  if (!step.ended.empty()) retry_exits_at_ = again;
  std::ranges::move(step.ended, std::back_inserter(unrecorded_exits_));
  timers_.set(step.job, again);
}

}  // namespace kron
