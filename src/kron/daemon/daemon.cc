#include "kron/daemon/daemon.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/daemon/ping_post.h"
#include "kron/daemon/reload_preview.h"
#include "kron/daemon/stop_note.h"
#include "kron/daemon/this_machine.h"
#include "kron/daemon/work_of.h"
#include "kron/env/places.h"
#include "kron/env/safe_place.h"
#include "kron/env/thread_start.h"
#include "kron/jobs/words.h"
#include "kron/queue/file_queue.h"
#include "kron/runner/cgroups.h"
#include "kron/runner/find_kron_exec.h"
#include "kron/scheduler/log_events.h"

namespace kron::daemon {
namespace {

// What a turn spends on those who ask, before it looks again at what is due.
constexpr Nanoseconds kApiBudget = std::chrono::milliseconds(2);

// When to offer again to the log what its reader has not taken.
constexpr Nanoseconds kLogIsRead = std::chrono::milliseconds(10);
constexpr Nanoseconds kLogIsNotRead = std::chrono::seconds(1);

// While a crowd is started: that of a thousand takes about as long.
constexpr Nanoseconds kEndsWait = std::chrono::seconds(1);

// For the ends of runs to reach Redis, and for pings to reach their receivers, when we are told to end.
constexpr Nanoseconds kStopPatience = std::chrono::seconds(5);

const Error kStateIsInRedis{
    Code::refused,
    "in a cluster the records of jobs are in Redis, in the hash :kron:state, and those on this host mean nothing"};

std::optional<Nanoseconds> earlier(std::optional<Nanoseconds> one, Nanoseconds other) {
  return std::min(one.value_or(other), other);
}

// Who owns nothing.
constexpr uid_t kNobody = 65534;

std::string own_status() {
  std::ifstream file("/proc/self/status");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::int64_t count(std::size_t number) { return static_cast<std::int64_t>(number); }

}  // namespace

Daemon::Daemon(Options options, const Clock& clock, LineLog& log)
    : options_(std::move(options)),
      clock_(clock),
      lines_(log),
      started_at_(now(clock)),
      machine_name_(machine_name()),
      machine_zone_(machine_zone()),
      // Greater than any number that an earlier daemon can have come to.
      events_(static_cast<std::uint64_t>(
          std::chrono::floor<std::chrono::microseconds>(clock.wall().time_since_epoch()).count())),
      log_(lines_, events_, clock_),
      claimed_tasks_([this] { mailbox_.post([] {}); }),
      manager_(ServiceManager::from_environment()),
      pings_([this](Ping ping) { ping_sender_->send(std::move(ping)); }),
      cgroup_(options_.run_cgroup.empty() ? runner::find_own_cgroup() : options_.run_cgroup),
      run_retention_(options_.state_directory, cgroup_, options_.keeps, log_) {}

// The queue may still answer clients, so it ends before the API service, and after nobody can ask any more.
Daemon::~Daemon() {
  if (api_service_) api_service_->close();
  ping_sender_.reset();  // it counts there
  if (cluster_) cluster_->stop(Nanoseconds(0));
  queue_.reset();
  api_service_.reset();
}

Result<std::unique_ptr<Daemon>> Daemon::open(Options options, const Clock& clock, LineLog& log) {
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(options), clock, log));
  Status opened = daemon->open_parts();
  if (opened && !daemon->options_.once) opened = daemon->open_api_service();
  if (!opened) return fail(opened.error());
  return daemon;
}

Status Daemon::open_parts() {
  // In a cluster the loop goes by the monotonic clock alone, whatever the machine's says.
  Result<std::unique_ptr<EventLoop>> loop = EventLoop::create(options_.clock_offset);
  if (!loop) return fail(loop.error());
  loop_ = *std::move(loop);
  // Before there is any other thread: one that did not block them would be ended by them, and all of us with it.
  Status opened = loop_->take_signals({SIGTERM, SIGINT, SIGHUP}, [this](int s) { take_signal(s); });
  if (opened) opened = open_host();
  if (opened) opened = open_queue();
  if (!opened) return opened;
  open_pings();
  open_scheduler();
  // The turn that follows drains the first two.
  opened = loop_->watch(runner_->descriptor(), [] {});
  if (opened) opened = loop_->watch(submitter_->descriptor(), [] {});
  if (opened) opened = loop_->watch(mailbox_.descriptor(), [this] { mailbox_.work_off(kApiBudget); });
  return opened;
}

