#include "kron/daemon/queue_submitter.h"

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

// What cannot be watched is found out when the descriptor is.
void watch(const Descriptor& events, const Descriptor& one) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = one.get()}};
  (void)::epoll_ctl(events.get(), EPOLL_CTL_ADD, one.get(), &event);
}

}  // namespace

QueueSubmitter::QueueSubmitter(Submit submit, const Clock& clock, Log& log)
    : submit_(std::move(submit)),
      clock_(clock),
      log_(log),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      wakeups_(::epoll_create1(EPOLL_CLOEXEC)) {
  watch(wakeups_, answers_->event);
  watch(wakeups_, timer_);
}

QueueSubmitter::Answers::Answers() : event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void QueueSubmitter::Answers::ring() {
  const std::uint64_t one = 1;
  (void)::write(event.get(), &one, sizeof one);
}

void QueueSubmitter::Answers::add(std::vector<Due> due, std::vector<Result<SubmitAnswer>> answers) {
  const std::scoped_lock lock(mutex);
  for (std::size_t i = 0; i < due.size(); ++i) waiting.emplace_back(std::move(due[i]), std::move(answers[i]));
  ring();
}

void QueueSubmitter::hold(std::string_view run_id, TaskToSubmit task) {
  held_.insert_or_assign(std::string(run_id), std::move(task));
}

void QueueSubmitter::make_due(std::string run_id, TaskToSubmit task) {
  due_.push_back({std::move(run_id), std::move(task)});
  answers_->ring();
}

void QueueSubmitter::release(std::string_view run_id) {
  const auto held = held_.find(run_id);
  if (held == held_.end()) return;
  make_due(held->first, std::move(held->second));
  held_.erase(held);
}

void QueueSubmitter::abandon(std::string_view run_id) {
  const auto held = held_.find(run_id);
  if (held != held_.end()) held_.erase(held);
}

void QueueSubmitter::resume(std::string_view run_id, TaskToSubmit task) {
  make_due(std::string(run_id), std::move(task));
}

std::vector<RunExit> QueueSubmitter::drain_exits() {
  std::vector<RunExit> exits;
  std::uint64_t count = 0;
  (void)::read(answers_->event.get(), &count, sizeof count);
  (void)::read(timer_.get(), &count, sizeof count);
  if (clock_.monotonic() >= try_again_at_) try_again();
  if (!due_.empty()) submit_due();
  take_answers(exits);
  return exits;
}

// What became due together shares the queue's syncs.
void QueueSubmitter::submit_due() {
  std::vector<NewTask> tasks;
  for (const Due& due : due_) tasks.push_back({.id = due.task.id, .type = due.task.type, .data = due.task.data});
  submit_(std::move(tasks), [answers = answers_, due = std::exchange(due_, {})](auto answered) {
    answers->add(due, std::move(answered));
  });
}

void QueueSubmitter::take_answers(std::vector<RunExit>& exits) {
  const std::scoped_lock lock(answers_->mutex);
  for (const auto& [due, answer] : std::exchange(answers_->waiting, {})) {
    if (std::optional<RunExit> exit = exit_of(due, answer)) exits.push_back(*std::move(exit));
  }
}

std::optional<RunExit> QueueSubmitter::exit_of(const Due& due, const Result<SubmitAnswer>& answer) {
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
void QueueSubmitter::wait_with(const Due& due, const Error& error) {
  waiting_.push_back(due);
  try_again_at_ = clock_.monotonic() + kBetweenTries;
  const itimerspec at{.it_interval = {}, .it_value = {.tv_sec = kBetweenTries.count(), .tv_nsec = 0}};
  (void)::timerfd_settime(timer_.get(), 0, &at, nullptr);
  if (std::exchange(waits_because_, error.message) == error.message) return;
  log_.error("task_waits", {{"task", due.task.id}, {"runId", due.run_id}, {"reason", error.message}});
}

void QueueSubmitter::try_again() {
  due_.insert(due_.end(), std::move_iterator(waiting_.begin()), std::move_iterator(waiting_.end()));
  waiting_.clear();
}

}  // namespace kron::daemon
