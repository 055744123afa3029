#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kron/core/evaluate.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/env/process_runner.h"
#include "kron/jobs/definition.h"
#include "kron/ledger/ledger.h"
#include "kron/scheduler/backlog.h"
#include "kron/scheduler/batch_writer.h"
#include "kron/scheduler/event.h"
#include "kron/scheduler/job_table.h"
#include "kron/scheduler/launcher.h"
#include "kron/scheduler/operator_request.h"
#include "kron/scheduler/run_cause.h"
#include "kron/scheduler/slots.h"
#include "kron/scheduler/step.h"
#include "kron/scheduler/timer_heap.h"

namespace kron {

// When the scheduler wants its next turn: at a wall-clock time, or after the monotonic clock has reached a point,
// whichever comes first; or when an exit is waiting.
struct Wakeup {
  std::optional<Instant> at;
  std::optional<Nanoseconds> monotonic;
  std::optional<Instant> due = {};  // when the next is due, which may be past; what is late already does not count
  bool is_busy = false;  // not all that is due has been looked at: `at` is past, so that others are heard, and no more
};

// The loop's body: what is due is evaluated, made durable, and only then let go. It owns no thread, no timer and no
// descriptor; its owner calls tick() when told to. The real daemon and the simulator run this same code.
class Scheduler {
 public:
  using MakeWork = std::function<RunWork(const jobs::JobDefinition&, const RunCause&)>;

  // All of these outlive the scheduler.
  struct World {
    const Clock& clock;
    Ledger& ledger;
    ProcessRunner& runner;
    Log& log;
    // Writes full batches while more runs are prepared, and what operators ask for while the loop goes on. None: the
    // loop writes.
    BatchWriter* writer = nullptr;
    // What an operator has asked for is written, and the next tick answers it; called where the writer works. Its owner
    // calls tick() soon.
    std::function<void()> on_written = {};
    std::vector<Observer> observers = {};  // told in this order, after what happened is durable
    // How long a tick works before it lets its owner hear others; then it ends with the batch that it is at. While jobs
    // are late it is a part of that, and batches are smaller.
    Nanoseconds slice = std::chrono::milliseconds(100);
    // For how long the ends of runs wait while others are due: a crowd is started sooner when nothing is written about
    // those of it that have ended already. A job whose run has ended is not looked at before that is recorded. Zero:
    // ends go first, as they must where another host waits for them.
    Nanoseconds ends_wait{0};
    // Over how long the starts of periods that are found late are spread, where a job's policy does not say it.
    Seconds catch_up_spread{0};
    // How many runs may be active at once, beside what pools say; 0: any number. A task is no run of this host.
    std::size_t max_running = 0;
    // Other hosts start what this one has no slot for: it gives them time before it records a period as missed.
    bool others_may_start = false;
    TaskSubmitter* tasks = nullptr;  // none: a job that submits a task cannot start
    // What run ids are made of in place of the job's identity: several schedulers may each run every period of a job,
    // and no two of these runs may have one id. None: the identity.
    std::function<std::string(const jobs::JobDefinition&)> scope = {};
    // The clock is another machine's, and is put right now and then: what lies between is on time when it goes forward.
    bool clock_is_corrected = false;
  };
  Scheduler(World world, MakeWork make_work);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();  // after the write that is under way; requests that are not answered by then are not answered

  // The jobs at start. Takes up the runs of an earlier daemon, and runs @reboot jobs that this boot has not seen. What
  // became due since `on_time_since` is on time: a planned restart (contract "Which periods are open"). Refused, as by
  // reload: two jobs of one identity, which would run each period twice.
  Status start(std::vector<jobs::JobDefinition> definitions, std::optional<Instant> on_time_since = {});

  // The jobs from now on; only what changed is touched. Runs of removed jobs go on and their end is still recorded.
  // A failure to read the ledger leaves the jobs as they were.
  Status reload(std::vector<jobs::JobDefinition> definitions);

  // The same for some of the jobs, and the others stay: they are added, or are others from now on; or are not wanted
  // any more, as far as they are known. Those that are as they were cost little, so that a long list can be taken in
  // parts between ticks. Of jobs that are added, what became due since `on_time_since` is on time.
  Status put(std::vector<jobs::JobDefinition> definitions, std::optional<Instant> on_time_since = {});
  Status drop(std::span<const std::string> identities);

  // And for one. not_found: it is not known.
  Status put(jobs::JobDefinition definition);
  Status drop(std::string_view identity);

  // A slice of the loop's work (contract "Policy"). All that is due at one moment is a turn and has one `now`, however
  // many ticks it takes; what is due now goes before what is late.
  Wakeup tick();

