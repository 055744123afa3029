#include <algorithm>
#include <utility>

#include "kron/scheduler/scheduler.h"

namespace kron {
Step& Scheduler::step_for(JobNumber job) {
  if (Step* known = steps_.find(job)) return *known;
  settle_in_flight(job);
  const Entry& entry = jobs_.wake(job);
  Step& step = steps_.add(job);
  step.before = entry.known;
  step.ledger.identity = entry.definition.job.identity;
  step.ledger.history_cap = entry.definition.options->history;
  if (const auto& options = entry.definition.options; options->notify) {
    step.ledger.alarm_terms = std::shared_ptr<const AlarmTerms>(options, &*options->notify);
  }
  return step;
}

// The step of a job that is judged by `turn`.
Step& Scheduler::step_for(JobNumber job, Turn turn) {
  Step& step = step_for(job);
  step.turn = turn;
  return step;
}

bool Scheduler::holds_runs(JobNumber job) const {
  const Step* step = steps_.find(job);
  return step != nullptr && !step->at_gate.empty();
}

// What is said of a job builds on what was said of it before: that must have succeeded, or be undone.
void Scheduler::settle_in_flight(JobNumber job) {
  if (in_flight_ && in_flight_->steps.contains(job)) finish_write();
}

void Scheduler::commit() {
  if (!steps_.empty()) begin_write(Where::here);
  finish_write();
}

// The same at the end of a turn, which does not wait for what operators have asked for.
void Scheduler::commit_turn() {
  if (steps_.empty() && in_flight_ && in_flight_->is_for_requests) return;
  commit();
}

// As commit(), and what became of the step of this job, which has one.
Written Scheduler::commit_step(JobNumber job) {
  begin_write(Where::here);
  const std::unique_ptr<Batch> batch = take_written();
  const Written answer = batch->written[batch->steps.place_of(job).value()];
  take_answers(*batch);
  return answer;
}

// While a full batch is on its way to the disk, the processes of the next one are created.
void Scheduler::commit_if_full() {
  const std::size_t largest = backlog_.has_late() ? kLargestBatchOfLate : kLargestBatch;
  if (steps_.size() >= std::min(batch_size_, largest)) {
    begin_write(Where::aside);
    batch_size_ = std::min(2 * batch_size_, kLargestBatch);
  }
  if (jobs_.is_restless()) jobs_.let_rest();
}

// Ends are a batch of their own: a step that tells of an end and of a start, and has to be judged again, would find the
// run that ended active, and forbid what is due.
void Scheduler::commit_ends() {
  if (!steps_.empty()) begin_write(Where::aside);
}

// Nothing of this object is touched by the write, and the ledger by nobody else until it is finished.
void Scheduler::begin_write(Where where) {
  const bool is_aside = where != Where::here && world_.writer != nullptr;
  const std::unique_ptr<Batch> before = take_written();
  if (before && !is_aside) take_answers(*before);
  in_flight_ = std::make_unique<Batch>();
  in_flight_->is_for_requests = where == Where::for_requests;
  in_flight_->questions = std::exchange(questions_, {});
  in_flight_->steps = std::exchange(steps_, {});
  in_flight_->records.reserve(in_flight_->steps.size());
  for (Step& step : in_flight_->steps) {
    const Entry& entry = jobs_.wake(step.job);
    step.ledger.now = entry.known;
    std::optional<ScheduleSeen>& schedule = step.ledger.now.periods.schedule;
    if (!schedule) schedule = ScheduleSeen{schedule_hash(entry.definition.job), std::nullopt};
    in_flight_->records.push_back(std::move(step.ledger));
  }
  const auto write = [&world = world_, batch = in_flight_.get()] {
    for (OperatorRequest& request : batch->questions) {
      auto& start = std::get<OperatorRequest::Start>(request.what);
      start.has_run = world.ledger.has_run(request.identity, start.run_id);
    }
    const Nanoseconds begun = world.clock.monotonic();
    if (!batch->records.empty()) batch->written = world.ledger.write(batch->records);
    batch->took = world.clock.monotonic() - begun;
    batch->is_written = true;
    if (batch->is_for_requests && world.on_written) world.on_written();
  };
  if (!is_aside) return write();
  // The gates of one batch open while the next is written.
  world_.writer->begin(write);
  if (before) take_answers(*before);
}

// The batch that was on its way, once its answers are there.
std::unique_ptr<Scheduler::Batch> Scheduler::take_written() {
  if (!in_flight_) return nullptr;
  if (world_.writer != nullptr) world_.writer->finish();
  broken_ = world_.ledger.broken();
  return std::exchange(in_flight_, nullptr);
}

void Scheduler::finish_write() {
  if (const std::unique_ptr<Batch> batch = take_written()) take_answers(*batch);
}

// Lets the runs go whose records are durable. If we die before the write, nothing has happened: the runs die at their
// gates. If we die after it and before a gate opens, that run is recorded as started and never ran: its period is
// executed with an unknown exit code, which is allowed; a second run would not be.
void Scheduler::take_answers(Batch& batch) {
  if (!batch.records.empty()) notify(RecordsWritten{batch.records.size(), batch.took});
  for (std::size_t i = 0; i < batch.steps.size(); ++i) {
    Step& step = batch.steps[i];
    const Written answer = step.request ? batch.written[i] : Written();
    take_answer(step, std::move(batch.written[i]));
    if (step.request) take_answer_to(std::move(*step.request), step.job, answer);
    forget_if_idle(step.job);
  }
  for (OperatorRequest& request : batch.questions) requests_.push_front(std::move(request));
}

}  // namespace kron
