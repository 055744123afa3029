#include "task_api_queue.h"

#include <gtest/gtest.h>
#include <mutex>
#include <unistd.h>

#include "daemon_client.h"
#include "kron/api/api.h"
#include "kron/api/paths.h"
#include "kron/env/fake/silent_log.h"
#include "kron/http/server.h"
#include "kron/queue/conformance.h"
#include "kron/queue/queue_thread.h"
#include "kron/scheduler/fake/host.h"
#include "kron/testing/temporary_directory.h"
#include "task_api_json.h"

// The client of krond's API is a queue, too: the same suite runs on it, over a real socket and the real API, with a
// queue behind it that can be asked directly for what the API has no path for.
namespace kron::testing {
namespace {

// A clock that the server's threads read while the test sets it.
class SharedClock : public Clock {
 public:
  explicit SharedClock(const FakeClock& other) { set(other); }

  void set(const FakeClock& other) {
    const std::scoped_lock lock(mutex_);
    wall_ = other.wall();
    monotonic_ = other.monotonic();
    boot_time_ = other.boot_time();
  }

  WallTime wall() const override { return locked(wall_); }
  Nanoseconds monotonic() const override { return locked(monotonic_); }
  Nanoseconds boot_time() const override { return locked(boot_time_); }
  const std::string& boot_id() const override { return boot_id_; }

 private:
  template <class T>
  T locked(const T& value) const {
    const std::scoped_lock lock(mutex_);
    return value;
  }

  mutable std::mutex mutex_;
  WallTime wall_;
  Nanoseconds monotonic_{0};
  Nanoseconds boot_time_{0};
  const std::string boot_id_ = "boot-1";
};

// A queue that the server's thread and the test ask by turns.
struct LockedQueue {
  template <class Work>
  auto ask(Work work) {
    const std::scoped_lock lock(mutex);
    return work(*queue);
  }

  std::mutex mutex;
  std::unique_ptr<TaskQueue> queue;
};

// One who asks it. The server is not told of what expires or is left unfinished: that is left to the test.
class ServedQueue : public TaskQueue {
 public:
  explicit ServedQueue(LockedQueue& shared) : shared_(shared) {}

  std::vector<Result<SubmitAnswer>> submit(std::span<const NewTask> tasks) override {
    return shared_.ask([&](TaskQueue& queue) { return queue.submit(tasks); });
  }
  std::vector<Result<std::vector<Lease>>> lease(std::span<const LeaseRequest> requests) override {
    return shared_.ask([&](TaskQueue& queue) { return queue.lease(requests); });
  }
  std::vector<Result<LeaseOutcome>> start(std::span<const LeaseKey> keys) override {
    return shared_.ask([&](TaskQueue& queue) { return queue.start(keys); });
  }
  Result<LeaseOutcome> renew(const LeaseKey& key) override {
    return shared_.ask([&](TaskQueue& queue) { return queue.renew(key); });
  }
  std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) override {
    return shared_.ask([&](TaskQueue& queue) { return queue.commit(requests); });
  }
  std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) override {
    return shared_.ask([&](TaskQueue& queue) { return queue.fail_attempts(requests); });
  }
  Result<CancelOutcome> cancel(std::string_view id) override {
    return shared_.ask([&](TaskQueue& queue) { return queue.cancel(id); });
  }
  Result<RetryOutcome> retry(std::string_view id, int attempts) override {
    return shared_.ask([&](TaskQueue& queue) { return queue.retry(id, attempts); });
  }
  Result<std::vector<Expired>> expire() override {
    return shared_.ask([&](TaskQueue& queue) { return queue.expire(); });
  }
  Result<Task> get(std::string_view id) override {
    return shared_.ask([&](TaskQueue& queue) { return queue.get(id); });
  }
  std::unique_ptr<ListScan> begin_list(const TaskFilter& filter) override {
    return shared_.ask([&](TaskQueue& queue) { return queue.begin_list(filter); });
  }
  std::unique_ptr<RemovalScan> begin_prune(const PruneRequest& request) override {
    return shared_.ask([&](TaskQueue& queue) { return queue.begin_prune(request); });
  }
  std::unique_ptr<RemovalScan> begin_retention(const TaskRetention& keeps, Instant now) override {
    return shared_.ask([&](TaskQueue& queue) { return queue.begin_retention(keeps, now); });
  }
  Result<TaskCounts> counts() override {
    return shared_.ask([&](TaskQueue& queue) { return queue.counts(); });
  }
  Result<TaskSummary> summary() override {
    return shared_.ask([&](TaskQueue& queue) { return queue.summary(); });
  }
  std::optional<Nanoseconds> next_expiry() const override { return std::nullopt; }
  std::optional<Instant> next_ready() const override {
    return shared_.ask([&](TaskQueue& queue) { return queue.next_ready(); });
  }
  bool has_unfinished() const override { return false; }
  const std::optional<Error>& stopped() const override { return shared_.queue->stopped(); }

