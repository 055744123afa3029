#include "kron/queue/queue_service.h"

#include <algorithm>
#include <iterator>

namespace kron {
namespace {

constexpr std::size_t kMostAtOnce = 512;            // tasks that share their syncs
constexpr Nanoseconds kBetweenTries = Seconds(1);   // of what the disk has refused
constexpr Nanoseconds kLongestSleep = Seconds(60);  // the wall clock may be set, the machine may have slept
constexpr Nanoseconds kRefusalIsNews = Seconds(60);
// Finished tasks are removed by the wall clock, so only after it has not jumped for a while: one that reads 2036 for a
// moment would remove them all.
constexpr Nanoseconds kSteady = Seconds(10);
constexpr Nanoseconds kJump = Seconds(2);
constexpr Nanoseconds kBetweenParts = std::chrono::milliseconds(10);

// A retention of a month is looked after once an hour, one of a minute more often.
Nanoseconds between_removals(Seconds age) {
  return std::clamp<Nanoseconds>(age / 10, Seconds(10), std::chrono::hours(1));
}

Error ending() { return {Code::unreachable, "the daemon is about to end; ask again when it is back"}; }

template <class T>
void append(std::deque<T>& to, std::deque<T>& from) {
  to.insert(to.end(), std::move_iterator(from.begin()), std::move_iterator(from.end()));
}

template <class T>
std::vector<T> first_of(std::deque<T>& from, std::size_t most) {
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(most, from.size()));
  std::vector<T> taken(std::move_iterator(from.begin()), std::move_iterator(end));
  from.erase(from.begin(), end);
  return taken;
}

template <class Request, class Reply>
void refuse(Asked<Request, Reply>& asked) {
  asked.answer(Reply(fail(ending())));
}

// What was done of it stays done, and is known when it is asked for again.
void refuse(Submission& submission) {
  submission.answers.resize(submission.tasks.size(), Result<SubmitAnswer>(fail(ending())));
  submission.answer(std::move(submission.answers));
}

}  // namespace

QueueService::QueueService(FileSystem& file_system, const Clock& clock, Log& log, QueueThread::Options options)
    : file_system_(file_system), clock_(clock), log_(log), options_(std::move(options)), empty_(clock) {}

void QueueService::take(Questions questions) {
  Questions::each_kind(questions_, questions, [](auto& to, auto& from) { append(to, from); });
  may_be_ready_ = may_be_ready_ || !questions.leases.empty();
  append(questions_.leases, questions.leases);
  questions_.withdrawals = std::move(questions.withdrawals);
  drop_withdrawn();
}

void QueueService::drop_withdrawn() {
  if (questions_.withdrawals.empty()) return;
  std::ranges::sort(questions_.withdrawals);
  std::erase_if(questions_.leases,
                [&](const LeaseWait& wait) { return std::ranges::binary_search(questions_.withdrawals, wait.ticket); });
  questions_.withdrawals.clear();
}

// False: there is no directory, and none was to be made.
Result<bool> QueueService::open(bool may_make) {
  // A disk whose sync has failed may answer "safe" the next time though it has lost what it was given: only another
  // process, which finds what is really there, can tell.
  if (problem_ && (is_final_ || clock_.boot_time() < try_again_at_)) return fail(*problem_);
  if (!may_make) {
    const auto directory = file_system_.open_directory(options_.path);
    if (!directory && directory.error().code == Code::not_found) return false;
  }
  auto opened = FileQueue::open(file_system_, clock_, log_, options_.path, options_.queue, &is_final_);
  if (opened) {
    files_ = *std::move(opened);
    problem_.reset();
    wants_open_ = false;
    may_be_ready_ = true;
    return true;
  }
  if (problem_ != opened.error()) {
    log_.error("queue.not_opened",
               {{"path", std::string_view(options_.path)}, {"problem", std::string_view(opened.error().message)}});
  }
  problem_ = opened.error();
  try_again_at_ = clock_.boot_time() + kBetweenTries;
  return fail(*problem_);
}

Result<TaskQueue*> QueueService::queue(bool may_make) {
  if (files_) return files_.get();
  const auto is_open = open(may_make);
  if (!is_open) return fail(is_open.error());
  if (*is_open) return files_.get();
  return &empty_;
}