Status Daemon::open_host() {
  if (const Status safe = check_place(options_.state_directory); !safe) {
    return fail(Code::refused, "the state directory " + options_.state_directory + ": " + safe.error().message);
  }
  Result<std::unique_ptr<FileLedger>> ledger = FileLedger::open(file_system_, options_.state_directory, log_);
  if (!ledger) return fail(ledger.error());
  ledger_ = *std::move(ledger);
  const Result<std::string> helper = runner::find_kron_exec(options_.helper);
  if (!helper) return fail(helper.error());
  auto runner = runner::RealProcessRunner::create({.helper = *helper,
                                                   .state_directory = options_.state_directory,
                                                   .clock_offset = options_.clock_offset,
                                                   .cgroup = cgroup_,
                                                   .credentials = default_credentials(options_.state_directory),
                                                   .reaps_orphans = ::getpid() == 1},
                                                  clock_);
  if (!runner) return fail(runner.error());
  runner_ = *std::move(runner);
  if (!options_.cluster) return {};
  auto cluster = ClusterParts::open(*options_.cluster, {.host = clock_,
                                                        .log = log_,
                                                        .mailbox = mailbox_,
                                                        .file_system = file_system_,
                                                        .processes = *runner_,
                                                        .wake_tasks =
                                                            [this](std::string type) {
                                                              if (queue_) queue_->wake(std::move(type));
                                                            },
                                                        .observe =
                                                            [this](const Event& event) {
                                                              if (api_service_) api_service_->observe(event);
                                                            },
                                                        .state_directory = options_.state_directory,
                                                        .version = KRON_VERSION});
  if (!cluster) return fail(cluster.error());
  cluster_ = *std::move(cluster);
  return {};
}

Status Daemon::open_queue() {
  const std::string data_directory = options_.state_directory + "/data";
  QueueThread::Options of_queue{
      .place = data_directory,
      .on_stopped = [this](const Error& error) { mailbox_.post([this, error] { queue_stopped_ = error; }); },
      .keeps = options_.once ? std::nullopt : std::optional(options_.keeps_tasks)};
  if (has_tasks_in_redis()) of_queue.place = cluster_->tasks_place();
  QueueOpener open = has_tasks_in_redis()
                         ? cluster_->task_opener()
                         : file_queue_opener(queue_file_system_, clock_, log_, data_directory, {.leaves_room = true});
  const Clock& clock = has_tasks_in_redis() ? time() : clock_;
  auto queue = with_thread("the task queue", [&] {
    return std::make_unique<QueueThread>(std::move(open), clock, log_, std::move(of_queue));
  });
  if (!queue) return fail(queue.error());
  queue_ = *std::move(queue);
  submitter_ = std::make_unique<QueueSubmitter>(
      [this](std::vector<NewTask> tasks, QueueSubmitter::Answered answered) {
        queue_->submit(std::move(tasks), std::move(answered));
      },
      clock_, log_);
  return {};
}

void Daemon::open_pings() {
  ping_sender_ =
      std::make_unique<PingSender>(PingSender::World{.clock = clock_,
                                                     .log = log_,
                                                     .make_post = ping_posts(options_.state_directory),
                                                     .count =
                                                         [this](PingSender::End end) {
                                                           if (api_service_)
                                                             api_service_->metrics().pinged(name_of(end));
                                                         },
                                                     .before_each = [this] { start_priority_.yield_to_starts(); }});
}