 private:
  LockedQueue& shared_;
};

// krond's API without the rest of krond.
class TaskServer {
 public:
  TaskServer(LockedQueue& queue, const Clock& clock)
      : tasks_([&queue](bool) { return OpenedQueue{std::make_unique<ServedQueue>(queue)}; }, clock, log_, {"test"}) {
    EXPECT_TRUE(host_.start_daemon());
    api_ = std::make_unique<api::Api>(api::Parts{.on_loop = [](const api::Parts::Work& work) { work(); },
                                                 .aside =
                                                     [](const api::Parts::Work& work) {
                                                       work();
                                                       return true;
                                                     },
                                                 .ahead =
                                                     [](const api::Parts::Work& work) {
                                                       work();
                                                       return true;
                                                     },
                                                 .scheduler = *host_.scheduler,
                                                 .status = [] { return api::DaemonStatus(); },
                                                 .reload = [](const auto& answer) { answer(api::ReloadReport()); },
                                                 .clock = clock,
                                                 .log = log_,
                                                 .history = *history_,
                                                 .tasks = tasks_,
                                                 .metrics = metrics_,
                                                 .events = events_,
                                                 .outputs = *outputs_,
                                                 .run_files = run_files_});
    http::Server::Listeners listeners;
    listeners.push_back(std::make_unique<http::UnixListener>(
        http::UnixListener::open(socket(), 0600, std::nullopt, [](const auto& peer) {
          return api::principal_of(peer, {.own = ::geteuid()});
        }).value()));
    server_ =
        http::Server::start(
            std::move(listeners), {.body_limit = [this](const auto& head) { return api_->body_limit(head); }},
            [this](http::Request request, http::Reply reply) { api_->answer(std::move(request), std::move(reply)); },
            log_)
            .value();
  }

  std::string socket() const { return directory_.file("krond.sock"); }

 private:
  TemporaryDirectory directory_;
  SilentLog log_;
  Host host_{kQueueStart};
  metrics::Metrics metrics_{"1.0", kQueueStart};
  api::EventHub events_{1};
  runner::RunFiles run_files_ = runner::RunFiles::open(directory_.path()).value();
  std::unique_ptr<history::History> history_ = history::History::open(directory_.path(), {}, host_.clock, log_).value();
  std::unique_ptr<api::OutputFollower> outputs_ = api::OutputFollower::start(directory_.file("runs")).value();
  QueueThread tasks_;
  std::unique_ptr<api::Api> api_;
  std::unique_ptr<http::Server> server_;
};

class OnePage : public ListScan {
 public:
  OnePage(cli::ApiQueue& client, TaskFilter filter) : client_(client), filter_(std::move(filter)) {}
  Result<std::optional<TaskPage>> next_part() override {
    const std::size_t limit = filter_.limit++;
    auto tasks = client_.list(filter_);
    if (!tasks) return fail(tasks.error());
    TaskPage page;
    const bool has_more = tasks->size() > limit;
    if (has_more) tasks->pop_back();
    page.assign(tasks->begin(), tasks->end());
    if (has_more) page.next = page.back().spec.id;
    return page;
  }

 private:
  cli::ApiQueue& client_;
  TaskFilter filter_;
};

class OnePrune : public RemovalScan {
 public:
  OnePrune(cli::ApiQueue& client, const PruneRequest& request) : client_(client), request_(request) {}
  Result<bool> next_part() override {
    const auto removed = client_.prune(request_);
    if (!removed) return fail(removed.error());
    removed_ = *removed;
    return true;
  }
  std::size_t removed() const override { return removed_; }

 private:
  cli::ApiQueue& client_;
  PruneRequest request_;
  std::size_t removed_ = 0;
};

// The client as a TaskQueue. What the API has no path for is asked of the queue behind it.
class QueueOverApi : public TaskQueue {
 public:
  QueueOverApi(std::string socket, LockedQueue& behind, SharedClock& server_clock, const FakeClock& clock)
      : server_clock_(server_clock),
        clock_(clock),
        shared_(behind),
        behind_(behind),
        client_(cli::ApiQueue::open(socket, Seconds(0), clock).value()),
        plain_(std::move(socket)) {}