std::optional<Nanoseconds> QueueService::work() {
  open_for_all();
  open_again();
  submit();
  change_tasks();
  expire_due();
  serve_leases();
  read_tasks();
  answer_late_leases();
  tell_if_stopped();
  return next_wake();
}

void QueueService::open_for_all() {
  for (auto& asked : first_of(questions_.opens, questions_.opens.size())) {
    const auto opened = queue(true);
    wants_open_ = !opened;
    asked.answer(opened ? Status() : Status(fail(opened.error())));
  }
}

void QueueService::open_again() {
  if (wants_open_ && !is_final_ && clock_.boot_time() >= try_again_at_) static_cast<void>(queue(true));
}

void QueueService::submit() {
  if (questions_.submissions.empty()) return;
  std::vector<NewTask> tasks;
  for (Submission& submission : questions_.submissions) {
    const auto first = submission.tasks.begin() + static_cast<std::ptrdiff_t>(submission.answers.size());
    const auto most = static_cast<std::ptrdiff_t>(kMostAtOnce - tasks.size());
    const auto last = first + std::min(most, submission.tasks.end() - first);
    tasks.insert(tasks.end(), std::move_iterator(first), std::move_iterator(last));
  }
  const auto found = queue(true);
  auto answers = found ? (*found)->submit(tasks) : std::vector<Result<SubmitAnswer>>(tasks.size(), fail(found.error()));
  for (const auto& answer : answers) {
    if (answer) {
      refusal_.reset();
    } else if (answer.error().code == Code::io) {
      refusal_ = answer.error();
      refused_at_ = clock_.boot_time();
    }
  }
  auto next = answers.begin();
  while (!questions_.submissions.empty()) {
    Submission& submission = questions_.submissions.front();
    while (next != answers.end() && submission.answers.size() < submission.tasks.size()) {
      submission.answers.push_back(std::move(*next++));
    }
    if (submission.answers.size() < submission.tasks.size()) return;
    Submission done = std::move(submission);
    questions_.submissions.pop_front();
    done.answer(std::move(done.answers));
  }
}

// True when there was anything to do.
template <class Request, class Reply, class Perform>
bool QueueService::do_together(std::deque<Asked<Request, Result<Reply>>>& asked, std::size_t most, Perform perform) {
  if (asked.empty()) return false;
  auto group = first_of(asked, most);
  std::vector<Request> requests;
  requests.reserve(group.size());
  for (auto& one : group) requests.push_back(std::move(one.request));
  const auto found = queue(false);
  std::vector<Result<Reply>> replies = found ? perform(**found, std::span<const Request>(requests))
                                             : std::vector<Result<Reply>>(group.size(), fail(found.error()));
  for (std::size_t i = 0; i < group.size(); ++i) group[i].answer(std::move(replies[i]));
  return true;
}

template <class Request, class Reply, class Perform>
bool QueueService::do_each(std::deque<Asked<Request, Result<Reply>>>& asked, std::size_t most, Perform perform) {
  return do_together(asked, most, [&](TaskQueue& queue, std::span<const Request> requests) {
    std::vector<Result<Reply>> replies;
    replies.reserve(requests.size());
    for (const Request& request : requests) replies.push_back(perform(queue, request));
    return replies;
  });
}

void QueueService::change_tasks() {
  do_together(questions_.starts, kMostAtOnce,
              [](TaskQueue& queue, std::span<const LeaseKey> keys) { return queue.start(keys); });
  do_each(questions_.renewals, kMostAtOnce, [](TaskQueue& queue, const LeaseKey& key) { return queue.renew(key); });
  bool changed = do_together(questions_.commits, kMostAtOnce,
                             [](TaskQueue& queue, std::span<const CommitRequest> all) { return queue.commit(all); });
  changed |= do_together(questions_.failures, kMostAtOnce,
                         [](TaskQueue& queue, std::span<const FailRequest> all) { return queue.fail_attempts(all); });
  changed |= do_each(questions_.cancels, kMostAtOnce,
                     [](TaskQueue& queue, const std::string& id) { return queue.cancel(id); });
  changed |= do_each(questions_.retries, kMostAtOnce,
                     [](TaskQueue& queue, const Retry& retry) { return queue.retry(retry.task_id, retry.attempts); });
  // A task that ends makes room for another of its type, and follow-ups come with it.
  may_be_ready_ = may_be_ready_ || changed;
}

