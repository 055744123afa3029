#include "kron/daemon/api_service.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include "kron/api/job_end.h"
#include "kron/api/web_listener.h"
#include "kron/daemon/history_sink.h"
#include "kron/daemon/host_events.h"
#include "kron/daemon/metrics_sink.h"
#include "kron/daemon/series_sink.h"
#include "kron/env/random_hex.h"
#include "kron/env/thread_start.h"

namespace kron::daemon {
namespace {

constexpr mode_t kOwnOnly = 0600;
constexpr mode_t kForGroupToo = 0660;

}  // namespace

Result<std::unique_ptr<ApiService>> ApiService::open(const Options& options, Daemon daemon) {
  auto history = history::History::open(options.state_directory, options.keeps, daemon.clock, daemon.log,
                                        [&priority = daemon.start_priority] { priority.yield_to_starts(); });
  if (!history) return fail(history.error());
  auto run_files = runner::RunFiles::open(options.state_directory);
  if (!run_files) return fail(run_files.error());
  auto outputs = api::OutputFollower::start(run_files->path());
  if (!outputs) return fail(outputs.error());
  auto aside = with_thread("answers that take long", [] { return std::make_unique<WorkThread>(); });
  if (!aside) return fail(aside.error());
  // Quick answers go before it, on whichever processor they meet.
  auto ahead = with_thread("looking ahead", [] { return std::make_unique<WorkThread>(kMostNiceness); });
  if (!ahead) return fail(ahead.error());
  return std::unique_ptr<ApiService>(new ApiService(options, std::move(daemon), *std::move(history),
                                                    *std::move(outputs), *std::move(run_files), *std::move(aside),
                                                    *std::move(ahead)));
}

ApiService::ApiService(const Options& options, Daemon daemon, std::unique_ptr<history::History> history,
                       std::unique_ptr<api::OutputFollower> outputs, runner::RunFiles run_files,
                       std::unique_ptr<WorkThread> aside, std::unique_ptr<WorkThread> ahead)
    : options_(options),
      daemon_(std::move(daemon)),
      access_({access_files_, options.state_directory}, daemon_.clock, daemon_.log, random_bytes),
      run_files_(std::move(run_files)),
      metrics_(KRON_VERSION, now(daemon_.clock)),
      job_metrics_(options.metrics_jobs),
      history_(std::move(history)),
      outputs_(std::move(outputs)),
      series_(std::make_shared<api::Series>(now(daemon_.clock))),
      sinks_{metrics_sink(metrics_, daemon_.clock), job_metrics_sink(job_metrics_),
             series_sink(*series_, daemon_.clock),
             history_sink(*history_, daemon_.clock, daemon_.cluster ? daemon_.cluster->instance : nullptr),
             [outputs = outputs_.get()](const Event& event) {
               if (const auto* ended = std::get_if<RunEnded>(&event)) outputs->run_ended(ended->run.run_id);
             }},
      aside_(std::move(aside)),
      ahead_(std::move(ahead)),
      api_(std::make_unique<api::Api>(parts())) {
  fill_series();
  if (!daemon_.cluster) return;
  tail_ = std::make_unique<OutcomeTail>(
      OutcomeTail::World{.link = *daemon_.cluster->link,
                         .clock = daemon_.clock,
                         .log = daemon_.log,
                         .history = *history_,
                         .aside = [this](std::function<void()> work) { return aside_->run(std::move(work)); },
                         .on_end = [this](const std::string& run_id) { outputs_->run_ended(run_id); },
                         .on_news =
                             [this](const history::Entry& entry) {
                               if (entry.host == daemon_.cluster->instance()) return;  // told by the log
                               publish_of_others(entry, daemon_.clock.wall(), daemon_.events);
                               if (const auto end = api::job_end_of(entry)) job_metrics_.saw(entry.job, *end);
                             }},
      daemon_.cluster->outcomes_key, options_.state_directory);
}

Nanoseconds ApiService::tick() {
  constexpr Nanoseconds kNothingToDo = std::chrono::hours(1);
  const Nanoseconds next = tail_ ? tail_->step() : daemon_.clock.monotonic() + kNothingToDo;
  return std::min({next, beat().value_or(next), sample()});
}

// What an earlier krond started on this day.
void ApiService::fill_series() {
  const Instant begun = now(daemon_.clock);
  constexpr Seconds kDay = std::chrono::minutes(api::Series::kMinutes);
  const Instant from = std::chrono::floor<std::chrono::minutes>(begun) - kDay + std::chrono::minutes(1);
  const history::StartsQuery starts{.from = from, .length = kDay, .parts = api::Series::kMinutes, .until = begun};
  history_->past({.starts = starts}, [series = series_, from](const Result<history::Past>& past) {
    if (!past) return;
    for (std::size_t i = 0; i < past->starts.size(); ++i) {
      if (past->starts[i] != 0) series->add_earlier(from + std::chrono::minutes(i), past->starts[i]);
    }
  });
}

// What runs, and once a minute what waits in the queue.
Nanoseconds ApiService::sample() {
  const Instant at = now(daemon_.clock);
  series_->set_running(at, daemon_.scheduler.active_runs());
  const Nanoseconds now_monotonic = daemon_.clock.monotonic();
  if (now_monotonic < next_sample_) return next_sample_;
  if (!options_.web_socket.empty()) access_.close_expired();
  daemon_.tasks.summary([series = series_, at](const Result<TaskSummary>& tasks) {
    if (tasks) series->set_pending(at, tasks->counts.pending);
  });
  return next_sample_ = now_monotonic + std::chrono::minutes(1);
}

// Those who read events hear from the loop itself: one that hangs does not say that all is well.
std::optional<Nanoseconds> ApiService::beat() {
  if (daemon_.events.streams() == 0) return next_beat_ = std::nullopt;
  const Nanoseconds now = daemon_.clock.monotonic();
  if (next_beat_ && now < *next_beat_) return next_beat_;
  if (next_beat_) daemon_.events.beat();
  return next_beat_ = now + api::EventHub::kBetweenBeats;
}

void ApiService::observe(const Event& event) const {
  for (const Observer& sink : sinks_) sink(event);
}

void ApiService::close() {
  daemon_.events.end();
  server_.reset();
}

// Threads that hold questions of the API end before it does, each before those whom it asks in turn: who looks ahead
// asks the history what was, the follower asks it at the end of a run, and the history answers to the last what it was
// asked, and hands what takes long on to the work thread.
ApiService::~ApiService() {
  close();
  if (tail_) tail_->stop();
  api_->stop();
  ahead_.reset();
  outputs_.reset();
  history_.reset();
  aside_.reset();
}

api::Parts ApiService::parts() {
  return {.on_loop = [this](Mailbox::Work work) { daemon_.mailbox.post(std::move(work)); },
          .aside = [this](WorkThread::Work work) { return aside_->run(std::move(work)); },
          .ahead = [this](WorkThread::Work work) { return ahead_->run(std::move(work)); },
          .scheduler = daemon_.scheduler,
          .status = daemon_.status,
          .reload = daemon_.reload,
          .clock = daemon_.clock,
          .log = daemon_.log,
          .history = *history_,
          .tasks = daemon_.tasks,
          .metrics = metrics_,
          .events = daemon_.events,
          .outputs = *outputs_,
          .run_files = run_files_,
          .keeps = options_.keeps,
          .state = daemon_.state,
          .preview_reload = daemon_.preview_reload,
          .job_metrics = &job_metrics_,
          .operations = daemon_.cluster ? daemon_.cluster->operations : api::Operations(),
          .others = daemon_.cluster ? daemon_.cluster->others : api::OtherHosts(),
          .access = &access_,
          .series = series_};
}

Result<http::Server::Listeners> ApiService::listeners() {
  http::Server::Listeners all;
  if (!options_.socket.empty()) {
    const api::Access access{.own = ::geteuid(),
                             .group = options_.socket_group,
                             .of_group = options_.group_operates ? api::Right::operate : api::Right::read};
    auto own = http::UnixListener::open(
        options_.socket, options_.socket_group ? kForGroupToo : kOwnOnly, options_.socket_group,
        [access](const http::Credentials& peer) { return api::principal_of(peer, access); });
    if (!own) return fail(own.error());
    all.push_back(std::make_unique<http::UnixListener>(*std::move(own)));
  }
  if (!options_.web_socket.empty()) {
    // Who may open it is the file's business; what he may then, that of what he shows.
    auto web = http::UnixListener::open(options_.web_socket, options_.web_socket_group ? kForGroupToo : kOwnOnly,
                                        options_.web_socket_group,
                                        [](const http::Credentials&) { return http::Principal{.name = "front"}; });
    if (!web) return fail(web.error());
    all.push_back(std::make_unique<api::WebListener>(std::make_unique<http::UnixListener>(*std::move(web)), access_,
                                                     options_.open_metrics));
  }
  return all;
}

Status ApiService::listen() {
  auto all = listeners();
  if (!all) return fail(all.error());
  if (all->empty()) return {};
  api::Api* api = api_.get();
  http::Server::Options options;
  options.body_limit = [api](const http::Request& head) { return api->body_limit(head); };
  auto server = http::Server::start(
      *std::move(all), std::move(options),
      [api, &priority = daemon_.start_priority](http::Request request, http::Reply reply) {
        priority.yield_to_starts();
        api->answer(std::move(request), std::move(reply));
      },
      daemon_.log);
  if (!server) return fail(server.error());
  server_ = *std::move(server);
  access_.close_by(server_->closer());
  daemon_.events.deliver_by(
      [post = server_->poster(), &priority = daemon_.start_priority](std::function<void()> deliver) {
        post([&priority, deliver = std::move(deliver)] {
          priority.yield_to_starts();
          deliver();
        });
      });
  return {};
}

}  // namespace kron::daemon
