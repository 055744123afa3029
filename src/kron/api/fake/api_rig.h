#pragma once

#include <atomic>
#include <filesystem>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <poll.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>

#include "kron/api/api.h"
#include "kron/api/web_listener.h"
#include "kron/core/sample_jobs.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/silent_log.h"
#include "kron/env/mailbox.h"
#include "kron/env/random_hex.h"
#include "kron/env/real_file_system.h"
#include "kron/env/work_thread.h"
#include "kron/http/client.h"
#include "kron/http/server.h"
#include "kron/queue/file_queue.h"
#include "kron/scheduler/fake/host.h"

// The whole API over a real socket, and a loop with a real mailbox; the scheduler on it lives in a made-up world.
namespace kron::api {

inline jobs::JobDefinition noon_job(std::string name) {
  jobs::JobDefinition definition;
  definition.job = testing::make_job({.schedule = "0 12 * * *", .identity = name});
  definition.action = jobs::Command{"echo " + name};
  return definition;
}

inline constexpr gid_t kRigReaders = 4712;
inline const Access kRigAccess{.own = ::geteuid(), .group = kRigReaders};

inline std::string made_anew(const std::filesystem::path& directory) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  return directory.string();
}

// The daemon's loop, as far as the API meets it: a thread that works off its mailbox.
class LoopThread {
 public:
  LoopThread() : thread_([this] { serve(); }) {}
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  ~LoopThread() {
    mailbox_.post([this] { is_ending_ = true; });
    thread_.join();
  }

  void post(Mailbox::Work work) {
    mailbox_.post([this, work = std::move(work)] {
      ++items_;
      work();
    });
  }

  // Returns when it is done.
  void run(const Mailbox::Work& work) {
    std::promise<void> done;
    mailbox_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

  int items() const { return items_; }  // that were posted and done

 private:
  void serve() {
    while (!is_ending_) {
      pollfd polled{.fd = mailbox_.descriptor(), .events = POLLIN, .revents = 0};
      ::poll(&polled, 1, -1);
      mailbox_.work_off(std::chrono::milliseconds(2));
    }
  }

  Mailbox mailbox_;
  std::atomic<int> items_ = 0;
  bool is_ending_ = false;
  std::thread thread_;
};

// Threads of several parts write to it.
class LockedLog : public Log {
 public:
  void write(LogLevel level, std::string_view event, std::span<const LogField> fields) override {
    const std::lock_guard lock(mutex_);
    log_.write(level, event, fields);
  }
  std::vector<testing::CapturingLog::Line> lines_of(std::string_view event) const {
    const std::lock_guard lock(mutex_);
    return log_.lines_of(event);
  }

 private:
  mutable std::mutex mutex_;
  testing::CapturingLog log_;
};

class ApiRig : public ::testing::Test {
 protected:
  ApiRig() : ApiRig(OtherHosts{}) {}
  // `others` is asked when requests are.
  explicit ApiRig(OtherHosts others)
      : directory_(std::filesystem::path(::testing::TempDir()) / ("kron-api-" + std::to_string(::getpid()))),
        others_(std::move(others)) {
    writer_.holds = false;
    host_.outside.writer = &writer_;
    host_.set_jobs({noon_job("a/b"), noon_job("c"), noon_job("d")});
    EXPECT_TRUE(host_.start_daemon());
    history_ = history::History::open(directory_.string(), {}, host_.clock, log_).value();
    outputs_ = OutputFollower::start((directory_ / "runs").string()).value();
    tasks_ = std::make_unique<QueueThread>(file_queue_opener(files_, host_.clock, log_, (directory_ / "data").string()),
                                           host_.clock, log_, QueueThread::Options{.place = "data"});
    api_ = std::make_unique<Api>(parts());
    serve();
  }
  ~ApiRig() override {
    stop();
    std::filesystem::remove_all(directory_);
  }

  // For an heir whose own members are asked by threads.
  void stop() {
    server_.reset();
    if (api_) api_->stop();
    loop_.reset();
    ahead_.reset();
    tasks_.reset();
    outputs_.reset();
    history_.reset();
    aside_.reset();
    api_.reset();
  }

  Parts parts() {
    return {.on_loop = [this](const Parts::Work& work) { loop_->post(work); },
            .aside = [this](Parts::Work work) { return aside_->run(std::move(work)); },
            .ahead =
                [this](Parts::Work work) {
                  ++looks_ahead_;
                  return ahead_->run(std::move(work));
                },
            .scheduler = *host_.scheduler,
            .status = [this] { return status_; },
            .reload = [this](const auto& answer) { answer(reload_); },
            .clock = host_.clock,
            .log = heard_,
            .history = *history_,
            .tasks = *tasks_,
            .metrics = metrics_,
            .events = events_,
            .outputs = *outputs_,
            .run_files = run_files_,
            .state = {.directory = made_anew(directory_ / "records"),
                      .configured = [this]() -> Result<std::vector<std::string>> { return configured_; },
                      .forget = [this](const std::vector<Sha256>& jobs) -> Status {
                        forgotten_ += jobs.size();
                        return forget_;
                      }},
            // The jobs of a cluster come from no files.
            .preview_reload = others_.has_run ? ReloadPreview() : [this](const auto& jobs) { return preview_(jobs); },
            .job_metrics = &job_metrics_,
            .others = others_,
            .access = &access_};
  }