void QueueService::read_tasks() {
  do_each(questions_.gets, kMostAtOnce, [](TaskQueue& queue, const std::string& id) { return queue.get(id); });
  do_each(questions_.summaries, questions_.summaries.size(),
          [&](TaskQueue&, Questions::Nothing) { return Result<TaskSummary>(summary()); });
  // Each of these does one part of its work in a round.
  go_on_listing();
  go_on_pruning();
  go_on_removing_old();
}

TaskSummary QueueService::summary() const {
  TaskSummary summary = files_ ? files_->summary() : TaskSummary();
  if (refusal_ && clock_.boot_time() - refused_at_ < kRefusalIsNews) summary.problem = refusal_;
  return summary;
}

void QueueService::go_on_listing() {
  if (questions_.lists.empty()) return;
  const auto found = queue(false);
  Result<std::optional<TaskPage>> page = TaskPage();
  if (!found) {
    page = fail(found.error());
  } else if (files_) {
    if (!list_) list_ = files_->begin_list(questions_.lists.front().request);
    page = files_->go_on(*list_);
    if (page && !*page) return;
  }
  list_.reset();
  const auto asked = std::move(questions_.lists.front());
  questions_.lists.pop_front();
  asked.answer(page ? Result<TaskPage>(**std::move(page)) : fail(page.error()));
}

void QueueService::go_on_pruning() {
  if (questions_.prunes.empty()) return;
  const auto found = queue(false);
  Result<bool> is_done = true;
  if (!found) {
    is_done = fail(found.error());
  } else if (files_) {
    if (!prune_) prune_ = PruneScan{questions_.prunes.front().request};
    is_done = files_->go_on(*prune_);
    if (is_done && !*is_done) return;
  }
  const std::size_t removed = prune_ ? prune_->removed : 0;
  prune_.reset();
  const auto asked = std::move(questions_.prunes.front());
  questions_.prunes.pop_front();
  asked.answer(is_done ? Result<std::size_t>(removed) : fail(is_done.error()));
}

// Whatever jumps makes the removal of old tasks begin anew, later.
void QueueService::look_at_clock() {
  const Nanoseconds drift = clock_.wall().time_since_epoch() - clock_.boot_time();
  const bool has_jumped = !drift_ || drift > *drift_ + kJump || drift < *drift_ - kJump;
  if (!has_jumped) return;
  drift_ = drift;
  old_.reset();
  remove_at_ = clock_.boot_time() + kSteady;
}

void QueueService::go_on_removing_old() {
  if (!options_.keeps || !files_ || files_->has_stopped()) return;
  look_at_clock();
  if (clock_.boot_time() < remove_at_) return;
  if (!old_) old_ = RetentionScan{*options_.keeps, now(clock_)};
  const auto is_done = files_->go_on(*old_);
  remove_at_ = clock_.boot_time() + kBetweenParts;
  if (is_done && !*is_done) return;
  if (!is_done) log_.warning("tasks.old_stay", {{"problem", std::string_view(is_done.error().message)}});
  if (old_->removed > 0) log_.info("tasks.old_removed", {{"count", static_cast<std::int64_t>(old_->removed)}});
  old_.reset();
  remove_at_ = clock_.boot_time() + between_removals(options_.keeps->age);
}

void QueueService::expire_due() {
  if (!files_ || files_->has_stopped()) return;
  const Nanoseconds boot_time = clock_.boot_time();
  const auto next = files_->next_expiry();
  const bool is_due = (next && *next <= boot_time) || files_->has_held_up();
  if (!is_due || boot_time < expire_at_) return;
  const auto expired = files_->expire();
  // What could not be ended, on a full disk, is not asked for again at once.
  expire_at_ = expired && !expired->empty() ? boot_time : boot_time + kBetweenTries;
  may_be_ready_ = true;
}

// First come, first served, in groups that share their syncs.
void QueueService::serve_leases() {
  // Its time has come, or it is new.
  const auto ready = files_ ? files_->next_ready() : std::nullopt;
  may_be_ready_ = may_be_ready_ || (ready && *ready <= now(clock_));
  while (may_be_ready_ && !questions_.leases.empty()) {
    may_be_ready_ = false;
    const auto found = queue(false);
    if (!found) {
      for (LeaseWait& wait : first_of(questions_.leases, questions_.leases.size())) {
        static_cast<void>(wait.answer(fail(found.error())));
      }
      return;
    }
    for (std::size_t first = 0; first < questions_.leases.size();) first = serve_group(**found, first);
  }
}

