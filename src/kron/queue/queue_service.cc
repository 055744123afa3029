#include "kron/queue/queue_service.h"

#include <algorithm>
#include <iterator>

// A round of the service. Each kind of question has a queue of its own; a round serves a group of each, in an order
// that lets a question find what those before it in the round have changed: open, submit, changes of leases and tasks,
// expiry, leases (see queue_service_leases.cc), then what only reads. Lists, prunes and the retention are scans: one
// part a round, so that no round is long. `may_be_ready_` says whether asking for leases again may find anything: it is
// set by whatever can make a task ready or give its type room, and cleared by asking.
namespace kron {
namespace {

constexpr Nanoseconds kLongestSleep = Seconds(60);   // the wall clock may be set, the machine may have slept
constexpr Nanoseconds kRefusalIsNews = Seconds(60);  // so long the summary tells of it

bool wants(const LeaseRequest& request, const std::string& type) {
  return type.empty() || request.types.empty() || std::ranges::find(request.types, type) != request.types.end();
}

Error ending() { return {Code::unreachable, "the daemon is about to end; ask again when it is back"}; }

template <class T>
void append(std::deque<T>& to, std::deque<T>& from) {
  to.insert(to.end(), std::move_iterator(from.begin()), std::move_iterator(from.end()));
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

void refuse(CommitAndLease& both) {
  refuse(both.commit);
  static_cast<void>(both.then.answer(fail(ending())));
}

}  // namespace

QueueService::QueueService(QueueOpener open, const Clock& clock, Log& log, QueueThread::Options options)
    : clock_(clock),
      on_stopped_(std::move(options.on_stopped)),
      queue_(std::move(open), std::move(options.place), clock, log),
      retention_(options.keeps, clock, log) {}

void QueueService::take(Questions questions) {
  Questions::each_kind(questions_, questions, [](auto& to, auto& from) { append(to, from); });
  may_be_ready_ = may_be_ready_ || !questions.leases.empty();
  append(questions_.leases, questions.leases);
  questions_.withdrawals = std::move(questions.withdrawals);
  drop_withdrawn();
  may_be_ready_ =
      may_be_ready_ || std::ranges::any_of(questions.wakes, [&](const std::string& type) {
        return std::ranges::any_of(questions_.leases, [&](const LeaseWait& wait) { return wants(wait.request, type); });
      });
}

Result<TaskQueue*> QueueService::queue(bool may_create) {
  const bool was_open = queue_.opened() != nullptr;
  auto found = queue_.get(may_create);
  may_be_ready_ = may_be_ready_ || (!was_open && queue_.opened() != nullptr);
  return found;
}

std::optional<Nanoseconds> QueueService::work() {
  open();
  part_commits_from_leases();
  do_round();
  submit();
  change_tasks();
  expire_due();
  serve_leases();
  read_tasks();
  answer_late_leases();
  tell_if_stopped();
  return next_wake();
}

void QueueService::open() {
  const bool was_open = queue_.opened() != nullptr;
  for (auto& asked : take_first(questions_.opens, questions_.opens.size())) asked.answer(queue_.demand());
  queue_.try_again();
  may_be_ready_ = may_be_ready_ || (!was_open && queue_.opened() != nullptr);
}

// Before a round, and to the front: all of these commits are done in it, so that none of the leases is served before
// its commit. Half of a round is left to those who only commit.
void QueueService::part_commits_from_leases() {
  auto both = take_first(questions_.commits_and_leases, kMostAtOnce / 2);
  for (auto one = both.rbegin(); one != both.rend(); ++one) questions_.commits.push_front(std::move(one->commit));
  for (CommitAndLease& one : both) questions_.leases.push_back(std::move(one.then));
  may_be_ready_ = may_be_ready_ || !both.empty();
}

void QueueService::submit() {
  if (questions_.submissions.empty()) return;
  const std::vector<NewTask> tasks = next_submissions();
  const auto found = queue(true);
  answer_submissions(found ? (*found)->submit(tasks)
                           : std::vector<Result<SubmitAnswer>>(tasks.size(), fail(found.error())));
}

std::vector<NewTask> QueueService::next_submissions() {
  std::vector<NewTask> tasks;
  for (Submission& submission : questions_.submissions) {
    const auto first = submission.tasks.begin() + static_cast<std::ptrdiff_t>(submission.answers.size());
    const auto most = static_cast<std::ptrdiff_t>(kMostAtOnce - tasks.size());
    const auto last = first + std::min(most, submission.tasks.end() - first);
    tasks.insert(tasks.end(), std::move_iterator(first), std::move_iterator(last));
  }
  return tasks;
}

void QueueService::answer_submissions(std::vector<Result<SubmitAnswer>> answers) {
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
  auto group = take_first(asked, most);
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
  do_together(questions_.renewals, kMostAtOnce,
              [](TaskQueue& queue, std::span<const LeaseKey> keys) { return queue.renew_all(keys); });
  bool changed = do_together(questions_.commits, kMostAtOnce,
                             [](TaskQueue& queue, std::span<const CommitRequest> all) { return queue.commit(all); });
  changed |= do_together(questions_.failures, kMostAtOnce,
                         [](TaskQueue& queue, std::span<const FailRequest> all) { return queue.fail_attempts(all); });
  changed |= do_together(questions_.cancels, kMostAtOnce,
                         [](TaskQueue& queue, std::span<const std::string> ids) { return queue.cancel_all(ids); });
  changed |= do_together(questions_.retries, kMostAtOnce,
                         [](TaskQueue& queue, std::span<const RetryRequest> all) { return queue.retry_all(all); });
  // A task that ends makes room for another of its type, and follow-ups come with it.
  may_be_ready_ = may_be_ready_ || changed;
}

void QueueService::read_tasks() {
  do_together(questions_.gets, kMostAtOnce,
              [](TaskQueue& queue, std::span<const std::string> ids) { return queue.get_all(ids); });
  do_each(questions_.summaries, questions_.summaries.size(),
          [&](TaskQueue& queue, Questions::Nothing) { return summary_of(queue); });
  // Each of these does one part of its work in a round.
  go_on_listing();
  go_on_pruning();
  if (TaskQueue* open = queue_.opened(); open != nullptr && !open->has_stopped()) retention_.step(*open);
}

Result<TaskSummary> QueueService::summary_of(TaskQueue& queue) const {
  auto summary = queue.summary();
  if (summary && refusal_ && clock_.boot_time() - refused_at_ < kRefusalIsNews) summary->problem = refusal_;
  return summary;
}

void QueueService::go_on_listing() {
  if (questions_.lists.empty()) return;
  const auto found = queue(false);
  if (found && !list_) list_ = (*found)->begin_list(questions_.lists.front().request);
  auto page = found ? list_->next_part() : fail(found.error());
  if (page && !*page) return;
  list_.reset();
  const auto asked = std::move(questions_.lists.front());
  questions_.lists.pop_front();
  asked.answer(page ? Result<TaskPage>(**std::move(page)) : fail(page.error()));
}

void QueueService::go_on_pruning() {
  if (questions_.prunes.empty()) return;
  const auto found = queue(false);
  if (found && !prune_) prune_ = (*found)->begin_prune(questions_.prunes.front().request);
  const auto is_done = found ? prune_->next_part() : fail(found.error());
  if (is_done && !*is_done) return;
  const auto answer = is_done ? Result<std::size_t>(prune_->removed()) : fail(is_done.error());
  prune_.reset();
  const auto asked = std::move(questions_.prunes.front());
  questions_.prunes.pop_front();
  asked.answer(answer);
}

void QueueService::tell_if_stopped() {
  const TaskQueue* open = queue_.opened();
  if (is_told_ || open == nullptr || !open->has_stopped()) return;
  is_told_ = true;
  may_be_ready_ = true;  // those who wait hear of it, too
  if (on_stopped_) on_stopped_(*open->stopped());
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
  if (const auto next = queue_.next_try()) note(*next - boot_time);
  const TaskQueue* open = queue_.opened();
  if (open == nullptr || open->has_stopped()) return wake;
  if (const auto next = retention_.next()) note(*next - boot_time);
  if (const auto next = open->next_expiry()) note(std::max(*next, expire_at_) - boot_time);
  if (open->has_unfinished()) note(expire_at_ - boot_time);
  if (const auto next = open->next_ready(); next && !questions_.leases.empty()) note(*next - clock_.wall());
  return wake;
}

void QueueService::end() {
  Questions::each_kind(questions_, questions_, [](auto& kind, auto&) {
    for (auto& asked : take_first(kind, kind.size())) refuse(asked);
  });
  for (LeaseWait& wait : take_first(questions_.leases, questions_.leases.size())) {
    static_cast<void>(wait.answer(fail(ending())));
  }
}

}  // namespace kron