  std::vector<Result<SubmitAnswer>> submit(std::span<const NewTask> tasks) override {
    return now_client().submit(tasks);
  }
  std::vector<Result<std::vector<Lease>>> lease(std::span<const LeaseRequest> requests) override {
    std::vector<Result<std::vector<Lease>>> answers;
    for (const LeaseRequest& request : requests) answers.push_back(now_client().lease(request));
    return answers;
  }
  // A worker of ours leases and starts in one step.
  std::vector<Result<LeaseOutcome>> start(std::span<const LeaseKey> keys) override {
    server_clock_.set(clock_);
    std::vector<Result<LeaseOutcome>> answers;
    for (const LeaseKey& key : keys) {
      const auto response = plain_.request("POST", cli::Target("leases").segment(key.exec_id).segment("start").text(),
                                           cli::token_json(key));
      const bool is_answer = response && (response->status == 200 || response->status == 409);
      answers.push_back(is_answer ? cli::lease_outcome_in(response->body) : fail(http::error_in(response.value())));
    }
    return answers;
  }
  Result<LeaseOutcome> renew(const LeaseKey& key) override { return now_client().renew(key); }
  std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) override {
    return now_client().commit(requests);
  }
  std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) override {
    return now_client().fail_attempts(requests);
  }
  Result<CancelOutcome> cancel(std::string_view id) override { return now_client().cancel(id); }
  Result<RetryOutcome> retry(std::string_view id, int attempts) override { return now_client().retry(id, attempts); }
  Result<Task> get(std::string_view id) override { return now_client().get(id); }
  std::unique_ptr<ListScan> begin_list(const TaskFilter& filter) override {
    return std::make_unique<OnePage>(now_client(), filter);
  }
  std::unique_ptr<RemovalScan> begin_prune(const PruneRequest& request) override {
    // The API removes what is older than a time that is over, and as many as there are.
    const bool can_be_asked = request.over_before <= now(clock_) && request.limit == PruneRequest().limit;
    if (can_be_asked) return std::make_unique<OnePrune>(now_client(), request);
    return now_behind().begin_prune(request);
  }

  std::unique_ptr<RemovalScan> begin_retention(const TaskRetention& keeps, Instant now) override {
    return now_behind().begin_retention(keeps, now);
  }
  Result<std::vector<Expired>> expire() override { return now_behind().expire(); }
  Result<TaskCounts> counts() override { return now_behind().counts(); }
  Result<TaskSummary> summary() override { return now_behind().summary(); }
  std::optional<Nanoseconds> next_expiry() const override {
    return shared_.ask([&](TaskQueue& queue) { return queue.next_expiry(); });
  }
  std::optional<Instant> next_ready() const override { return behind_.next_ready(); }
  bool has_unfinished() const override {
    return shared_.ask([&](TaskQueue& queue) { return queue.has_unfinished(); });
  }
  const std::optional<Error>& stopped() const override { return behind_.stopped(); }

 private:
  // The test may have set its clock.
  cli::ApiQueue& now_client() {
    server_clock_.set(clock_);
    return *client_;
  }
  ServedQueue& now_behind() {
    server_clock_.set(clock_);
    return behind_;
  }

  SharedClock& server_clock_;
  const FakeClock& clock_;
  LockedQueue& shared_;
  ServedQueue behind_;
  std::unique_ptr<cli::ApiQueue> client_;
  http::Client plain_;
};

class ApiRig : public QueueRig {
 public:
  using Make = std::unique_ptr<TaskQueue> (*)(ApiRig& rig, QueueOptions options);
  ApiRig(Make make, QueueOptions options) { shared_.queue = make(*this, std::move(options)); }
  TaskQueue& queue() override {
    if (!over_api_) {
      server_ = std::make_unique<TaskServer>(shared_, server_clock);
      over_api_ = std::make_unique<QueueOverApi>(server_->socket(), shared_, server_clock, clock);
    }
    return *over_api_;
  }

  SharedClock server_clock{clock};
  PowerCutFileSystem disk;
  SilentLog log;

 private:
  LockedQueue shared_;
  std::unique_ptr<TaskServer> server_;
  std::unique_ptr<QueueOverApi> over_api_;
};

std::unique_ptr<TaskQueue> memory_queue(ApiRig& rig, QueueOptions options) {
  return std::make_unique<MemoryQueue>(rig.server_clock, std::move(options));
}
std::unique_ptr<TaskQueue> file_queue(ApiRig& rig, QueueOptions options) {
  return FileQueue::open(rig.disk, rig.server_clock, rig.log, kQueuePath, std::move(options)).value();
}

template <ApiRig::Make make>
std::unique_ptr<QueueRig> api_rig(QueueOptions options) {
  return std::make_unique<ApiRig>(make, std::move(options));
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(OverTheApi, TaskQueueContract,
                         ::testing::Values(QueueBackend{"Memory", &api_rig<memory_queue>},
                                           QueueBackend{"File", &api_rig<file_queue>}),
                         backend_name);

}  // namespace kron::testing