  // Operator's verbs (scheduler_requests.cc). Each is answered once: when what it has changed is durable, and not
  // before; or at once, when nothing has to be written. The loop need not wait: the record is on its way when they
  // return, World::on_written says when it is written, and the tick that follows lets the run go and answers. Those of
  // one job are judged and answered in the order in which they came, each by what has become of the one before.
  //
  // A run, or why not: not_found, conflict (concurrency forbids it). The same `key` starts at most one run of a job, as
  // long as its record remembers it; empty: a run of its own.
  using Triggered = kron::Triggered;
  void trigger(std::string_view identity, std::string_view key, OperatorRequest::Started answer, Attribution from = {});
  // `skip_missed`: what became due during the pause is recorded as skipped when it ends, and not caught up with.
  // A job that is paused already stays so since when it was, and is paused in these terms from now on.
  void suspend(std::string_view identity, std::optional<Instant> until, bool skip_missed, OperatorRequest::Done answer,
               Attribution from = {});
  void resume(std::string_view identity, bool skip_missed, OperatorRequest::Done answer, Attribution from = {});
  // When it returns all of these are answered, and nobody but the caller uses the ledger.
  void settle_requests();
  // The same for those who have time to wait.
  Result<Triggered> trigger(std::string_view identity, std::string_view key = {});
  Status suspend(std::string_view identity, std::optional<Instant> until, bool skip_missed = false);
  Status resume(std::string_view identity, bool skip_missed = false);

  // Notes in the job's record what its periods do not tell of its alarm: a run that is late, or a message that is in
  // the queue. Durable some time after the next tick; a message that it makes is told as by any step (MessageOwed).
  void note_alarm(std::string_view identity, AlarmNotes notes);

  // Begins the job's record anew (Ledger::reset). Conflict while a run of it is active.
  Status reset(std::string_view identity);
  Status terminate(std::string_view run_id, const Attribution& from = {});
  Status kill(std::string_view run_id, const Attribution& from = {});
  void terminate_all();

  // Why nothing is started any more: the ledger cannot promise durability. The owner must end the process.
  [[nodiscard]] const std::optional<Error>& broken() const { return broken_; }

  // What the ledger has refused is tried again at the next tick, and not after a while: it can write again.
  void look_again();

  // No more starts; runs go on. What is due stays unhandled, for the next daemon. Manual runs that wait are given up,
  // and that is durable when it returns: the next daemon would not know of them. Requests are answered.
  void stop_starting();

  // Since when what became due has not all been started, or looked at: now, for a scheduler that is not busy.
  [[nodiscard]] Instant behind_since() const;

  [[nodiscard]] std::size_t job_count() const { return jobs_.wanted(); }
  [[nodiscard]] std::size_t active_runs() const { return job_of_run_.size(); }
  [[nodiscard]] std::set<std::string> active_run_ids() const;
  [[nodiscard]] bool is_active(const std::string& run_id) const { return job_of_run_.contains(run_id); }

  // What is known now of one job, and durable; nothing when it is not loaded.
  struct View {
    jobs::JobDefinition definition;
    KnownJob known;
    std::optional<Decision> next;
    std::optional<Decision> queued = {};  // it is due, and waits for the active runs to end, or for a slot
    struct SlotWait {
      std::string pool;  // empty: of the host
      Instant since;
    };
    std::optional<SlotWait> slot_wait = {};  // of `queued`, or of a run by hand
    struct SpreadStart {
      Instant period;
      Instant at;
    };
    std::optional<SpreadStart> spread_start = {};  // a period that was found late, and the time that was drawn for it
    // It is due and not started: `queued`, or it waits for a run that it replaces, or was found late and is spread.
    std::optional<Decision> held_up = {};
  };
  [[nodiscard]] std::optional<View> view(std::string_view identity) const;

  // How many slots there are, of what is limited, and who waits.
  struct SlotUse {
    Slots::Use slots;
    std::string longest;  // the job that has waited longest; empty: nobody waits
  };
  [[nodiscard]] std::vector<SlotUse> slot_uses() const;
  [[nodiscard]] bool has_slot_waiters() const { return slots_.has_waiters(); }

  // Jobs that are configured and never run, because their records cannot be used; and why.
  struct Unscheduled {
    jobs::JobDefinition definition;
    std::string reason;
  };
  using UnscheduledJobs = std::map<std::string, Unscheduled, std::less<>>;
  // Whether the job is loaded: scheduled, not scheduled, or removed while a run of it is active.
  [[nodiscard]] bool knows(std::string_view identity) const {
    return jobs_.find(identity).has_value() || unscheduled_.contains(identity);
  }
  [[nodiscard]] const UnscheduledJobs& unscheduled() const { return unscheduled_; }