void Daemon::open_scheduler() {
  if (cluster_) host_log_ = std::make_unique<HostLog>(log_, [this] { return cluster_->instance(); });
  notifier_ = std::make_unique<Notifier>(
      Notifier::World{.clock = time(),
                      .log = log_,
                      .submit = [this](auto tasks, auto answered) { queue_->submit(std::move(tasks), answered); },
                      .on_loop = [this](auto work) { mailbox_.post(std::move(work)); },
                      .note = [this](const auto& job, auto notes) { scheduler_->note_alarm(job, std::move(notes)); },
                      .view = [this](const auto& job) { return scheduler_->view(job); },
                      .host = machine_name_});
  Scheduler::World world{.clock = time(),
                         .ledger = cluster_ ? cluster_->ledger() : static_cast<Ledger&>(*ledger_),
                         .runner = cluster_ ? cluster_->runner() : static_cast<ProcessRunner&>(*runner_),
                         .log = log_,
                         .writer = &writer_,
                         .on_written = [this] { mailbox_.post([] {}); },  // a turn follows
                         .observers = {[this](const Event& event) {
                                         if (api_service_) api_service_->observe(event);
                                       },
                                       [this](const Event& event) { notifier_->take(event); },
                                       [this](const Event& event) { pings_.take(event); },
                                       logging_to(cluster_ ? static_cast<Log&>(*host_log_) : log_)},
                         .ends_wait = cluster_ ? Nanoseconds(0) : kEndsWait,
                         .catch_up_spread = options_.catch_up_spread,
                         .max_running = options_.max_running,
                         .others_may_start = cluster_ != nullptr,
                         .tasks = cluster_ ? static_cast<TaskSubmitter*>(&claimed_tasks_) : submitter_.get()};
  Scheduler::MakeWork make_work = work_of;
  if (cluster_) {
    world.clock_is_corrected = true;
    world.scope = [this](const jobs::JobDefinition& definition) { return cluster_->scope(definition); };
    make_work = [this](const jobs::JobDefinition& definition, const RunCause& cause) {
      return with_variables(work_of(definition, cause), cluster_->passed_on());
    };
  }
  scheduler_ = std::make_unique<Scheduler>(std::move(world), std::move(make_work));
  if (cluster_) return;
  file_jobs_ = std::make_unique<FileJobs>(FileJobs::World{.options = options_,
                                                          .clock = clock_,
                                                          .log = log_,
                                                          .mailbox = mailbox_,
                                                          .scheduler = *scheduler_,
                                                          .prepare = [this](const auto& jobs) { prepare_for(jobs); },
                                                          .before_reload = [this] { about_to_reload(); },
                                                          .after_reload = [this](bool ok) { have_reloaded(ok); }});
}

Status Daemon::open_api_service() {
  ApiService::Daemon parts{.clock = time(),
                           .log = log_,
                           .mailbox = mailbox_,
                           .scheduler = *scheduler_,
                           .tasks = *queue_,
                           .events = events_,
                           .start_priority = start_priority_,
                           .status = [this] { return status(); },
                           .reload = [this](auto answer) { reload(std::move(answer)); },
                           .state = {.directory = options_.state_directory}};
  if (cluster_) {
    parts.cluster = ApiService::Cluster{.link = &cluster_->link(),
                                        .outcomes_key = cluster_->keys().outcomes(),
                                        .instance = [this] { return cluster_->instance(); },
                                        .operations = cluster_->operations(),
                                        .others = cluster_->others()};
    parts.state.configured = []() -> Result<std::vector<std::string>> { return fail(kStateIsInRedis); };
    parts.state.forget = [](const auto&) -> Status { return fail(kStateIsInRedis); };
  } else {
    parts.state.configured = [this] { return file_jobs_->configured(); };
    parts.preview_reload = [paths = options_.config, source = options_.source, &clock = time()](const auto& in_force) {
      return preview_reload({paths, source}, in_force, now(clock));
    };
    parts.state.forget = [this](const auto& jobs) {
      scheduler_->settle_requests();  // the ledger is nobody else's then
      return ledger_->forget(jobs);
    };
  }
  auto service = ApiService::open(options_, std::move(parts));
  if (!service) return fail(service.error());
  api_service_ = *std::move(service);
  return {};
}

// In a container; elsewhere the service manager starts it.
Status Daemon::open_web_front() {
  std::error_code ignored;
  const Result<std::string> kron = find_kron(std::filesystem::read_symlink("/proc/self/exe", ignored).string());
  if (!kron) return fail(kron.error());
  WebFront::Options front{
      .command = {*kron, "web", "--service", "--listen", options_.web, "--web-socket", options_.web_socket}};
  front.command.insert(front.command.end(), options_.web_flags.begin(), options_.web_flags.end());
  if (may_change_user(own_status())) {
    front.user = kNobody;
    front.group = options_.web_socket_group;
  }
  web_front_ = std::make_unique<WebFront>(std::move(front), clock_, log_);
  return {};
}