  void do_on_loop(const Parts::Work& work) { loop_->run(work); }

  void serve() {
    http::Server::Listeners listeners;
    listeners.push_back(std::make_unique<http::UnixListener>(
        http::UnixListener::open(socket(), 0600, std::nullopt, [](const auto& peer) {
          return principal_of(peer, kRigAccess);
        }).value()));
    auto web = http::UnixListener::open(web_socket(), 0600, std::nullopt,
                                        [](const auto&) { return http::Principal{.name = "front"}; });
    listeners.push_back(
        std::make_unique<WebListener>(std::make_unique<http::UnixListener>(*std::move(web)), access_, open_metrics_));
    server_ = http::Server::start(
                  std::move(listeners), {.body_limit = [this](const auto& head) { return api_->body_limit(head); }},
                  [this](http::Request request, http::Reply reply) {
                    if (is_reader_) request.principal = principal(reader());
                    if (is_operator_) request.principal = principal(reader(), Right::operate);
                    if (is_nobody_) request.principal = {};
                    api_->answer(std::move(request), std::move(reply));
                  },
                  log_)
                  .value();
    access_.close_by(server_->closer());
  }
  // Somebody of the group, which may only look, or more.
  static http::Principal principal(const http::Credentials& peer, Right of_group = Right::read) {
    Access access = kRigAccess;
    access.of_group = of_group;
    return std::get<http::Principal>(principal_of(peer, access));
  }
  static http::Credentials reader() { return {.uid = 4711, .gid = 4711, .groups = {kRigReaders}, .pid = 1}; }

  std::string socket() const { return (directory_ / "krond.sock").string(); }

  http::Response ask(std::string_view method, std::string_view target, std::string body = {},
                     http::Fields headers = {}) {
    http::Client client(socket());
    return client.request(method, target, std::move(body), std::move(headers)).value();
  }

  std::string web_socket() const { return (directory_ / "web.sock").string(); }
  // Through the web socket, where the token counts.
  http::Response ask_web(std::string_view method, std::string_view target, std::string body = {},
                         http::Fields headers = {}) {
    http::Client client(web_socket());
    return client.request(method, target, std::move(body), std::move(headers)).value();
  }
  static http::Fields bearer(const std::string& token) { return {{"Authorization", "Bearer " + token}}; }
  AccessStore::Created new_token(const std::string& name, Right role, std::optional<Seconds> lives = {}) {
    const std::optional<Instant> until = lives ? std::optional(now(host_.clock) + *lives) : std::nullopt;
    return access_.create({.name = name, .role = role, .expires_at = until, .by = "root"}).value();
  }

  std::filesystem::path directory_;
  OtherHosts others_;
  testing::HeldWriter writer_;  // of the loop
  testing::Host host_{testing::utc("2026-03-01T00:00:00Z")};
  std::atomic<bool> is_reader_ = false;    // whoever asks passes for one
  std::atomic<bool> is_operator_ = false;  // or for one of a group that may operate
  std::atomic<bool> is_nobody_ = false;    // or for somebody without any right
  RealFileSystem files_;
  testing::SilentLog log_;
  LockedLog heard_;  // what the API says to the log
  metrics::Metrics metrics_{"1.0", testing::utc("2026-03-01T00:00:00Z")};
  EventHub events_{1};
  DaemonStatus status_{.version = "1.0", .is_ready = true, .jobs = 3, .state_directory = "/state", .socket = "/sock"};
  Result<ReloadReport> reload_ = ReloadReport{.jobs = 3};
  metrics::JobMetrics job_metrics_{2};
  ReloadPreview preview_ = [](const auto&) { return ReloadReport{}; };
  Result<std::vector<std::string>> configured_ = std::vector<std::string>{};
  Status forget_ = {};
  std::size_t forgotten_ = 0;
  runner::RunFiles run_files_ = runner::RunFiles::open(made_anew(directory_)).value();
  AccessStore access_{{files_, directory_.string()}, host_.clock, heard_, random_bytes};
  bool open_metrics_ = false;  // serve() again
  std::unique_ptr<LoopThread> loop_ = std::make_unique<LoopThread>();
  std::unique_ptr<WorkThread> aside_ = std::make_unique<WorkThread>();
  std::atomic<int> looks_ahead_ = 0;  // that were computed, or wait for it
  std::unique_ptr<WorkThread> ahead_ = std::make_unique<WorkThread>();
  std::unique_ptr<history::History> history_;
  std::unique_ptr<OutputFollower> outputs_;
  std::unique_ptr<QueueThread> tasks_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace kron::api