  // Another number whenever the jobs, or the definition of one, have changed.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

  // Those that are not scheduled too.
  void each_job(const std::function<void(const jobs::JobDefinition&)>& visit) const;

  // Jobs in the order in which they came, a stretch at a time: looks at no more than `most_looks` of them.
  struct Stretch {
    std::size_t first = 0;  // where to go on: `next` of the stretch before
    std::size_t most_views = 100;
    std::size_t most_looks = 10'000;
    std::function<bool(std::string_view identity)> has_name = {};  // asked first; none: any
    std::function<bool(const View&)> is_wanted = {};
  };
  struct Views {
    std::vector<View> views;
    std::optional<std::size_t> next;  // none: these were the last
  };
  [[nodiscard]] Views views(const Stretch& stretch) const;

 private:
  // How many jobs are made durable together at first: few, so that the first gates of a crowd open soon.
  static constexpr std::size_t kFirstBatch = 16;
  // At most: enough to share the syncs.
  static constexpr std::size_t kLargestBatch = 128;
  // A slice ends when its last batch is written, and those who ask wait for that.
  static constexpr std::size_t kLargestBatchOfLate = 32;
  static constexpr int kLateShare = 4;  // of a slice, while some jobs are late

  // How often a job is looked at again in one turn, or a request for it is judged again, because others have changed
  // its record meanwhile.
  static constexpr int kMostRounds = 8;

  // A step that could not be written is tried again after this long.
  static constexpr Seconds kRetry{5};

  // How long the loop may have been busy before what became due meanwhile counts as late.
  static constexpr Seconds kLongestBusy{10};

  // A smaller step of a clock is not told from the time between two looks at two clocks.
  static constexpr Nanoseconds kLeastCorrection = std::chrono::milliseconds(1);

  // What is left of a turn after this long goes to the backlog: what has become due since must not wait for it.
  static constexpr Seconds kFreshTurn{2};

  using JobNumber = JobTable::Number;
  using Entry = JobTable::Entry;

  // Steps on their way to the disk. Their jobs are as they will be when all goes well.
  struct Batch {
    Steps steps;
    std::vector<LedgerStep> records;
    std::vector<OperatorRequest> questions = {};  // of keys, whose runs the ledger may know
    bool is_for_requests = false;                 // nobody waits for it: a tick finds it written
    Nanoseconds took{0};
    std::vector<Written> written = {};  // once the write is finished
    std::atomic<bool> is_written = false;
  };

  // When a job is to be looked at, and whether it has something that is due or late already.
  struct Plan {
    std::optional<Instant> at;
    std::optional<Backlog::Place> backlog;
    bool is_made = false;
  };
  // aside: by the writer, if there is one; for_requests: likewise, and no tick waits for it.
  enum class Where : std::uint8_t { here, aside, for_requests };

  // What becomes of a run that waits. is_passed_over: a later period is late, too, and takes its place.
  enum class WaitFate : std::uint8_t { goes_on, is_over, is_superseded, is_passed_over };

  // What the ledger has said of a run that is to start.
  enum class Verdict : std::uint8_t { none, locked_out, ran };

  // How the set of jobs is to change.
  struct Change {
    std::vector<jobs::JobDefinition> added = {};
    std::vector<JobNumber> edited = {};
    std::vector<jobs::JobDefinition> edits = {};
    std::vector<JobNumber> gone = {};
    UnscheduledJobs unscheduled_before = {};  // which come back if it fails
    std::optional<Instant> on_time_since = {};
  };

  // scheduler_jobs.cc: the set of jobs
  void sort_in(jobs::JobDefinition definition, std::optional<JobNumber> known, Change& change) const;
  Status change_jobs(Change change, Instant now);
  Result<std::vector<JobNumber>> add_all(std::vector<jobs::JobDefinition> definitions, Instant now);
  void plan_all(const std::vector<JobNumber>& jobs, Turn turn);
  static Plan plan_of(const Job& job, const JobState& periods, Turn turn);
  void edit(JobNumber job, jobs::JobDefinition definition);
  void await_next_boot(JobNumber job);
  void drop_unknown(JobNumber job);
  void report_edit(JobNumber job, const std::optional<PassedOver>& late, Instant now);
  void warn_of_records_ahead(const std::vector<JobNumber>& jobs, Instant now);
  void remove(JobNumber job);
  void forget_if_idle(JobNumber job);
  Result<JobNumber> find(std::string_view identity) const;
  std::string scope_of(const jobs::JobDefinition& definition) const;
  View view_of(JobNumber job, Instant t) const;
  [[nodiscard]] KnownJob durable(JobNumber job) const;

