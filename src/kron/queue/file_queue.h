#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/queue/answers.h"
#include "kron/queue/held_lease.h"
#include "kron/queue/id_list.h"
#include "kron/queue/pending_index.h"
#include "kron/queue/renewals.h"
#include "kron/queue/scan_progress.h"
#include "kron/queue/staged_output.h"
#include "kron/queue/task_files.h"
#include "kron/queue/task_queue.h"
#include "kron/queue/token_reserve.h"

namespace kron {

// What a start found and did.
struct RecoveryReport {
  std::size_t pending = 0;    // tasks that wait
  std::size_t kept = 0;       // leases of workers outside: until they end, or after a reboot for one term
  std::size_t aborted = 0;    // attempts that died with the last owner
  std::size_t finalised = 0;  // commits that were finished
  std::size_t doubles = 0;    // copies removed because the same task was further elsewhere
  std::size_t leftovers = 0;  // temporary files removed
  std::size_t set_aside = 0;  // files that are no tasks

  bool operator==(const RecoveryReport&) const = default;
};

// The queue of one machine: seed 002's directories, one process at a time (it holds `lock` in the data directory). In
// memory is only what is needed to choose; the files are the truth, and a start reads them again. After a failed sync
// every verb fails with code io, and the process must start again.
class FileQueue : public TaskQueue {
 public:
  // Recovers before it returns. Code conflict: another process has the directory, or its parts are on different file
  // systems. `path` is absolute; what is missing of it is made. All references outlive the queue. `is_final` is set
  // when a sync failed: then only another process can tell what the disk holds.
  static Result<std::unique_ptr<FileQueue>> open(FileSystem& file_system, const Clock& clock, Log& log,
                                                 std::string_view path, QueueOptions options = {},
                                                 bool* is_final = nullptr);