// A worker for the tasks that notifications are: a process of its own, which may hang, and nobody here waits for it.
void Daemon::open_deliverer() {
  std::error_code ignored;
  const Result<std::string> kron = find_kron(std::filesystem::read_symlink("/proc/self/exe", ignored).string());
  if (!kron || options_.socket.empty()) {
    no_deliverer_ =
        kron ? "they are leased from krond's socket, and there is none; leave out --socket none" : kron.error().message;
    log_.error("notifications_not_delivered", {{"reason", no_deliverer_}});
    return;
  }
  const std::vector<std::string> words{*kron,      "notify",       "deliver", "--notify-file", options_.notify_file,
                                       "--socket", options_.socket};
  const std::string deliver = jobs::quoted_words(words);
  WebFront::Options worker{.command = {*kron, "worker", "--type", std::string(kNotifyTaskType), "--exec", deliver,
                                       "--socket", options_.socket, "--name", "krond-notify", "--concurrency", "4",
                                       "--work-dir", options_.state_directory + "/notify", "--log-format",
                                       options_.log_format == LogFormat::json ? "json" : "text"},
                           .is_deliverer = true};
  if (!options_.helper.empty()) worker.command.insert(worker.command.end(), {"--helper", options_.helper});
  deliverer_ = std::make_unique<WebFront>(std::move(worker), clock_, log_);
}

Nanoseconds Daemon::step_child(WebFront& child, pid_t& watched) {
  const Nanoseconds next = child.step();
  // A process that has ended is no longer watched: its descriptor is closed.
  if (child.descriptor() >= 0 && std::exchange(watched, child.pid()) != child.pid()) {
    (void)loop_->watch(child.descriptor(), [] {});  // the turn that follows takes its end
  }
  return next;
}

Status Daemon::run() {
  if (Status started = start(); !started) return started;
  Status served = serve();
  scheduler_->settle_requests();  // whoever has asked is answered
  if (!served) return served;
  if (cluster_) cluster_->stop(kStopPatience);
  ping_sender_->finish(options_.once ? PingQueue::kLasts : kStopPatience);
  log_.info("daemon_ended", {{"running", count(scheduler_->active_runs())}});
  return {};
}

// Until all is done, or nothing can be done any more.
Status Daemon::serve() {
  while (true) {
    if (std::exchange(wants_reload_, false)) reload({});
    const Wakeup wakeup = turn();
    if (scheduler_->broken()) return fail(*scheduler_->broken());
    if (submitter_->broken()) return fail(*submitter_->broken());
    if (queue_stopped_) return fail(*queue_stopped_);
    if (cluster_ && cluster_->refused()) return fail(*cluster_->refused());
    if (is_done(wakeup)) return {};
    if (!options_.once) run_retention_.turn(clock_.monotonic(), [this] { return scheduler_->active_run_ids(); });
    sleep_until(wakeup);
  }
}

// What is late, and may be for minutes, waits with those who ask.
Wakeup Daemon::turn() {
  const bool is_due = next_start_ && *next_start_ <= now(time());
  if (is_due) start_priority_.begin();
  const Wakeup wakeup = scheduler_->tick();
  if (is_due) start_priority_.end();
  next_due_ = wakeup.at;
  next_start_ = wakeup.due;
  return wakeup;
}

Status Daemon::start() {
  if (file_jobs_) {
    if (Status readable = file_jobs_->check(); !readable) return readable;
  }
  // Before the jobs: whoever asks while they are read is told that we are not ready.
  if (api_service_) {
    if (Status listens = api_service_->listen(); !listens) return listens;
  }
  if (api_service_ && !options_.web.empty()) {
    if (Status opened = open_web_front(); !opened) return opened;
  }
  if (manager_.alive_every()) alive_at_ = clock_.monotonic() + *manager_.alive_every();
  if (cluster_) return start_cluster();
  if (Status started = file_jobs_->start([this] { return on_time_since(); }); !started) return started;
  have_started();
  manager_.ready(status_sentence());
  return {};
}

// A fleet outlives a reboot of its Redis: we are up, and say what we wait for, until it is there.
Status Daemon::start_cluster() {
  Status connects = cluster_->start({.scheduler = *scheduler_,
                                     .begin = [this]() -> Result<std::optional<Instant>> {
                                       if (Status started = scheduler_->start({}); !started)
                                         return fail(started.error());
                                       return on_time_since();
                                     },
                                     .started = [this] { have_started(); },
                                     .prepare =
                                         [this](const auto& jobs) {
                                           prepare_accounts(jobs, *runner_);
                                           notifier_->prepare(jobs);
                                           pings_.put(jobs);
                                         },
                                     .dropped = [this](auto names) { pings_.drop(names); }});
  // In Redis every krond sees to leases that run out and to old tasks; files are looked after if they are there.
  if (connects && has_tasks_in_redis()) queue_->open([](const Status&) {});
  if (connects && !has_tasks_in_redis()) queue_->summary([](const Result<TaskSummary>&) {});
  if (connects) manager_.ready(status_sentence());
  return connects;
}

