// What operators ask for: first the record, then the answer and the run, and the loop does not wait in between.
//
// A request waits in requests_ until nothing is on its way to the ledger; then it is judged, by what is durable, and
// either answered at once or made a step. The steps of all that waited are one batch. The writer writes it while the
// loop goes on, and the next tick takes the ledger's answers: it lets the runs go and answers those who asked. Of
// requests for one job only the first is judged at a time, so that each builds on what has become of the one before.
// A turn that has records of its own to write waits for the batch before it, as for any other.
//
// If we die before the batch is written, nothing has happened and nobody was told that it has. If we die after it, and
// before the answer, a run stands in the record that never ran, or a pause that nobody was told of: who asks again,
// with the same key, finds it.
#include <unordered_set>
#include <utility>

#include "kron/base/text.h"
#include "kron/scheduler/run_cause.h"
#include "kron/scheduler/scheduler.h"

namespace kron {
namespace {

struct Refusal {
  const Error& why;

  void operator()(const OperatorRequest::Start& start) const { start.answer(fail(why)); }
  void operator()(const OperatorRequest::Pause& pause) const { pause.answer(fail(why)); }
};

std::string name_in(const OperatorRequest& request) { return quoted(request.identity, 200); }

}  // namespace

void Scheduler::ask(OperatorRequest request) {
  requests_.push_back(std::move(request));
  advance_requests();
}

// As far as it goes without waiting.
void Scheduler::advance_requests() {
  take_written_requests();
  while (!in_flight_ && !requests_.empty()) {
    begin_requests();
    take_written_requests();
  }
}

void Scheduler::take_written_requests() {
  if (in_flight_ && in_flight_->is_for_requests && in_flight_->is_written) finish_write();
}

void Scheduler::settle_requests() {
  commit();
  while (!requests_.empty()) {
    begin_requests();
    commit();
  }
}

// Nothing is in flight, and no step is open. Behind one of a job that has something to write the others of that job
// keep their places, and behind a full batch all.
void Scheduler::begin_requests() {
  note_busy();
  std::unordered_set<std::string> on_their_way;  // jobs
  for (OperatorRequest& request : std::exchange(requests_, {})) {
    if (on_their_way.size() >= kLargestBatch || on_their_way.contains(request.identity)) {
      requests_.push_back(std::move(request));
      continue;
    }
    std::string identity = request.identity;
    if (!judge_request(std::move(request))) on_their_way.insert(std::move(identity));
  }
  if (!steps_.empty() || !questions_.empty()) begin_write(Where::for_requests);
  jobs_.let_rest();
}

// False when it is on its way, and answered later.
bool Scheduler::judge_request(OperatorRequest request) {
  const Result<JobNumber> job = find(request.identity);
  if (!job) {
    std::visit(Refusal{job.error()}, request.what);
    return true;
  }
  if (auto* start = std::get_if<OperatorRequest::Start>(&request.what)) {
    const auto answer = judge_start(request, *start, *job);
    if (answer) start->answer(*answer);
    return answer.has_value();
  }
  return judge_pause(std::move(request), *job);
}

// The answer, if it has one already; else the request is in a step, or among the questions.
std::optional<Result<Triggered>> Scheduler::judge_start(OperatorRequest& request, OperatorRequest::Start& start,
                                                        JobNumber job) {
  if (stopping_ || broken()) {
    return fail(Code::conflict, "nothing is started any more: the daemon is about to end");
  }
  const std::string scope = scope_of(jobs_.definition(job));
  const bool has_key = !start.key.empty();
  start.run_id = has_key ? requested_run_id(scope, start.key)
                         : manual_run_id(scope, world_.clock.boot_id(), world_.clock.boot_time(), ++manual_runs_);
  if (has_key && !start.has_run) {
    if (!knows_run(job, start.run_id)) {
      questions_.push_back(std::move(request));
      return std::nullopt;
    }
    start.has_run = true;
  }
  if (start.has_run && !*start.has_run) return fail(start.has_run->error());
  if (start.has_run && **start.has_run) return Triggered{start.run_id, Triggered::How::already_known};
  const Entry& entry = jobs_.wake(job);
  const RunOverlap overlap = overlap_of(entry.definition.job.policy, !entry.known.active.empty());
  if (overlap == RunOverlap::skip) {
    return fail(Code::conflict, "a run of " + name_in(request) + " is active, and its policy forbids another");
  }
  RunCause cause{start.run_id, Trigger::manual, std::nullopt, has_key};
  if (overlap != RunOverlap::start) {
    if (entry.waiting) return fail(Code::conflict, "another run of " + name_in(request) + " waits already");
    if (overlap == RunOverlap::replace) begin_replace(job, std::move(cause));
    if (overlap == RunOverlap::wait) begin_queue(job, std::move(cause));
    notify(RunRequested{request.identity, start.run_id, Triggered::How::waiting, request.from});
    return Triggered{start.run_id, Triggered::How::waiting};
  }
  if (!may_start(job, cause)) {
    const std::string pool(slots_.lacks(*slots_.group_of(entry.definition)));
    const std::string full = pool.empty() ? "as many runs are active as --max-running allows"
                                          : "all slots of the pool " + quoted(pool, 200) + " are taken";
    if (entry.definition.job.policy.deadline == Seconds(0)) {
      return fail(Code::conflict, full + ", and with its deadline of 0s " + name_in(request) + " waits for none");
    }
    if (entry.waiting) return fail(Code::conflict, "another run of " + name_in(request) + " waits already");
    begin_slot_wait(job, std::move(cause), patience_of(entry));
    notify(RunRequested{request.identity, start.run_id, Triggered::How::waiting, request.from});
    return Triggered{start.run_id, Triggered::How::waiting};
  }
  if (!launch(job, cause)) {
    return fail(Code::io, "the run of " + name_in(request) + " could not be started; the log says why");
  }
  Step& step = step_for(job);
  RunRequested requested{request.identity, start.run_id, Triggered::How::started, request.from};
  step.events.insert(step.events.begin(), std::move(requested));  // told before the start
  step.request = std::make_unique<OperatorRequest>(std::move(request));
  return std::nullopt;
}

// Whether it is a run that a repeated request would start again; what has ended, only the ledger knows.
bool Scheduler::knows_run(JobNumber job, const std::string& run_id) {
  const Entry& entry = jobs_.wake(job);
  return job_of_run_.contains(run_id) || (entry.waiting && entry.waiting->cause.run_id == run_id);
}

bool Scheduler::judge_pause(OperatorRequest request, JobNumber job) {
  const auto& pause = std::get<OperatorRequest::Pause>(request.what);
  if (broken()) {
    pause.answer(have_paused(pause, job, Written::refused(*broken())));
    return true;
  }
  Entry& entry = jobs_.wake(job);
  step_for(job);
  const bool was_paused = entry.known.periods.suspended.has_value();
  if (pause.is_over && pause.skip_missed && was_paused) end_pause_and_skip(job);
  Step& step = step_for(job);  // the same one, unless it had to be written first
  std::optional<Suspension>& suspended = entry.known.periods.suspended;
  if (pause.is_over) {
    suspended.reset();
    if (was_paused)
      step.events.emplace_back(JobResumed{request.identity, pause.skip_missed, request.from, now(world_.clock)});
  } else if (const Suspension wanted = suspension_of(pause, request.from, suspended); suspended != wanted) {
    suspended = wanted;
    step.events.emplace_back(JobPaused{request.identity, wanted});
  }
  step.request = std::make_unique<OperatorRequest>(std::move(request));
  return false;
}

// Who asks again, because the answer was lost or to say more about it, does not make it younger.
Suspension Scheduler::suspension_of(const OperatorRequest::Pause& pause, const Attribution& from,
                                    const std::optional<Suspension>& present) const {
  const Instant t = now(world_.clock);
  const bool lasts = present && (!present->until || *present->until > t);
  return {lasts ? present->since : t, pause.until, pause.skip_missed, from.by, from.note};
}

// As if the pause had been meant to end now. One step with its end: durable together or not at all.
void Scheduler::end_pause_and_skip(JobNumber job) {
  const Instant t = now(world_.clock);
  Suspension& pause = *jobs_.wake(job).known.periods.suspended;
  pause.until = t;
  pause.skip_missed = true;
  look_at(job, Turn::at(t));
}

// Others may have changed the record meanwhile: then it is judged again, before what came later.
void Scheduler::take_answer_to(OperatorRequest request, JobNumber job, const Written& written) {
  using How = Written::How;
  const auto* start = std::get_if<OperatorRequest::Start>(&request.what);
  const bool is_overtaken =
      written.how == How::newer || (start == nullptr && (written.how == How::held || written.how == How::ran));
  if (is_overtaken && ++request.rounds <= kMostRounds) return requests_.push_front(std::move(request));
  if (start != nullptr) return start->answer(result_of(*start, job, written));
  const auto& pause = std::get<OperatorRequest::Pause>(request.what);
  pause.answer(have_paused(pause, job, written));
}

Result<Triggered> Scheduler::result_of(const OperatorRequest::Start& start, JobNumber job,
                                       const Written& written) const {
  const std::string name = quoted(jobs_.identity(job), 200);
  switch (written.how) {
    case Written::How::done:
      return Triggered{start.run_id, Triggered::How::started};
    case Written::How::ran:
      return Triggered{start.run_id, Triggered::How::already_known};
    case Written::How::held:
      return fail(Code::conflict, "the lock of " + name + " is held by the run " + written.run_id);
    case Written::How::newer:
      return fail(Code::conflict, "others keep changing the record of " + name + ", so it was not run; try again");
    case Written::How::refused:
      return fail(Code::io, "the start of " + name + " could not be recorded, so it was not run");
    case Written::How::unknown:
      break;
  }
  return fail(Code::io, "whether the start of " + name + " is recorded is not known, so it was not run");
}

Status Scheduler::have_paused(const OperatorRequest::Pause& pause, JobNumber job, const Written& written) {
  const std::string name = quoted(jobs_.identity(job), 200);
  if (written.how == Written::How::unknown) {
    return fail(Code::io, "whether the state of " + name + " was written is not known; look at it, and ask again");
  }
  if (!written.is_done()) {
    return fail(Code::io, "the state of " + name + " could not be written; nothing has changed");
  }
  // Nothing triggers while suspended, not even what only waits for its place; its period is late on resume.
  const Entry& entry = jobs_.wake(job);
  if (!pause.is_over && entry.waiting && entry.waiting->cause.period) drop_waiting(job);
  spread_.erase(job);
  plan(job, now(world_.clock));
  return {};
}

void Scheduler::trigger(std::string_view identity, std::string_view key, OperatorRequest::Started answer,
                        Attribution from) {
  ask({std::string(identity), OperatorRequest::Start{std::string(key), std::move(answer)}, std::move(from)});
}

void Scheduler::suspend(std::string_view identity, std::optional<Instant> until, bool skip_missed,
                        OperatorRequest::Done answer, Attribution from) {
  ask({std::string(identity), OperatorRequest::Pause{false, until, skip_missed, std::move(answer)}, std::move(from)});
}

void Scheduler::resume(std::string_view identity, bool skip_missed, OperatorRequest::Done answer, Attribution from) {
  ask({std::string(identity), OperatorRequest::Pause{true, std::nullopt, skip_missed, std::move(answer)},
       std::move(from)});
}

Result<Triggered> Scheduler::trigger(std::string_view identity, std::string_view key) {
  Result<Triggered> answer = fail(Code::internal, "no answer");
  trigger(identity, key, [&](const Result<Triggered>& given) { answer = given; });
  settle_requests();
  return answer;
}

Status Scheduler::suspend(std::string_view identity, std::optional<Instant> until, bool skip_missed) {
  Status answer;
  suspend(identity, until, skip_missed, [&](const Status& given) { answer = given; });
  settle_requests();
  return answer;
}

Status Scheduler::resume(std::string_view identity, bool skip_missed) {
  Status answer;
  resume(identity, skip_missed, [&](const Status& given) { answer = given; });
  settle_requests();
  return answer;
}

}  // namespace kron
