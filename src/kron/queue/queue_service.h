#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kron/queue/lazy_queue.h"
#include "kron/queue/queue_questions.h"
#include "kron/queue/queue_thread.h"
#include "kron/queue/retention_timer.h"

namespace kron {

// What QueueThread does, in steps and without a thread: answers questions, those of one kind together, and keeps those
// who wait for a lease until there is one. For one thread; callbacks may ask again, but must not call the service.
class QueueService {
 public:
  // `clock` and `log`, and what the opener refers to, outlive it.
  QueueService(QueueOpener open, const Clock& clock, Log& log, QueueThread::Options options);

  void take(Questions questions);

  // Does and answers one group of each kind, and whatever the time asks for. How long until it should be called again
  // though nobody asks: zero, when more is waiting; none: only when somebody does.
  std::optional<Nanoseconds> work();

  // Answers everything that is left with code unreachable.
  void end();

 private:
  static constexpr std::size_t kMostAtOnce = 512;  // tasks that share their syncs

  Result<TaskQueue*> queue(bool may_create);

  void open();
  void part_commits_from_leases();
  void submit();
  std::vector<NewTask> next_submissions();
  void answer_submissions(std::vector<Result<SubmitAnswer>> answers);
  void change_tasks();
  void read_tasks();
  void go_on_listing();
  void go_on_pruning();
  Result<TaskSummary> summary_of(TaskQueue& queue) const;
  template <class Request, class Reply, class Perform>
  bool do_together(std::deque<Asked<Request, Result<Reply>>>& asked, std::size_t most, Perform perform);
  template <class Request, class Reply, class Perform>
  bool do_each(std::deque<Asked<Request, Result<Reply>>>& asked, std::size_t most, Perform perform);

  void tell_if_stopped();
  bool has_more() const;
  std::optional<Nanoseconds> next_wake() const;

  // queue_service_rounds.cc
  void do_round();

  // queue_service_leases.cc
  void drop_withdrawn();
  void expire_due();
  void serve_leases();
  std::size_t serve_group(TaskQueue& queue, std::size_t first);
  std::vector<LeaseRequest> next_leases(std::size_t first) const;
  std::size_t answer_leases(TaskQueue& queue, std::size_t first, std::vector<Result<std::vector<Lease>>> answers);
  void give_back(TaskQueue& queue, std::span<const Lease> leases);
  void answer_late_leases();

  const Clock& clock_;
  std::function<void(const Error&)> on_stopped_;
  LazyQueue queue_;
  RetentionTimer retention_;      // behind the queue that it works on: it goes first
  std::optional<Error> refusal_;  // of the last submit, because of the disk …
  Nanoseconds refused_at_{0};     // … and when it was
  bool is_told_ = false;          // that it has stopped
  Questions questions_;
  bool may_be_ready_ = false;           // a task that was not, or one whose type had no room
  Nanoseconds expire_at_{0};            // not before this, on Clock::boot_time
  std::unique_ptr<ListScan> list_;      // of the first of `lists`
  std::unique_ptr<RemovalScan> prune_;  // of the first of `prunes`
};

}  // namespace kron
