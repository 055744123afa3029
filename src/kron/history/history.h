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
#include "kron/history/catch_up.h"

namespace kron::history {

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
  // The newest run or outcome of each of these jobs that has one: of what the history has forgotten, as the job's
  // record in the ledger tells it, with the number 0.
  void last_of(std::vector<std::string> jobs, Answer<std::map<std::string, Entry>> answer);

  // Calls back on the history's thread once all that was added before is on disk, or could not be kept. Never after the
  // history has ended. From any thread.
  void when_written(std::function<void()> call);

  // Returns when all that was added has been written, or could not be, and the history has caught up with the ledger.
  void flush();

 private:
  // Called with the error when there is no index to ask.
  using Question = std::function<void(Result<Archive*>)>;

  History(std::unique_ptr<Archive> archive, std::unique_ptr<CatchUp> catch_up, Log& log,
          std::function<void()> yield_to_starts);

  void ask(Question question);
  void serve(const std::stop_token& stop);
  bool may_write() const;
  bool has_work() const;
  void gather(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  void work(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  Status make_progress(std::vector<Entry>& group, bool may_write, const std::stop_token& stop);
  void drop_beyond_most();
  void tell(const Status& status);
  void tell_written(std::unique_lock<std::mutex>& lock);

  std::unique_ptr<Archive> archive_;
  std::unique_ptr<CatchUp> catch_up_;
  Log& log_;
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
