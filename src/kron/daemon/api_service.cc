#include "kron/daemon/api_service.h"

#include <unistd.h>
#include <utility>

#include "kron/daemon/history_sink.h"
#include "kron/daemon/host_events.h"
#include "kron/daemon/metrics_sink.h"
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
  return std::unique_ptr<ApiService>(new ApiService(options, std::move(daemon), *std::move(history),
                                                    *std::move(outputs), *std::move(run_files), *std::move(aside)));
}

ApiService::ApiService(const Options& options, Daemon daemon, std::unique_ptr<history::History> history,
                       std::unique_ptr<api::OutputFollower> outputs, runner::RunFiles run_files,
                       std::unique_ptr<WorkThread> aside)
    : options_(options),
      daemon_(std::move(daemon)),
      run_files_(std::move(run_files)),
      metrics_(KRON_VERSION, now(daemon_.clock)),
      history_(std::move(history)),
      outputs_(std::move(outputs)),
      sinks_{metrics_sink(metrics_, daemon_.clock),
             history_sink(*history_, daemon_.cluster ? daemon_.cluster->instance : nullptr),
             [outputs = outputs_.get()](const Event& event) {
               if (const auto* ended = std::get_if<RunEnded>(&event)) outputs->run_ended(ended->run.run_id);
             }},
      aside_(std::move(aside)),
      api_(std::make_unique<api::Api>(parts())) {
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
                             }},
      daemon_.cluster->outcomes_key, options_.state_directory);
}

Nanoseconds ApiService::tick() {
  constexpr Nanoseconds kNothingToDo = std::chrono::hours(1);
  return tail_ ? tail_->step() : daemon_.clock.monotonic() + kNothingToDo;
}

void ApiService::observe(const Event& event) const {
  for (const Observer& sink : sinks_) sink(event);
}

void ApiService::close() {
  daemon_.events.end();
  server_.reset();
}

// Threads that hold questions of the API end before it does, each before those whom it asks in turn: the follower asks
// the history at the end of a run, and the history answers to the last what it was asked, and hands what takes long on
// to the work thread.
ApiService::~ApiService() {
  close();
  if (tail_) tail_->stop();
  outputs_.reset();
  history_.reset();
  aside_.reset();
}

api::Parts ApiService::parts() {
  return {.on_loop = [this](Mailbox::Work work) { daemon_.mailbox.post(std::move(work)); },
          .aside = [this](WorkThread::Work work) { return aside_->run(std::move(work)); },
          .scheduler = daemon_.scheduler,
          .status = daemon_.status,
          .reload = daemon_.reload,
          .clock = daemon_.clock,
          .history = *history_,
          .tasks = daemon_.tasks,
          .metrics = metrics_,
          .events = daemon_.events,
          .outputs = *outputs_,
          .run_files = run_files_,
          .keeps = options_.keeps,
          .state = daemon_.state,
          .operations = daemon_.cluster ? daemon_.cluster->operations : api::Operations(),
          .others = daemon_.cluster ? daemon_.cluster->others : api::OtherHosts()};
}

Status ApiService::listen() {
  if (options_.socket.empty()) return {};
  api::Api* api = api_.get();
  http::Server::Options options;
  options.body_limit = [api](const http::Request& head) { return api->body_limit(head); };
  const api::Access access{.own = ::geteuid(),
                           .group = options_.socket_group,
                           .of_group = options_.group_operates ? api::Right::operate : api::Right::read};
  auto listener =
      http::UnixListener::open(options_.socket, options_.socket_group ? kForGroupToo : kOwnOnly, options_.socket_group,
                               [access](const http::Credentials& peer) { return api::principal_of(peer, access); });
  if (!listener) return fail(listener.error());
  http::Server::Listeners listeners;
  listeners.push_back(std::make_unique<http::UnixListener>(*std::move(listener)));
  auto server = http::Server::start(
      std::move(listeners), std::move(options),
      [api, &priority = daemon_.start_priority](http::Request request, http::Reply reply) {
        priority.yield_to_starts();
        api->answer(std::move(request), std::move(reply));
      },
      daemon_.log);
  if (!server) return fail(server.error());
  server_ = *std::move(server);
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