void Daemon::have_started() {
  is_ready_ = true;
  log_.info("daemon_started", {{"jobs", count(scheduler_->job_count())},
                               {"running", count(scheduler_->active_runs())},
                               {"path", options_.state_directory},
                               {"pid", ::getpid()},
                               {"version", KRON_VERSION}});
}

void Daemon::reload(std::function<void(const Result<api::ReloadReport>&)> answer) {
  if (file_jobs_) return file_jobs_->reload(std::move(answer));
  cluster_->reload(std::move(answer));
}

// Nobody waits for the queue: one that cannot be opened is tried again, and the jobs that need it wait. One that is
// there is opened in any case, so that its leases run out and its finished tasks are removed.
void Daemon::prepare_for(const std::vector<jobs::JobDefinition>& definitions) {
  prepare_accounts(definitions, *runner_);
  notifier_->prepare(definitions);
  pings_.replace(definitions);
  if (has_tasks(definitions) || notifier_->is_wanted()) {
    queue_->open([](const Status&) {});
  } else if (!options_.once) {
    queue_->summary([](const Result<TaskSummary>&) {});
  }
}

void Daemon::about_to_reload() {
  manager_.reloading(clock_.monotonic());
  if (web_front_) web_front_->reload();
}

void Daemon::have_reloaded(bool ok) {
  manager_.ready(status_sentence());
  if (api_service_) api_service_->metrics().reloaded(ok);
}

void Daemon::take_signal(int signal) {
  if (signal == SIGHUP) {
    wants_reload_ = true;
  } else {
    begin_to_stop(signal);
  }
}

// Told twice: nobody wants to wait any more.
void Daemon::begin_to_stop(int signal) {
  leaves_now_ = leaves_now_ || is_stopping_ || options_.on_stop == OnStop::leave;
  if (std::exchange(is_stopping_, true)) return;
  log_.info("daemon_stopping",
            {{"signal", signal == SIGTERM ? "TERM" : "INT"}, {"running", count(scheduler_->active_runs())}});
  manager_.stopping();
  leave_stop_note();
  scheduler_->stop_starting();
  if (web_front_) web_front_->stop();
  if (deliverer_) deliverer_->stop();
  if (api_service_) api_service_->note_stopping();
  if (options_.on_stop == OnStop::terminate) scheduler_->terminate_all();
}

// Without it, the next daemon treats the time until it is there as any downtime.
void Daemon::leave_stop_note() {
  const StopNote note{scheduler_->behind_since(), clock_.boot_id(), clock_.boot_time()};
  const Status written = write_stop_note(file_system_, options_.state_directory, note);
  if (!written) log_.warning("stop_note_failed", {{"reason", written.error().message}});
}

// What became due during a planned restart is on time since then. No turn may come before the note is gone: a daemon
// that dies leaves none.
std::optional<Instant> Daemon::on_time_since() {
  const auto note = take_stop_note(file_system_, options_.state_directory);
  if (!note) log_.warning("stop_note_failed", {{"reason", note.error().message}});
  if (!note || !*note) return std::nullopt;
  return daemon::on_time_since(**note, time());
}

bool Daemon::is_done(const Wakeup& wakeup) {
  if (leaves_now_) return true;
  // A run that waits for those it replaces, or for a slot, is part of what was due.
  if (options_.once && !wakeup.monotonic && !wakeup.is_busy && !scheduler_->has_slot_waiters()) {
    scheduler_->stop_starting();
    is_stopping_ = true;
  }
  // Nobody may come after this one for long: what the queue has been given is noted as such. What it refuses stays
  // owed.
  if (options_.once && notifier_->is_submitting()) return false;
  // A run that waits for the queue is in the record, and the next daemon goes on with it.
  return is_stopping_ && scheduler_->active_runs() <= submitter_->waiting();
}

