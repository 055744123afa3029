#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kron/queue/file_queue.h"
#include "kron/queue/memory_queue.h"
#include "kron/queue/queue_questions.h"
#include "kron/queue/queue_thread.h"
#include "kron/queue/task_scans.h"

namespace kron {

// What QueueThread does, in steps and without a thread: answers questions, those of one kind together, and keeps those
// who wait for a lease until there is one. For one thread; callbacks may ask again, but must not call the service.
class QueueService {
 public:
  // All outlive it.
  QueueService(FileSystem& file_system, const Clock& clock, Log& log, QueueThread::Options options);

  void take(Questions questions);

  // Does and answers one group of each kind, and whatever the time asks for. How long until it should be called again
  // though nobody asks: zero, when more is waiting; none: only when somebody does.
  std::optional<Nanoseconds> work();

  // Answers everything that is left with code unreachable.
  void end();

 private:
  Result<TaskQueue*> queue(bool may_make);
  Result<bool> open(bool may_make);

  void open_for_all();
  void open_again();
  void submit();
  void change_tasks();
  void read_tasks();
  void go_on_listing();
  void go_on_pruning();
  void go_on_removing_old();
  void look_at_clock();
  TaskSummary summary() const;
  template <class Request, class Reply, class Perform>
  bool do_together(std::deque<Asked<Request, Result<Reply>>>& asked, std::size_t most, Perform perform);
  template <class Request, class Reply, class Perform>
  bool do_each(std::deque<Asked<Request, Result<Reply>>>& asked, std::size_t most, Perform perform);

  void drop_withdrawn();
  void expire_due();
  void serve_leases();
  std::size_t serve_group(TaskQueue& queue, std::size_t first);
  void give_back(TaskQueue& queue, std::span<const Lease> leases);
  void answer_late_leases();
  void tell_if_stopped();
  bool has_more() const;
  std::optional<Nanoseconds> next_wake() const;

  FileSystem& file_system_;
  const Clock& clock_;
  Log& log_;
  QueueThread::Options options_;
  std::unique_ptr<FileQueue> files_;
  MemoryQueue empty_;             // stands for a directory that is not there
  std::optional<Error> problem_;  // of the last try to open
  bool is_final_ = false;         // and it is not tried again
  bool wants_open_ = false;       // somebody needs it, and it is tried again until it is open
  Nanoseconds try_again_at_{0};   // on Clock::boot_time
  std::optional<Error> refusal_;  // of the last submit, because of the disk …
  Nanoseconds refused_at_{0};     // … and when it was
  bool is_told_ = false;          // that it has stopped
  Questions questions_;
  bool may_be_ready_ = false;       // a task that was not, or one whose type had no room
  Nanoseconds expire_at_{0};        // not before this, on Clock::boot_time
  std::shared_ptr<ListScan> list_;  // of the first of `lists`
  std::optional<PruneScan> prune_;  // of the first of `prunes`
  std::optional<RetentionScan> old_;
  Nanoseconds remove_at_{0};          // the next part of it, or the next time; on Clock::boot_time
  std::optional<Nanoseconds> drift_;  // of the wall clock against Clock::boot_time
};

}  // namespace kron
