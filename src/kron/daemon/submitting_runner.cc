#include "kron/daemon/submitting_runner.h"

#include <cstdint>
#include <iterator>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utility>

namespace kron::daemon {
namespace {

// sysexits.h: the input was wrong in some way.
constexpr int kRefusedTask = 65;

// Between two tries of what the queue could not take.
constexpr Seconds kBetweenTries{1};

// No process has this PID: it stands for a task in the record of a run.
constexpr pid_t kNoProcess = 0;

// What cannot be watched is found out when the descriptor is.
void watch(const Descriptor& events, const Descriptor& one) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = one.get()}};
  (void)::epoll_ctl(events.get(), EPOLL_CTL_ADD, one.get(), &event);
}

}  // namespace

SubmittingRunner::SubmittingRunner(ProcessRunner& processes, const Clock& clock, Log& log)
    : processes_(processes),
      clock_(clock),
      log_(log),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      wakeups_(::epoll_create1(EPOLL_CLOEXEC)) {
  watch(wakeups_, answers_->event);
  watch(wakeups_, timer_);
}

SubmittingRunner::Answers::Answers() : event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void SubmittingRunner::Answers::ring() {
  const std::uint64_t one = 1;
  (void)::write(event.get(), &one, sizeof one);
}

void SubmittingRunner::Answers::add(std::vector<Due> due, std::vector<Result<SubmitAnswer>> answers) {
  const std::scoped_lock lock(mutex);
  for (std::size_t i = 0; i < due.size(); ++i) waiting.emplace_back(std::move(due[i]), std::move(answers[i]));
  ring();
}

Result<ProcessIdentity> SubmittingRunner::start(const RunSpec& spec) {
  if (!spec.task) return processes_.start(spec);
  if (!submit_) return fail(Code::conflict, "there is no queue to submit the task " + spec.task->id + " to");
  held_.insert_or_assign(spec.run_id, *spec.task);
  return ProcessIdentity{kNoProcess, 0, clock_.boot_id()};
}

void SubmittingRunner::make_due(std::string run_id, TaskToSubmit task) {
  due_.push_back({std::move(run_id), std::move(task)});
  answers_->ring();
}

Status SubmittingRunner::open_gate(std::string_view run_id) {
  const auto held = held_.find(run_id);
  if (held == held_.end()) return processes_.open_gate(run_id);
  make_due(held->first, std::move(held->second));
  held_.erase(held);
  return {};
}

void SubmittingRunner::abandon(std::string_view run_id) {
  const auto held = held_.find(run_id);
  if (held == held_.end()) return processes_.abandon(run_id);
  held_.erase(held);
}

std::optional<RunExit> SubmittingRunner::adopt(std::string_view run_id, const ProcessIdentity& process) {
  return processes_.adopt(run_id, process);
}

std::optional<RunExit> SubmittingRunner::resume(const RunSpec& spec, const ProcessIdentity& process) {
  if (process.pid != kNoProcess) return processes_.adopt(spec.run_id, process);
  if (!spec.task || !submit_) {
    return RunExit{spec.run_id, std::nullopt, "the job submits no task any more; look for it in the queue"};
  }
  make_due(spec.run_id, *spec.task);
  return std::nullopt;
}

std::vector<RunExit> SubmittingRunner::drain_exits() {
  std::vector<RunExit> exits = processes_.drain_exits();
  std::uint64_t count = 0;
  (void)::read(answers_->event.get(), &count, sizeof count);
  (void)::read(timer_.get(), &count, sizeof count);
  if (clock_.monotonic() >= try_again_at_) try_again();
  if (!due_.empty()) submit_due();
  take_answers(exits);
  return exits;
}

// What became due together shares the queue's syncs.
void SubmittingRunner::submit_due() {
  std::vector<NewTask> tasks;
  for (const Due& due : due_) tasks.push_back({.id = due.task.id, .type = due.task.type, .data = due.task.data});
  submit_(std::move(tasks), [answers = answers_, due = std::exchange(due_, {})](auto answered) {
    answers->add(due, std::move(answered));
  });
}

void SubmittingRunner::take_answers(std::vector<RunExit>& exits) {
  const std::scoped_lock lock(answers_->mutex);
  for (const auto& [due, answer] : std::exchange(answers_->waiting, {})) {
    if (std::optional<RunExit> exit = exit_of(due, answer)) exits.push_back(*std::move(exit));
  }
}

std::optional<RunExit> SubmittingRunner::exit_of(const Due& due, const Result<SubmitAnswer>& answer) {
  if (answer) {
    waits_because_.clear();
    // A conflict is ours, too: the job was edited between the submit and its repetition.
    log_.info(
        "task_submitted",
        {{"task", due.task.id}, {"type", due.task.type}, {"runId", due.run_id}, {"outcome", name_of(answer->outcome)}});
    return RunExit{due.run_id, 0, "submitted as task " + due.task.id};
  }
  if (answer.error().code != Code::invalid && answer.error().code != Code::internal) {
    wait_with(due, answer.error());
    return std::nullopt;
  }
  log_.error("task_refused", {{"task", due.task.id}, {"runId", due.run_id}, {"reason", answer.error().message}});
  if (answer.error().code == Code::invalid) return RunExit{due.run_id, kRefusedTask, answer.error().message};
  broken_ = answer.error();
  return std::nullopt;
}

// Said once for each reason, not for every try.
void SubmittingRunner::wait_with(const Due& due, const Error& error) {
  waiting_.push_back(due);
  try_again_at_ = clock_.monotonic() + kBetweenTries;
  const itimerspec at{.it_interval = {}, .it_value = {.tv_sec = kBetweenTries.count(), .tv_nsec = 0}};
  (void)::timerfd_settime(timer_.get(), 0, &at, nullptr);
  if (std::exchange(waits_because_, error.message) == error.message) return;
  log_.error("task_waits", {{"task", due.task.id}, {"runId", due.run_id}, {"reason", error.message}});
}

void SubmittingRunner::try_again() {
  due_.insert(due_.end(), std::move_iterator(waiting_.begin()), std::move_iterator(waiting_.end()));
  waiting_.clear();
}

}  // namespace kron::daemon