void Daemon::sleep_until(const Wakeup& wakeup) {
  std::optional<Nanoseconds> monotonic = wakeup.monotonic;
  if (alive_at_) {
    if (clock_.monotonic() >= *alive_at_) {
      manager_.alive();
      alive_at_ = clock_.monotonic() + *manager_.alive_every();
    }
    monotonic = std::min(monotonic.value_or(*alive_at_), *alive_at_);
  }
  if (manager_.listens()) manager_.status(status_sentence());
  if (api_service_) monotonic = earlier(monotonic, api_service_->tick());
  if (web_front_) monotonic = earlier(monotonic, step_child(*web_front_, watched_front_));
  monotonic = earlier(monotonic, notifier_->tick());
  if (notifier_->is_wanted() && !options_.once && !is_stopping_ && !has_looked_for_deliverer_) {
    has_looked_for_deliverer_ = true;
    open_deliverer();
  }
  if (deliverer_) monotonic = earlier(monotonic, step_child(*deliverer_, watched_deliverer_));
  if (cluster_) {
    monotonic = earlier(monotonic, cluster_->tick());
    // The machine's wall clock may say anything; the cluster's goes on by the machine's steady one.
    if (wakeup.at) monotonic = earlier(monotonic, clock_.monotonic() + (WallTime(*wakeup.at) - time().wall()));
  }
  // Behind everything that may have something to say: the next turn may be far away.
  if (const LineLog::Left left = lines_.flush(); left != LineLog::Left::nothing) {
    const Nanoseconds again = clock_.monotonic() + (left == LineLog::Left::moving ? kLogIsRead : kLogIsNotRead);
    monotonic = std::min(monotonic.value_or(again), again);
  }
  // Without a time it still wakes us when the machine has slept, which the steady clock does not see.
  loop_->wake_at(cluster_ ? std::nullopt : wakeup.at);
  loop_->wake_at_monotonic(monotonic);
  const Result<bool> clock_changed = loop_->wait();
  if (clock_changed && *clock_changed && !cluster_)
    log_.warning("clock_changed", {{"reason", "the machine's clock was set"}});
}

std::string Daemon::status_sentence() const {
  const std::size_t jobs = scheduler_->job_count();
  std::string sentence = std::to_string(jobs) + (jobs == 1 ? " job, " : " jobs, ") +
                         std::to_string(scheduler_->active_runs()) + " running";
  if (cluster_) {
    if (const std::string why = cluster_->status_sentence(); !why.empty()) return why;
  }
  if (const std::size_t refused = file_jobs_ ? file_jobs_->status().refused.size() : 0; refused != 0) {
    sentence += ", " + std::to_string(refused) + (refused == 1 ? " job file refused" : " job files refused");
  }
  if (next_due_) sentence += ", next due " + rfc3339(*next_due_);
  return sentence;
}

std::vector<std::pair<std::string, std::string>> Daemon::not_scheduled() const {
  constexpr std::size_t kMostShown = 100;
  std::vector<std::pair<std::string, std::string>> jobs;
  for (const auto& [identity, job] : scheduler_->unscheduled()) {
    if (jobs.size() == kMostShown) break;
    jobs.emplace_back(identity, job.reason);
  }
  return jobs;
}

std::string Daemon::why_not_delivered() const { return deliverer_ ? deliverer_->trouble() : no_deliverer_; }

std::optional<api::DaemonStatus::NotQueued> Daemon::not_queued() const {
  if (notifier_->waits_because().empty()) return std::nullopt;
  return api::DaemonStatus::NotQueued{notifier_->waiting(), notifier_->waits_because()};
}

api::DaemonStatus Daemon::status() const {
  return {.version = KRON_VERSION,
          .started_at = started_at_,
          .clock_offset = options_.clock_offset,
          .is_ready = is_ready_,
          .is_stopping = is_stopping_,
          .broken = scheduler_->broken(),
          .next_due = next_due_,
          .jobs = scheduler_->job_count(),
          .running = scheduler_->active_runs(),
          .state_directory = options_.state_directory,
          .config = options_.config,
          .socket = options_.socket,
          .host = machine_name_,
          .zone = machine_zone_,
          .not_scheduled = not_scheduled(),
          .job_files = file_jobs_ ? file_jobs_->status() : api::JobFilesStatus(),
          .notifies = notifier_->is_wanted(),
          .not_delivered = why_not_delivered(),
          .not_queued = not_queued(),
          .catch_up_spread = options_.catch_up_spread,
          .max_running = options_.max_running,
          .slots = scheduler_->slot_uses(),
          .cluster = cluster_ ? std::optional(cluster_->status()) : std::nullopt};
}

}  // namespace kron::daemon