  // scheduler_requests.cc: what operators ask for
  void ask(OperatorRequest request);
  void advance_requests();
  void take_written_requests();
  void begin_requests();
  bool judge_request(OperatorRequest request);
  std::optional<Result<Triggered>> judge_start(OperatorRequest& request, OperatorRequest::Start& start, JobNumber job);
  bool judge_pause(OperatorRequest request, JobNumber job);
  Suspension suspension_of(const OperatorRequest::Pause& pause, const Attribution& from,
                           const std::optional<Suspension>& present) const;
  void end_pause_and_skip(JobNumber job);
  [[nodiscard]] bool knows_run(JobNumber job, const std::string& run_id);
  void take_answer_to(OperatorRequest request, JobNumber job, const Written& written);
  Result<Triggered> result_of(const OperatorRequest::Start& start, JobNumber job, const Written& written) const;
  Status have_paused(const OperatorRequest::Pause& pause, JobNumber job, const Written& written);

  // scheduler.cc: the turn
  void begin_slice();
  void note_correction();
  [[nodiscard]] bool is_spent() const { return world_.clock.monotonic() >= slice_ends_; }
  void note_busy();
  bool note_time(Instant now);
  Turn turn_at(Instant now) const;
  Turn turn_of(JobNumber job, Instant now) const;
  bool look_at_what_is_due();
  bool has_due(Instant now);
  void take_up(const TimerHeap::Due& due, Instant now);
  void keep_due(JobNumber job, Instant now);
  bool plan_what_is_ahead_again();
  bool needs_new_plan(JobNumber job, Instant now);
  [[nodiscard]] bool has_backlog() const;
  Wakeup wakeup_after(bool is_busy);

  // scheduler_look.cc: what is due of one job
  bool has_untaken_end(JobNumber job);
  void look_at(JobNumber job, Turn turn);
  void judge(JobNumber job, Turn turn);
  Evaluation evaluate_with_slots(const Entry& entry, Turn turn);
  WaitFate fate_of_waiting(const Entry& entry, Turn turn);
  bool is_spread(JobNumber job, const Decision& period, Turn turn);
  bool carry_out(JobNumber job, const Start& start, Turn turn);
  void plan(JobNumber job, Instant now);
  void plan_after(JobNumber job, Instant now);
  static std::optional<Instant> next_look_at(const Job& job, const JobState& periods, bool has_runs, Instant now);

  // scheduler_commit.cc: what makes a turn durable
  Step& step_for(JobNumber job);
  Step& step_for(JobNumber job, Turn turn);
  bool holds_runs(JobNumber job) const;
  void settle_in_flight(JobNumber job);
  void commit();  // every step is answered when it returns
  void commit_turn();
  Written commit_step(JobNumber job);
  void commit_ends();
  void commit_if_full();  // and lets jobs rest: holders of an entry must wake it again
  void begin_write(Where where);
  std::unique_ptr<Batch> take_written();
  void finish_write();
  void take_answers(Batch& batch);

  // scheduler_answers.cc: what the ledger's answers mean
  void take_answer(Step& step, Written answer);
  void forget_repetition(JobNumber job);
  void let_go(const Step& step);
  void undo(Step& step);
  void adopt(JobNumber job, JobState periods);
  void repeat(Step& step);
  void try_later(Step& step, const Error& why, std::optional<Instant> at);
  void note_again(Step& step, Instant at);
  void take_alarm_notes(Instant t);
  bool redo_ends(JobNumber job);
  void redo_all_ends();
  bool redo(JobNumber job, Turn turn);
  void redo_start(JobNumber job, const RunCause& cause, Turn turn);
  Verdict verdict_on(JobNumber job, const std::string& run_id) const;

