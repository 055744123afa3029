#include "kron/queue/queue_thread.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "kron/env/work_thread.h"
#include "kron/queue/queue_service.h"

namespace kron {
namespace {

constexpr Seconds kLongestWait{60};

}  // namespace

class QueueThread::Work {
 public:
  Work(QueueOpener open, const Clock& clock, Log& log, Options options)
      : clock_(clock), service_(std::move(open), clock, log, std::move(options)), thread_([this] { serve(); }) {}

  ~Work() {
    ask([this](Questions&) { is_ending_ = true; });
    thread_.join();
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // `add` puts a question into the inbox.
  template <class Add>
  void ask(Add add) {
    const std::scoped_lock lock(mutex_);
    add(inbox_);
    has_mail_ = true;
    changed_.notify_one();
  }

  Ticket next_ticket() { return ++last_ticket_; }
  Nanoseconds boot_time() const { return clock_.boot_time(); }

 private:
  void serve() {
    become_background_thread();
    std::optional<Nanoseconds> wake;
    std::unique_lock lock(mutex_);
    while (true) {
      wait(lock, wake);
      has_mail_ = false;
      const bool is_last = is_ending_;
      Questions arrived = std::exchange(inbox_, {});
      lock.unlock();
      service_.take(std::move(arrived));
      if (is_last) return service_.end();
      wake = service_.work();
      lock.lock();
    }
  }

  void wait(std::unique_lock<std::mutex>& lock, std::optional<Nanoseconds> wake) {
    const auto has_mail = [this] { return has_mail_; };
    if (wake) {
      changed_.wait_for(lock, *wake, has_mail);
    } else {
      changed_.wait(lock, has_mail);
    }
  }

  const Clock& clock_;
  QueueService service_;
  std::atomic<Ticket> last_ticket_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  Questions inbox_;
  bool has_mail_ = false;
  bool is_ending_ = false;
  std::thread thread_;  // the last, because it uses the others
};

QueueThread::QueueThread(QueueOpener open, const Clock& clock, Log& log, Options options)
    : work_(std::make_unique<Work>(std::move(open), clock, log, std::move(options))) {}

QueueThread::~QueueThread() = default;

void QueueThread::open(std::function<void(Status)> answer) {
  work_->ask([&](Questions& inbox) { inbox.opens.push_back({{}, std::move(answer)}); });
}

void QueueThread::submit(std::vector<NewTask> tasks, std::function<void(std::vector<Result<SubmitAnswer>>)> answer) {
  work_->ask([&](Questions& inbox) { inbox.submissions.push_back({std::move(tasks), std::move(answer)}); });
}

QueueThread::Ticket QueueThread::lease(LeaseRequest request, Seconds wait,
                                       std::function<bool(Result<std::vector<Lease>>)> answer) {
  const Ticket ticket = work_->next_ticket();
  const Nanoseconds until = work_->boot_time() + std::clamp(wait, Seconds(0), kLongestWait);
  work_->ask([&](Questions& inbox) { inbox.leases.push_back({ticket, std::move(request), until, std::move(answer)}); });
  return ticket;
}

void QueueThread::withdraw(Ticket ticket) {
  work_->ask([&](Questions& inbox) { inbox.withdrawals.push_back(ticket); });
}

void QueueThread::wake(std::string type) {
  work_->ask([&](Questions& inbox) {
    // One who publishes much must not fill our memory while the queue is slow.
    if (std::ranges::find(inbox.wakes, type) == inbox.wakes.end()) inbox.wakes.push_back(std::move(type));
  });
}

void QueueThread::start(LeaseKey key, Answer<LeaseOutcome> answer) {
  work_->ask([&](Questions& inbox) { inbox.starts.push_back({std::move(key), std::move(answer)}); });
}

void QueueThread::renew(LeaseKey key, Answer<LeaseOutcome> answer) {
  work_->ask([&](Questions& inbox) { inbox.renewals.push_back({std::move(key), std::move(answer)}); });
}

void QueueThread::commit(CommitRequest request, Answer<CommitAnswer> answer) {
  work_->ask([&](Questions& inbox) { inbox.commits.push_back({std::move(request), std::move(answer)}); });
}

void QueueThread::commit_and_lease(CommitRequest request, Answer<CommitAnswer> answer, LeaseRequest then,
                                   std::function<bool(Result<std::vector<Lease>>)> leased) {
  LeaseWait wait{work_->next_ticket(), std::move(then), work_->boot_time(), std::move(leased)};
  work_->ask([&](Questions& inbox) {
    inbox.commits_and_leases.push_back({{std::move(request), std::move(answer)}, std::move(wait)});
  });
}

void QueueThread::fail_attempt(FailRequest request, Answer<FailAnswer> answer) {
  work_->ask([&](Questions& inbox) { inbox.failures.push_back({std::move(request), std::move(answer)}); });
}

void QueueThread::cancel(std::string task_id, Answer<CancelOutcome> answer) {
  work_->ask([&](Questions& inbox) { inbox.cancels.push_back({std::move(task_id), std::move(answer)}); });
}

void QueueThread::retry(std::string task_id, int attempts, Answer<RetryOutcome> answer) {
  work_->ask([&](Questions& inbox) { inbox.retries.push_back({{std::move(task_id), attempts}, std::move(answer)}); });
}

void QueueThread::get(std::string task_id, Answer<Task> answer) {
  work_->ask([&](Questions& inbox) { inbox.gets.push_back({std::move(task_id), std::move(answer)}); });
}

void QueueThread::list(TaskFilter filter, Answer<TaskPage> answer) {
  work_->ask([&](Questions& inbox) { inbox.lists.push_back({std::move(filter), std::move(answer)}); });
}

void QueueThread::prune(PruneRequest request, Answer<std::size_t> answer) {
  work_->ask([&](Questions& inbox) { inbox.prunes.push_back({request, std::move(answer)}); });
}

void QueueThread::summary(Answer<TaskSummary> answer) {
  work_->ask([&](Questions& inbox) { inbox.summaries.push_back({{}, std::move(answer)}); });
}

}  // namespace kron