  using TaskQueue::commit;
  using TaskQueue::lease;
  using TaskQueue::start;
  using TaskQueue::submit;
  std::vector<Result<SubmitAnswer>> submit(std::span<const NewTask> tasks) override;
  std::vector<Result<std::vector<Lease>>> lease(std::span<const LeaseRequest> requests) override;
  std::vector<Result<LeaseOutcome>> start(std::span<const LeaseKey> keys) override;
  Result<LeaseOutcome> renew(const LeaseKey& key) override;
  std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) override;
  std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) override;
  Result<CancelOutcome> cancel(std::string_view task_id) override;
  Result<RetryOutcome> retry(std::string_view task_id, int attempts) override;
  Result<std::vector<Expired>> expire() override;
  Result<Task> get(std::string_view task_id) override;
  std::unique_ptr<ListScan> begin_list(const TaskFilter& filter) override;
  std::unique_ptr<RemovalScan> begin_prune(const PruneRequest& request) override;
  std::unique_ptr<RemovalScan> begin_retention(const TaskRetention& keeps, Instant now) override;
  Result<TaskCounts> counts() override { return counts_now(); }
  Result<TaskSummary> summary() override;
  std::optional<Nanoseconds> next_expiry() const override;
  std::optional<Instant> next_ready() const override { return index_.next_ready(); }
  // Commits that are safe, but could not be finished yet, and tasks whose files could not be read.
  bool has_unfinished() const override { return !unfinished_.empty() || !unread_.empty(); }
  const std::optional<Error>& stopped() const override { return files_.stopped(); }

  const RecoveryReport& recovery() const { return recovery_; }
  std::uint64_t syncs() const { return files_.syncs() + tokens_.syncs() + staged_.syncs(); }

 private:
  using CountOfType = std::map<std::string, int, std::less<>>;

  struct Running {
    HeldLease held;
    std::string type;
    std::string exec_id;
    // What its file in running/ holds, for as long as nobody but us writes there; none: it is read when it is needed.
    std::shared_ptr<const Task> task = {};
  };

  // What memory holds of a task that waits, but for its id.
  struct Waiting {
    std::string type;
    std::string unique_key;
    int priority = 0;
    Instant ready_at;
    std::uint64_t sequence = 0;
  };

  // The names a start finds.
  struct Listing {
    IdList pending;
    IdList running;
    IdList doubled;  // those of them that are in a further directory too
  };

  // What became of one request before anything is written: an answer, and perhaps the task to be written.
  template <class Answer>
  struct Prepared {
    Answer answer;
    std::optional<Task> after = {};
    bool waits = false;  // for those before it in the group to be safe or not
  };

  FileQueue(const Clock& clock, Log& log, QueueOptions options, std::unique_ptr<Directory> directory,
            std::unique_ptr<Lock> lock, TaskFiles files, StagedOutput staged, TokenReserve tokens, Renewals renewals);

  // file_queue.cc
  TaskCounts counts_now() const { return {index_.size() + held_back_.size() + unread_.size(), running_.size()}; }
  Result<std::uint64_t> next_number();
  Result<Task> read(TaskDirectory place, std::string_view task_id);
  Result<std::pair<Task, TaskDirectory>> find(std::string_view task_id);
  Result<std::optional<NewTask>> known(std::string_view task_id);
  std::optional<std::string> holder_of(std::string_view unique_key, std::string_view leaving_out) const;
  Status move(Task after, TaskDirectory from);
  Waiting waiting_part_of(const Task& task) const;
  void note_pending(const Task& task);
  void note_waiting(std::string_view task_id, const Waiting& waiting);
  void note_running(const Task& task, const HeldLease& held);
  void note_over(const Task& task);
  void forget_running(std::string_view task_id);
  void keep_in_memory(const Task& task);
  void drop_from_memory(Running& running);
  Result<Task> running_task(const std::string& task_id);
  void report_damage(TaskDirectory place, std::string_view task_id, const Error& error);
  Status check_room() const;

  // file_queue_leases.cc
  Result<std::pair<Task, LeaseOutcome>> judged(const LeaseKey& key);
  bool has_room_for(std::string_view type, const CountOfType& taken) const;
  void look_again_at_delayed();
  std::vector<Task> take_ready(const LeaseRequest& request, CountOfType& taken);
  void read_later(std::string_view task_id, const Error& error);
  void read_again();
  void note_renewal(const Running& running);
  void note_all_renewals();
  void report_renewals(const Status& noted);
  Result<Move> prepare_lease(const Task& task, const LeaseRequest& request);
  void change_end(const std::string& task_id, Running& running, const HeldLease& held);
  template <class Answer, class Request, class Prepare, class Conclude>
  std::vector<Result<Answer>> grouped(std::span<const Request> requests, Prepare prepare, Conclude conclude);
  Result<Prepared<LeaseOutcome>> prepare_start(const LeaseKey& key);
  Result<Prepared<FailAnswer>> prepare_fail(const FailRequest& request);
  void index_after_write(const Task& task);
  std::vector<std::string> ended() const;

  // file_queue_commits.cc
  Result<Prepared<CommitAnswer>> prepare_commit(const CommitRequest& request);
  Result<FollowUpPlan> plan(const Task& task, const CommitRequest& request);
  bool depends_on_undecided(const CommitRequest& request) const;
  Status stage(const Task& task, const CommitRequest& request);
  void hold_back(const Task& task);
  void withdraw(const Task& task);
  void finish(std::vector<Task> tasks);
  std::vector<Task> with_follow_ups(std::vector<Task> tasks);
  std::vector<Task> with_published_output(std::vector<Task> tasks);
  void complete(const std::vector<Task>& tasks);
  void finish_held_up();

  // file_queue_scans.cc
  class PageOfTasks;
  template <class Progress>
  class Removal;
  Result<std::optional<TaskPage>> go_on(ListProgress& scan);  // nothing: not done yet
  Result<bool> go_on(PruneProgress& scan);                    // true: done
  Result<bool> go_on(RetentionProgress& scan);
  Status look_at_names(ListProgress& scan);
  void look_at_memory(ListProgress& scan);
  Result<bool> look_at_tasks(ListProgress& scan);
  Status remove_completed(std::span<const std::string> task_ids);
  Status count_completed(RetentionProgress& scan);
  Result<bool> is_old(const RetentionProgress& scan, const std::string& task_id, Instant modified);

  // file_queue_recovery.cc
  Status recover();
  Status make_durable_what_is_there();
  Status recover_tokens();
  Status recover_tasks();
  Result<Listing> list_tasks() const;
  Status recover_running(const Listing& listing, std::vector<Task>& committed);
  Status recover_pending(const Listing& listing);
  Status end_orphans();
  Status recover_staging();
  Result<bool> has_further_copy(TaskDirectory place, std::string_view task_id);
  Status skip_damaged(TaskDirectory place, std::string_view task_id, const Error& error);
  void resume(const Task& task, std::vector<Task>& committed);
  HeldLease kept_lease(const Execution& execution);

  const Clock& clock_;
  Log& log_;
  QueueOptions options_;
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<Lock> lock_;
  TaskFiles files_;
  StagedOutput staged_;
  TokenReserve tokens_;
  Renewals renewals_;
  bool renewals_fail_ = false;  // and it was said
  RecoveryReport recovery_;

  PendingIndex index_;
  Instant last_lease_;  // when one was last asked for
  std::unordered_map<std::string, Running> running_;
  std::set<std::pair<Nanoseconds, std::string>> ends_;  // of the leases that can still run out
  CountOfType running_of_type_;
  std::size_t kept_bytes_ = 0;                                              // of the tasks in running_
  std::map<std::pair<std::string, TaskState>, std::size_t> ended_of_type_;  // since the start
  std::map<std::string, std::size_t> cancelled_of_type_;                    // since the start
  std::map<std::string, std::string, std::less<>> keys_;                    // unique key → the task that has it
  std::set<std::string> unfinished_;  // running tasks whose commit is durable: no lease can take them away
  std::set<std::string> undecided_;   // follow-ups of commits that are being written
  std::map<std::string, NewTask, std::less<>> held_back_;  // follow-ups of both
  std::set<std::string, std::less<>> unread_;              // tasks that wait, and whose files could not be read
  std::vector<std::weak_ptr<ListProgress>> lists_;         // under way: they are told what ends meanwhile
  // Only while it recovers.
  std::map<std::string, Nanoseconds, std::less<>> noted_deadlines_;
  bool has_new_terms_ = false;
};

// Opens the FileQueue of `path`, an absolute path. All references outlive the opener and what it opens.
QueueOpener file_queue_opener(FileSystem& file_system, const Clock& clock, Log& log, std::string path,
                              QueueOptions options = {});

}  // namespace kron
