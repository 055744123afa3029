#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kron/history/archive.h"
#include "kron/history/around.h"
#include "kron/history/catch_up.h"
#include "kron/history/past.h"
#include "kron/history/pauses.h"
#include "kron/history/up_times.h"

namespace kron::history {

class PauseFile;
class UpFile;

// Every outcome and run of the last weeks, on a thread of its own: nothing here waits for a disk, whatever becomes of
// it. A disk that fails or is full is told to the log once, and what was added waits in memory until it can be written.
class History {
 public:
  template <class T>
  using Answer = std::function<void(Result<T>)>;

  // Keeps it in <state-dir>/history. Quick: reading, and making the index anew, goes on in the thread, and questions
  // wait for that. `clock` and `log` outlive it and are used by its thread, which calls `yield_to_starts` before each
  // piece of work.
  static Result<std::unique_ptr<History>> open(
      const std::string& state_directory, const runner::Retention& retention, const Clock& clock, Log& log,
      std::function<void()> yield_to_starts = [] {});
  // Writes what is queued.
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // From any thread, and without waiting. The end of a run, which has the run id of its start, completes that; what is
  // known already is no news. Not on disk when it returns: after a crash it comes from the ledger's records.
  void add(Entry entry);

  // From any thread; answered on the history's thread, after what was added before.
  void find(Query query, Answer<std::vector<Entry>> answer);
  void get(std::string run_id, Answer<std::optional<Entry>> answer);
  void find_around(Around around, Answer<std::vector<Entry>> answer);
  // The newest run or outcome of each of these jobs that has one: of what the history has forgotten, as the job's
  // record in the ledger tells it, with the number 0.
  void last_of(std::vector<std::string> jobs, Answer<std::map<std::string, Entry>> answer);

  // The letters of the last outcomes, and the usual length, of each of these jobs; without a look at the disk.
  void recent_of(std::vector<std::string> jobs, Answer<std::map<std::string, Recent>> answer);
  // All jobs whose last outcomes may_be_bad(), also those that krond does not know any more; likewise.
  void bad_jobs(Answer<std::vector<std::string>> answer);
  // The newest entries of each of these jobs, at most `each`, the newest first: meant for some of the bad ones.
  void newest_of(std::vector<std::string> jobs, std::size_t each,
                 Answer<std::map<std::string, std::vector<Entry>>> answer);
  // How the newest run or period of each of these jobs ended, and its newest success; of what the history has
  // forgotten, as the job's record tells it.
  void ends_of(std::vector<std::string> jobs, Answer<std::map<std::string, Ends>> answer);

  // What a picture of a time shows of what was.
  void past(PastQuestion question, Answer<Past> answer);

  // When krond was up, up to now. It begins with the history, and ends with it or when it is told to be over: a krond
  // that only waits for its runs starts nothing. From any thread; answered on the history's thread, at once also where
  // the index cannot be asked.
  void up_times(std::function<void(std::vector<UpTime>)> answer);
  void end_up_time();

  // Pauses of jobs: what operators asked for, once it is durable in the job's record. From any thread, and without
  // waiting; on disk a moment later.
  void begin_pause(Pause pause);
  void end_pause(std::string job, Instant at);
  // The last pauses of a job, the oldest first, as far as they are known; as up_times().
  void pauses_of(std::string job, std::function<void(std::vector<Pause>)> answer);

  // What became of a job on each day (UTC) from `from` up to but without `to`; days without anything are left out.
  void days_of(std::string job, std::chrono::sys_days from, std::chrono::sys_days to,
               Answer<std::vector<DayTotals>> answer);

  // Calls back on the history's thread once all that was added before is on disk, or could not be kept. Never after the
  // history has ended. From any thread.
  void when_written(std::function<void()> call);

  // Returns when all that was added has been written, or could not be, and the history has caught up with the ledger.
  void flush();

 private:
  // Called with the error when there is no index to ask.
  using Question = std::function<void(Result<Archive*>)>;

  History(std::unique_ptr<Archive> archive, std::unique_ptr<CatchUp> catch_up, const Clock& clock, Log& log,
          std::function<void()> yield_to_starts);

  void ask(Question question);
  void serve(const std::stop_token& stop);
  bool may_write() const;
  bool has_work() const;
  void say_that_krond_is_up(std::unique_lock<std::mutex>& lock, Nanoseconds busy);
  void gather(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  void work(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  Status make_progress(std::vector<Entry>& group, bool may_write, const std::stop_token& stop);
  void drop_beyond_most();
  void tell(const Status& status);
  void tell_written(std::unique_lock<std::mutex>& lock);

  std::unique_ptr<Archive> archive_;
  std::unique_ptr<CatchUp> catch_up_;
  const Clock& clock_;
  Log& log_;
  RealFileSystem file_system_;
  std::unique_ptr<UpFile> up_;         // the thread's
  std::unique_ptr<PauseFile> pauses_;  // the thread's
  std::function<void()> yield_to_starts_;
  std::size_t most_;  // entries that wait

  std::mutex mutex_;  // guards what follows
  std::condition_variable_any wake_;
  std::condition_variable flushed_;
  std::deque<Entry> entries_;
  std::vector<Question> questions_;
  std::vector<std::function<void()>> when_written_;
  std::size_t dropped_ = 0;  // not yet told
  int flushes_ = 0;          // that wait
  std::uint64_t rounds_begun_ = 0;
  std::uint64_t round_settled_ = 0;  // the last after which nothing was left to do, or nothing that could be done
  std::optional<std::chrono::steady_clock::time_point> failed_at_;

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace kron::history