// Asks for those who wait from number `first` on; returns the number of the next to be asked for.
std::size_t QueueService::serve_group(TaskQueue& queue, std::size_t first) {
  std::vector<LeaseRequest> requests;
  std::size_t wanted = 0;
  for (std::size_t i = first; i < questions_.leases.size() && wanted < kMostAtOnce; ++i) {
    requests.push_back(questions_.leases[i].request);
    wanted += requests.back().count;
  }
  auto answers = queue.lease(requests);
  std::deque<LeaseWait> still;
  std::vector<Lease> untaken;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    LeaseWait& wait = questions_.leases[first + i];
    if (answers[i] && answers[i]->empty()) {
      still.push_back(std::move(wait));
      continue;
    }
    const std::vector<Lease> leases = answers[i] ? *answers[i] : std::vector<Lease>();
    if (!wait.answer(std::move(answers[i]))) untaken.insert(untaken.end(), leases.begin(), leases.end());
  }
  const std::size_t kept = still.size();
  const auto begin = questions_.leases.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = begin + static_cast<std::ptrdiff_t>(answers.size());
  questions_.leases.erase(std::move(still.begin(), still.end(), begin), end);
  give_back(queue, untaken);
  return first + kept;
}

// Whoever asked has gone: the tasks are for the next one.
void QueueService::give_back(TaskQueue& queue, std::span<const Lease> leases) {
  if (leases.empty()) return;
  std::vector<FailRequest> requests;
  for (const Lease& lease : leases) requests.push_back({lease.key, "nobody took the lease", false, false});
  // One that cannot be given back now runs out.
  static_cast<void>(queue.fail_attempts(requests));
  may_be_ready_ = true;
}

void QueueService::answer_late_leases() {
  const Nanoseconds boot_time = clock_.boot_time();
  auto& leases = questions_.leases;
  const auto late =
      std::ranges::stable_partition(leases, [&](const LeaseWait& wait) { return wait.until > boot_time; });
  const std::vector<LeaseWait> answered(std::move_iterator(late.begin()), std::move_iterator(late.end()));
  leases.erase(late.begin(), late.end());
  for (const LeaseWait& wait : answered) static_cast<void>(wait.answer(std::vector<Lease>()));
}

void QueueService::tell_if_stopped() {
  if (is_told_ || !files_ || !files_->has_stopped()) return;
  is_told_ = true;
  may_be_ready_ = true;  // those who wait hear of it, too
  if (options_.on_stopped) options_.on_stopped(*files_->stopped());
}

bool QueueService::has_more() const {
  bool more = may_be_ready_ && !questions_.leases.empty();
  Questions::each_kind(questions_, questions_, [&](const auto& kind, const auto&) { more = more || !kind.empty(); });
  return more;
}

std::optional<Nanoseconds> QueueService::next_wake() const {
  if (has_more()) return Nanoseconds(0);
  std::optional<Nanoseconds> wake;
  const auto note = [&](Nanoseconds in) {
    wake = std::min(wake.value_or(kLongestSleep), std::max(in, Nanoseconds(0)));
  };
  const Nanoseconds boot_time = clock_.boot_time();
  for (const LeaseWait& wait : questions_.leases) note(wait.until - boot_time);
  if (!files_ && wants_open_ && !is_final_) note(try_again_at_ - boot_time);
  if (!files_ || files_->has_stopped()) return wake;
  if (options_.keeps) note(remove_at_ - boot_time);
  if (const auto next = files_->next_expiry()) note(std::max(*next, expire_at_) - boot_time);
  if (files_->has_held_up()) note(expire_at_ - boot_time);
  if (!questions_.leases.empty() && files_->next_ready()) note(*files_->next_ready() - clock_.wall());
  return wake;
}

void QueueService::end() {
  Questions::each_kind(questions_, questions_, [](auto& kind, auto&) {
    for (auto& asked : first_of(kind, kind.size())) refuse(asked);
  });
  for (LeaseWait& wait : first_of(questions_.leases, questions_.leases.size())) {
    static_cast<void>(wait.answer(fail(ending())));
  }
}

}  // namespace kron
