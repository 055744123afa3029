#include "kron/history/history.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "kron/env/durable.h"
#include "kron/env/thread_start.h"
#include "kron/env/work_thread.h"
#include "kron/history/pause_file.h"
#include "kron/history/up_file.h"

namespace kron::history {
namespace {

constexpr std::size_t kGroup = 4096;
constexpr std::chrono::seconds kPause{5};  // after a failure

// What comes within this time is written together, unless somebody waits for it: then the journal is synced less often,
// and a short run is one entry. Long enough for the turn that starts a run to have the processors, too.
constexpr std::chrono::milliseconds kGather{250};

const Error kNotReady{Code::unreachable, "the history's index is being made anew; ask again"};

}  // namespace

Result<std::unique_ptr<History>> History::open(const std::string& state_directory, const runner::Retention& retention,
                                               const Clock& clock, Log& log, std::function<void()> yield_to_starts) {
  Result<std::unique_ptr<Archive>> archive = Archive::open(state_directory + "/history", retention, clock, log);
  if (!archive) return fail(archive.error());
  // Now, when nobody writes there yet.
  std::ignore = remove_leftovers((*archive)->journal().directory());
  Result<std::unique_ptr<CatchUp>> catch_up = CatchUp::begin(state_directory, (*archive)->journal());
  if (!catch_up) return fail(catch_up.error());
  return with_thread("the history", [&] {
    return std::unique_ptr<History>(
        new History(*std::move(archive), *std::move(catch_up), clock, log, std::move(yield_to_starts)));
  });
}

History::History(std::unique_ptr<Archive> archive, std::unique_ptr<CatchUp> catch_up, const Clock& clock, Log& log,
                 std::function<void()> yield_to_starts)
    : archive_(std::move(archive)),
      catch_up_(std::move(catch_up)),
      clock_(clock),
      log_(log),
      up_(std::make_unique<UpFile>(file_system_, archive_->journal().directory(), clock_, log_)),
      pauses_(std::make_unique<PauseFile>(file_system_, archive_->journal().directory(), log_)),
      yield_to_starts_(std::move(yield_to_starts)),
      most_(std::max<std::size_t>(archive_->retention().most, 1)),
      thread_([this](const std::stop_token& stop) { serve(stop); }) {}

History::~History() = default;

void History::add(Entry entry) {
  const std::scoped_lock lock(mutex_);
  entries_.push_back(std::move(entry));
  drop_beyond_most();
  // In between it waits for more of them.
  if (entries_.size() == 1 || entries_.size() >= kGroup) wake_.notify_one();
}

void History::drop_beyond_most() {
  while (entries_.size() > most_) {
    entries_.pop_front();
    ++dropped_;
  }
}

void History::ask(Question question) {
  const std::scoped_lock lock(mutex_);
  questions_.push_back(std::move(question));
  wake_.notify_one();
}

void History::find(Query query, Answer<std::vector<Entry>> answer) {
  ask([query = std::move(query), answer = std::move(answer)](Result<Archive*> archive) {
    if (!archive) return answer(fail(archive.error()));
    answer((*archive)->ask([&](Index& index) { return index.find(query); }));
  });
}

void History::find_around(Around around, Answer<std::vector<Entry>> answer) {
  ask([around = std::move(around), answer = std::move(answer)](Result<Archive*> archive) {
    if (!archive) return answer(fail(archive.error()));
    answer((*archive)->ask([&](Index& index) { return entries_around(index, around); }));
  });
}

void History::get(std::string run_id, Answer<std::optional<Entry>> answer) {
  ask([key = key_of({.job = {}, .run_id = std::move(run_id)}), answer = std::move(answer)](Result<Archive*> archive) {
    if (!archive) return answer(fail(archive.error()));
    answer((*archive)->ask([&](Index& index) { return index.with_key(key); }));
  });
}

void History::last_of(std::vector<std::string> jobs, Answer<std::map<std::string, Entry>> answer) {
  ask([this, jobs = std::move(jobs), answer = std::move(answer)](Result<Archive*> archive) {
    if (!archive) return answer(fail(archive.error()));
    auto last = (*archive)->ask([&](Index& index) { return index.last_of(jobs); });
    if (!last) return answer(std::move(last));
    for (const std::string& job : jobs) {
      if (last->contains(job)) continue;
      if (auto entry = last_in_record(catch_up_->state(), job)) last->emplace(job, *std::move(entry));
    }
    answer(std::move(last));
  });
}

void History::recent_of(std::vector<std::string> jobs, Answer<std::map<std::string, Recent>> answer) {
  ask([jobs = std::move(jobs), answer = std::move(answer)](Result<Archive*> archive) {
    if (!archive) return answer(fail(archive.error()));
    std::map<std::string, Recent> recent;
    for (const std::string& job : jobs) recent.emplace(job, (*archive)->recent().of(job));
    answer(std::move(recent));
  });
}

void History::bad_jobs(Answer<std::vector<std::string>> answer) {
  ask([answer = std::move(answer)](Result<Archive*> archive) {
    if (!archive) return answer(fail(archive.error()));
    answer((*archive)->recent().bad_jobs());
  });
}

void History::newest_of(std::vector<std::string> jobs, std::size_t each,
                        Answer<std::map<std::string, std::vector<Entry>>> answer) {
  ask([jobs = std::move(jobs), each, answer = std::move(answer)](Result<Archive*> archive) {
    if (!archive) return answer(fail(archive.error()));
    answer((*archive)->ask([&](Index& index) { return index.newest_of(jobs, each); }));
  });
}

void History::past(PastQuestion question, Answer<Past> answer) {
  ask([question = std::move(question), answer = std::move(answer)](Result<Archive*> archive) {
    if (!archive) return answer(fail(archive.error()));
    answer(past_of(**archive, question));
  });
}

void History::up_times(std::function<void(std::vector<UpTime>)> answer) {
  ask([this, answer = std::move(answer)](const Result<Archive*>&) { answer(up_->all()); });
}

void History::end_up_time() {
  ask([this, at = now(clock_)](const Result<Archive*>&) { up_->stop(at); });
}

void History::begin_pause(Pause pause) {
  ask([this, pause = std::move(pause)](const Result<Archive*>&) { pauses_->begin(pause); });
}

void History::end_pause(std::string job, Instant at) {
  ask([this, job = std::move(job), at](const Result<Archive*>&) { pauses_->end(job, at); });
}

void History::pauses_of(std::string job, std::function<void(std::vector<Pause>)> answer) {
  ask([this, job = std::move(job), answer = std::move(answer)](const Result<Archive*>&) {
    answer(pauses_->all().of(job));
  });
}

void History::days_of(std::string job, std::chrono::sys_days from, std::chrono::sys_days to,
                      Answer<std::vector<DayTotals>> answer) {
  ask([job = std::move(job), from, to, answer = std::move(answer)](Result<Archive*> archive) {
    if (!archive) return answer(fail(archive.error()));
    answer((*archive)->ask([&](Index& index) { return index.days_of(job, from, to); }));
  });
}

void History::ends_of(std::vector<std::string> jobs, Answer<std::map<std::string, Ends>> answer) {
  ask([this, jobs = std::move(jobs), answer = std::move(answer)](Result<Archive*> archive) {
    if (!archive) return answer(fail(archive.error()));
    auto ends = (*archive)->ask([&](Index& index) { return index.ends_of(jobs); });
    if (!ends) return answer(std::move(ends));
    for (const std::string& job : jobs) {
      if (ends->contains(job)) continue;
      auto entry = last_in_record(catch_up_->state(), job);
      if (!entry) continue;
      Ends& known = (*ends)[job];
      if (result_of(*entry) == RunResult::succeeded) known.success = entry;
      known.last = *std::move(entry);
    }
    answer(std::move(ends));
  });
}

void History::when_written(std::function<void()> call) {
  const std::scoped_lock lock(mutex_);
  when_written_.push_back(std::move(call));
  wake_.notify_one();
}

void History::tell_written(std::unique_lock<std::mutex>& lock) {
  const auto calls = std::exchange(when_written_, {});
  lock.unlock();
  for (const auto& call : calls) call();
  lock.lock();
}

void History::flush() {
  std::unique_lock lock(mutex_);
  ++flushes_;
  wake_.notify_one();
  // A round that has begun already may have missed what was added since.
  flushed_.wait(lock, [this, begun = rounds_begun_] { return round_settled_ > begun; });
  --flushes_;
}

// Of a disk that failed nothing is asked for a while.
bool History::may_write() const {
  return !failed_at_ || flushes_ > 0 || std::chrono::steady_clock::now() - *failed_at_ >= kPause;
}

bool History::has_work() const {
  if (!questions_.empty() || flushes_ > 0) return true;
  return may_write() && (!entries_.empty() || !when_written_.empty() || !catch_up_->is_done());
}

void History::serve(const std::stop_token& stop) {
  become_background_thread();
  yield_to_starts_();
  up_->begin();
  pauses_->read();
  std::unique_lock lock(mutex_);
  const auto has_something = [this] { return has_work(); };
  while (!stop.stop_requested()) {
    const Nanoseconds beat = up_->until_next_beat();
    wake_.wait_for(lock, stop, failed_at_ ? std::min<Nanoseconds>(beat, kPause) : beat, has_something);
    gather(lock, stop);
    const Nanoseconds began = clock_.monotonic();
    if (has_work()) work(lock, stop);
    say_that_krond_is_up(lock, clock_.monotonic() - began);
  }
  failed_at_.reset();
  do work(lock, stop);
  while (!entries_.empty() && !failed_at_);
  // What is left is told by the ledger's records at the next start.
  if (!entries_.empty()) log_.warning("history_dropped", {{"count", static_cast<std::int64_t>(entries_.size())}});
  up_->stop(now(clock_));
}

// `busy`: for so long the thread has worked before.
void History::say_that_krond_is_up(std::unique_lock<std::mutex>& lock, Nanoseconds busy) {
  if (up_->until_next_beat() > Nanoseconds(0)) return;
  lock.unlock();
  yield_to_starts_();
  up_->beat(busy);
  lock.lock();
}

void History::gather(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  const auto is_awaited = [this] {
    return !questions_.empty() || flushes_ > 0 || !when_written_.empty() || entries_.size() >= kGroup;
  };
  if (catch_up_->is_done()) wake_.wait_for(lock, stop, kGather, is_awaited);
}

void History::work(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  lock.unlock();
  yield_to_starts_();
  lock.lock();
  const std::uint64_t round = ++rounds_begun_;
  const bool tries = may_write();
  const std::size_t size = tries ? std::min(entries_.size(), kGroup) : 0;
  const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(size);
  std::vector<Entry> group(std::move_iterator(entries_.begin()), std::move_iterator(end));
  entries_.erase(entries_.begin(), end);
  // A question waits for what was added before it, but not for a disk that fails.
  std::vector<Question> questions;
  if (entries_.empty() || !tries) questions.swap(questions_);
  lock.unlock();
  join_starts_with_ends(group);
  const Status status = make_progress(group, tries, stop);
  for (const Question& question : questions) {
    yield_to_starts_();
    question(archive_->is_ready() ? Result<Archive*>(archive_.get()) : fail(status ? kNotReady : status.error()));
  }
  pauses_->write_changes();
  lock.lock();
  entries_.insert(entries_.begin(), std::move_iterator(group.begin()), std::move_iterator(group.end()));
  drop_beyond_most();
  if (tries && !stop.stop_requested()) tell(status);
  if (tries) failed_at_ = status ? std::nullopt : std::optional(std::chrono::steady_clock::now());
  if (tries && status && entries_.empty()) tell_written(lock);
  if (failed_at_ || (entries_.empty() && catch_up_->is_done())) {
    round_settled_ = round;
    flushed_.notify_all();
  }
}

// Leaves in `group` what could not be written.
Status History::make_progress(std::vector<Entry>& group, bool may_write, const std::stop_token& stop) {
  if (Status ready = archive_->prepare(stop); !ready) return ready;
  if (!may_write) return {};
  if (!group.empty()) {
    if (const Result<std::size_t> recorded = archive_->record(group); !recorded) return fail(recorded.error());
    group.clear();
  }
  if (catch_up_->is_done() || stop.stop_requested() || !archive_->is_ready()) return {};
  Status step = catch_up_->step(*archive_);
  if (step && catch_up_->is_done() && catch_up_->news() != 0) {
    log_.info("history_caught_up", {{"count", static_cast<std::int64_t>(catch_up_->news())}});
  }
  return step;
}

void History::tell(const Status& status) {
  if (!status) {
    if (!failed_at_) log_.error("history_failed", {{"reason", status.error().message}});
    return;
  }
  if (failed_at_) log_.info("history_resumed", {});
  if (const std::size_t dropped = std::exchange(dropped_, 0); dropped != 0) {
    log_.warning("history_dropped", {{"count", static_cast<std::int64_t>(dropped)}});
  }
}

}  // namespace kron::history