  // scheduler_runs.cc: the life of runs
  void recover_runs(const std::vector<JobNumber>& jobs);
  void start_reboot_jobs(Instant now);
  void start_for_boot(JobNumber job, Instant now);
  void start_period(JobNumber job, const Decision& period, Turn turn);
  void start_judged(JobNumber job, const RunCause& cause, Turn turn);
  bool was_let_go_before(JobNumber job, const RunCause& cause, Instant now);
  bool launch(JobNumber job, const RunCause& cause);
  bool ends_may_wait(Instant now);
  void keep_exits(std::vector<RunExit> exits);
  bool take_exits(Instant now);
  void take_exit(const RunExit& exit, Instant now);
  void record(JobNumber job, const Record& outcome, Turn turn);
  void note_failure(JobNumber job, Trigger trigger, const RunExit& exit, Instant now);
  void begin_replace(JobNumber job, RunCause cause);
  void begin_queue(JobNumber job, RunCause cause);
  [[nodiscard]] Nanoseconds patience_of(const Entry& entry) const;
  WaitingRun end_waiting(JobNumber job);
  void drop_waiting(JobNumber job);
  void drop_manual_run(JobNumber job, const std::string& run_id, Reason reason);
  void keep_waiting_if_known(JobNumber job);
  void supersede_waiting(JobNumber job, Turn turn);
  bool settle_waiting(Instant now);
  void settle_waiting(JobNumber job, Turn turn);

  // scheduler_slots.cc: how many run at once
  bool may_start(JobNumber job, const RunCause& cause);
  void begin_slot_wait(JobNumber job, RunCause cause, std::optional<Nanoseconds> give_up_at);
  void keep_slot_wait(JobNumber job);
  bool settle_slots(Instant now);
  void settle_slot(JobNumber job, Instant now);
  void give_up_slot_waits();
  void give_up_boot(JobNumber job, const RunCause& cause);
  void take_slot(const std::string& run_id, JobNumber job);
  void free_slot(const std::string& run_id);
  void move_slots(JobNumber job);

  // scheduler_events.cc: what observers are told
  void notify(const Event& event) const;
  void notify_closed(const Entry& entry, const std::optional<PassedOver>& closed) const;
  static PeriodEnded event_of(const Job& job, const Record& outcome, Instant at);
  static RunStarted event_of(const Job& job, const ActiveExecution& run, const std::optional<Decision>& period);

  World world_;
  MakeWork make_work_;
  Launcher launcher_;
  std::uint64_t generation_ = 1;
  JobTable jobs_;  // those that are removed stay as long as a run of theirs is active
  struct RunPlace {
    JobNumber job;
    Slots::Group* slot;  // null: it has none
  };
  std::unordered_map<std::string, RunPlace> job_of_run_;
  Slots slots_;
  std::set<std::pair<Nanoseconds, JobNumber>> slot_give_ups_;  // of runs that no deadline of a period ends
  bool slots_were_freed_ = false;                              // since those in line were last looked at
  TimerHeap timers_;
  Backlog backlog_{kLongestBusy};
  UnscheduledJobs unscheduled_;
  // Whose waiting run may start, or be given up; a queued period's only once runs ended; none that lacks a slot.
  std::set<JobNumber> waiting_;
  std::unordered_map<JobNumber, View::SpreadStart> spread_;  // late periods that do not start at once
  Steps steps_;
  std::unique_ptr<Batch> in_flight_;
  std::deque<OperatorRequest> requests_;               // not judged yet
  std::vector<OperatorRequest> questions_;             // for the next batch
  std::unordered_map<JobNumber, Repetition> repeats_;  // each is in the backlog, or has a step
  std::set<JobNumber> refused_;                        // they are tried again after a while
  std::size_t batch_size_ = kFirstBatch;
  std::optional<Error> broken_;
  std::deque<RunExit> exits_;                          // not looked at yet
  std::unordered_set<std::string_view> untaken_;       // their run ids
  std::vector<std::pair<JobNumber, Turn>> postponed_;  // due, and one of exits_ is of them
  std::vector<RunExit> unrecorded_exits_;              // their record could not be written; tried again after kRetry
  Instant retry_exits_at_;
  std::vector<std::pair<std::string, AlarmNotes>> alarm_notes_;  // by identity; not noted yet
  Instant alarm_notes_at_ = {};                                  // then they are noted
  std::optional<Turn> turn_;                                     // not all that was due then has been taken up
  Instant taken_up_until_;                    // all that was due by then has been taken up, or is of turn_
  Instant clock_read_;                        // what the clock said last
  std::optional<JobNumber> plan_again_from_;  // the clock went back: jobs from this on are still to be planned anew
  WallTime wall_read_;                        // at the beginning of the last tick, as is the next
  Nanoseconds steady_read_{0};
  Nanoseconds slice_ends_{0};
  Nanoseconds ends_until_{0};      // runs that ended are looked at in this slice
  Nanoseconds busy_since_{0};      // when something was due for the first time since nothing was
  bool ends_are_awaited_ = false;  // something that is due waits for one of exits_ to be recorded
  bool was_busy_ = false;          // when the last tick ended, or since
  bool stopping_ = false;
  std::uint64_t manual_runs_ = 0;
};

}  // namespace kron
