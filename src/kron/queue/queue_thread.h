#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/queue/task_queue.h"

namespace kron {

// The queue of a daemon, on a thread of its own: nobody waits for its disk, and what many ask at once is done together
// and shares its syncs. All verbs may be called from any thread; their callbacks run on the queue's, in the order in
// which questions of one kind came, and answer as TaskQueue does. Code unreachable: the daemon is about to end.
class QueueThread {
 public:
  template <class T>
  using Answer = std::function<void(Result<T>)>;
  using Ticket = std::uint64_t;

  struct Options {
    std::string place;  // where the queue is, for the log: a path
    // Called once, on the queue's thread, when a sync has failed: the daemon must end, and the next one recovers.
    std::function<void(const Error&)> on_stopped = {};
    std::optional<TaskRetention> keeps = {};  // none: finished tasks are kept for ever
  };

  // All, and what the opener refers to, outlive it. The queue is opened when it is there and first needed, and made by
  // the first submit; until then the other verbs find no tasks. While it cannot be opened (another process has it, the
  // disk is full …) every verb is answered with the reason, and it is tried again at most once a second. Where the
  // opener says that its failure is final, it is not tried again.
  QueueThread(QueueOpener open, const Clock& clock, Log& log, Options options);
  ~QueueThread();  // what is under way is finished, the rest is answered unreachable
  QueueThread(const QueueThread&) = delete;
  QueueThread& operator=(const QueueThread&) = delete;

  // Opens the queue now, making it if need be: for a daemon whose jobs submit tasks, before its first one is due.
  // When it cannot be opened, that is the answer, and it is tried again every second until it can.
  void open(std::function<void(Status)> answer);

  void submit(std::vector<NewTask> tasks, std::function<void(std::vector<Result<SubmitAnswer>>)> answer);

  // Waits up to `wait` (at most a minute) for a task to be ready, first come first served. The answer says whether
  // there was anybody to take it: leases that nobody took are given back, and use up no attempt.
  Ticket lease(LeaseRequest request, Seconds wait, std::function<bool(Result<std::vector<Lease>>)> answer);
  void withdraw(Ticket ticket);  // a lease that nobody waits for any more; not answered, if it has not been yet
  // A task of this type (empty: of any) may be ready, because others have changed the queue: who waits for it is asked
  // for again. Nothing is lost without it, but time.
  void wake(std::string type);

  void start(LeaseKey key, Answer<LeaseOutcome> answer);
  void renew(LeaseKey key, Answer<LeaseOutcome> answer);
  void commit(CommitRequest request, Answer<CommitAnswer> answer);
  // A commit, and a lease that does not wait, behind it in the same step: a queue on the other side of a network is
  // asked once for both. The lease is answered after the commit, whatever has become of that.
  void commit_and_lease(CommitRequest request, Answer<CommitAnswer> answer, LeaseRequest then,
                        std::function<bool(Result<std::vector<Lease>>)> leased);
  void fail_attempt(FailRequest request, Answer<FailAnswer> answer);
  void cancel(std::string task_id, Answer<CancelOutcome> answer);
  void retry(std::string task_id, int attempts, Answer<RetryOutcome> answer);
  void get(std::string task_id, Answer<Task> answer);
  // Both are done a part at a time: others are served in between.
  void list(TaskFilter filter, Answer<TaskPage> answer);
  void prune(PruneRequest request, Answer<std::size_t> answer);
  void summary(Answer<TaskSummary> answer);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace kron
