#include "kron/daemon/cluster_parts.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "kron/base/text.h"
#include "kron/daemon/local_address.h"
#include "kron/daemon/redis_check.h"
#include "kron/env/real_redis_connection.h"
#include "kron/env/real_redis_subscription.h"
#include "kron/jobs/host_zone.h"
#include "kron/queue/redis_queue.h"

namespace kron::daemon {
namespace {

// The zone that the first host gives the cluster, if no option says which.
Result<std::string> local_zone(const ClusterOptions& options) {
  ZoneDatabase zones;
  if (!options.default_timezone.empty()) {
    if (const auto zone = zones.find(options.default_timezone); !zone) {
      return fail(Code::unreadable, "--default-timezone: " + zone.error().message);
    }
    return options.default_timezone;
  }
  const jobs::HostZone host = jobs::host_zone(zones);
  if (!host.is_known()) {
    return fail(Code::unreadable, host.problem + "; --default-timezone names the zone of the cluster");
  }
  return std::string(host.zone.name());
}

jobs::Environment variables_to_pass(const std::vector<std::string>& names) {
  jobs::Environment variables;
  for (const std::string& name : names) {
    if (const char* value = std::getenv(name.c_str()); value != nullptr) variables.emplace_back(name, value);
  }
  return variables;
}

}  // namespace

Result<std::unique_ptr<ClusterParts>> ClusterParts::open(const ClusterOptions& options, World world) {
  Result<RedisUrl> url = parse_redis_url(options.redis);
  if (!url) return fail(Code::unreadable, "--redis: " + url.error().message);
  std::unique_ptr<ClusterParts> parts(new ClusterParts(options, std::move(world), *std::move(url)));
  if (Status opened = parts->open_runs(); !opened) return fail(opened.error());
  if (Status opened = parts->open_member(); !opened) return fail(opened.error());
  return parts;
}

ClusterParts::ClusterParts(const ClusterOptions& options, World world, RedisUrl url)
    : options_(options),
      world_(std::move(world)),
      url_(std::move(url)),
      keys_(options_.name_space),
      clock_(world_.host),
      passed_on_(variables_to_pass(options_.passed_variables)) {}

ClusterParts::~ClusterParts() { stop(Nanoseconds(0)); }

Status ClusterParts::open_runs() {
  Result<std::string> owner = cluster::cluster_owner(world_.file_system, world_.state_directory);
  if (!owner) return fail(owner.error());
  owner_ = *std::move(owner);
  Result<cluster::Claims> claims = cluster::Claims::open(world_.state_directory);
  if (!claims) return fail(claims.error());
  runs_ = std::make_unique<cluster::ActiveRuns>(*std::move(claims));
  link_ = std::make_unique<cluster::LinkThread>(
      std::make_unique<RealRedisConnection>(url_, keys_.state(), nodes_), keys_, world_.host, world_.log,
      cluster::LinkThread::Options{
          .outcomes_cap = options_.outcomes_limit,
          .host = options_.host,
          .explained = [name_space = options_.name_space, user = url_.user](std::string_view error) {
            return explained(error, name_space, user);
          }});
  ledger_ = std::make_unique<cluster::ClusterLedger>(
      cluster::ClusterLedger::World{
          .link = *link_,
          .keys = keys_,
          .clock = clock_,
          .log = world_.log,
          .grants = grants_,
          .terms = terms_,
          .instance = [this] { return instance(); },
          .active_of = [this](std::string_view job) { return runs_->of(job); },
          .read_again =
              [this](const std::string& job) {
                world_.mailbox.post([this, job] {
                  if (member_->jobs() != nullptr) member_->jobs()->read_again(job);
                });
              },
          .on_lost_write = [this] { ++lost_writes_; },
          .on_answer = [this](Written::How how) { ++answers_.at(static_cast<std::size_t>(how)); }},
      cluster::ClusterLedger::Options{.owner = owner_,
                                      .host = options_.host,
                                      .dialect = options_.dialect,
                                      .outcomes_cap = options_.outcomes_limit,
                                      .general_cap = options_.general_results_limit,
                                      .job_cap = options_.perjob_results_limit,
                                      .claim_replicas = options_.claim_replicas});
  runner_ = std::make_unique<cluster::ClusterRunner>(
      cluster::ClusterRunner::Parts{.processes = world_.processes,
                                    .grants = grants_,
                                    .runs = *runs_,
                                    .clock = clock_,
                                    .host = world_.host,
                                    .log = world_.log,
                                    .instance = [this] { return instance(); },
                                    .exits = [this] { world_.mailbox.post([] {}); }});
  services_ = std::make_unique<cluster::RunServices>(
      *runs_, *link_, keys_, world_.host, world_.log,
      cluster::RunServices::Options{.keep = {.heartbeat = options_.heartbeat_cadence,
                                             .owner = owner_,
                                             .host = options_.host,
                                             .dialect = options_.dialect},
                                    .ship = {.runs_directory = world_.state_directory + "/runs",
                                             .host = options_.host,
                                             .instance = [this] { return instance(); },
                                             .dialect = options_.dialect,
                                             .cadence = options_.output_cadence,
                                             .chunk = options_.output_buffer_size,
                                             .final_lines = options_.max_finalized_output_lines,
                                             .general_cap = options_.general_results_limit,
                                             .job_cap = options_.perjob_results_limit,
                                             .outcomes_cap = options_.outcomes_limit}});
  return runner_->recover();
}

Status ClusterParts::open_member() {
  ClusterMember::Rules rules{.options = options_, .owner = owner_, .version = world_.version};
  Result<std::string> zone = local_zone(options_);
  if (!zone) return fail(zone.error());
  rules.local_zone = *std::move(zone);
  rules.signatures.is_required = options_.require_signed;
  if (!options_.hmac_key_file.empty()) {
    auto key = cluster::SigningKey::read(world_.file_system, options_.hmac_key_file);
    if (!key) return fail(key.error().code, "--jobs-hmac-key: " + key.error().message);
    rules.signatures.key = *std::move(key);
  }
  auto member = ClusterMember::create(member_world(), std::move(rules));
  if (!member) return fail(member.error());
  member_ = *std::move(member);
  return {};
}

ClusterMember::World ClusterParts::member_world() {
  return {.link = *link_,
          .keys = keys_,
          .clock = clock_,
          .log = world_.log,
          .terms = terms_,
          .to_loop = [this](std::function<void()> work) { world_.mailbox.post(std::move(work)); },
          .new_subscription = [this] { return std::make_unique<RealRedisSubscription>(url_, Seconds(10), nodes_); },
          .why_down = [this] { return link_->why_down(); },
          .why_forbidden = [this] { return link_->why_forbidden(); },
          .explained = [this](std::string_view error) { return explained(error, options_.name_space, url_.user); },
          .local_address = [this] { return local_address_towards(url_); },
          .runs = [this] { return runs_->size(); },
          .clock_offset = [this] { return std::chrono::duration<double>(clock_.ahead_of_host()).count(); },
          .on_name = [this](const std::string& name) { take_name(name); },
          .prefetch =
              [this](std::span<const std::string> names, const cluster::JobTermsTable::Map& terms) {
                return ledger_->prefetch(names, terms, now(clock_));
              },
          .put = [this](std::vector<jobs::JobDefinition> some, Instant since) { return put(std::move(some), since); },
          .drop =
              [this](std::span<const std::string> names) {
                for (const std::string& name : names) paused_.erase(name);
                jobs_->dropped(names);
                return jobs_->scheduler.drop(names);
              },
          .loaded = [this] { return loaded(); },
          .trigger =
              [this](std::string_view job, std::string_view id, const cluster::Sender& sender,
                     std::function<void(const Status&)> done) {
                const auto answer = [done = std::move(done)](const Result<Triggered>& triggered) {
                  done(triggered ? Status() : fail(triggered.error()));
                };
                jobs_->scheduler.trigger(job, id, answer, {sender.by, sender.note});
              },
          .terminate =
              [this](std::string_view run_id, const cluster::Sender& sender) {
                return jobs_->scheduler.terminate(run_id, {sender.by, sender.note});
              },
          .kill =
              [this](std::string_view run_id, const cluster::Sender& sender) {
                return jobs_->scheduler.kill(run_id, {sender.by, sender.note});
              },
          .look_again = [this] { jobs_->scheduler.look_again(); },
          .wake_tasks = options_.tasks_in_files ? nullptr : world_.wake_tasks};
}

Status ClusterParts::start(Jobs jobs) {
  jobs_.emplace(std::move(jobs));
  listen();
  return link_->start();
}

// Nothing of it is final: a Redis that is away comes back.
QueueOpener ClusterParts::task_opener() const {
  return [this](bool /*may_create*/) {
    auto connection = std::make_unique<RealRedisConnection>(url_, keys_.state());
    return OpenedQueue{.queue = std::make_unique<RedisQueue>(std::move(connection), clock_, world_.log,
                                                             RedisQueueOptions{.name_space = options_.name_space})};
  };
}

std::string ClusterParts::tasks_place() const { return printable(url_); }

// On the link's thread.
void ClusterParts::listen() {
  link_->listen({.on_up =
                     [this] {
                       ++connections_;
                       world_.mailbox.post([this] {
                         if (!has_stopped_) member_->link_is_up();
                       });
                     },
                 .on_time = [this](const cluster::TimeSample& sample) { clock_.note(sample); },
                 .on_lost_writes =
                     [this](const cluster::FenceWatch::Lost& lost) {
                       ++lost_writes_;
                       ledger_->assert_what_is_known(lost);
                       services_->lost_writes();
                     }});
}

// The outcomes name the instance, so what is left of an earlier daemon's runs waits for the name; no other run can have
// started before.
void ClusterParts::take_name(const std::string& name) {
  const bool is_first = instance().empty();
  {
    const std::scoped_lock lock(mutex_);
    instance_ = name;
  }
  if (!is_first) return;
  const Status started = services_->start();
  if (!started) world_.log.error("output_not_shipped", {{"reason", started.error().message}});
}

std::string ClusterParts::instance() const {
  const std::scoped_lock lock(mutex_);
  return instance_;
}

std::string ClusterParts::scope(const jobs::JobDefinition& definition) const {
  const auto& terms = definition.options->terms;
  const std::string& identity = definition.job.identity;
  return terms && !terms->locked ? identity + "\n" + instance() : identity;
}

Status ClusterParts::begin() {
  if (has_begun_) return {};
  const Result<std::optional<Instant>> since = jobs_->begin();
  if (!since) return fail(since.error());
  on_time_since_ = *since;
  has_begun_ = true;
  return {};
}

Status ClusterParts::put(std::vector<jobs::JobDefinition> definitions, Instant since) {
  if (Status begun = begin(); !begun) return begun;
  jobs_->prepare(definitions);
  note_pauses(definitions);
  return jobs_->scheduler.put(std::move(definitions), std::min(since, on_time_since_.value_or(since)));
}

Status ClusterParts::loaded() {
  if (Status begun = begin(); !begun) return begun;
  on_time_since_.reset();
  if (!std::exchange(has_jobs_, true)) jobs_->started();
  return {};
}

void ClusterParts::reload(std::function<void(const Result<api::ReloadReport>&)> answer) {
  member_->reload([this, answer = std::move(answer)](const Status& read) {
    if (!answer) return;
    if (!read) return answer(fail(read.error()));
    api::ReloadReport report;
    report.jobs = jobs_->scheduler.job_count();
    answer(report);
  });
}

// Ends that are known are recorded first: nobody else could tell how these runs ended.
void ClusterParts::stop(Nanoseconds patience) {
  if (std::exchange(has_stopped_, true)) return;
  const Nanoseconds for_ends = link_->is_up() ? patience : Nanoseconds(0);
  if (!services_->stop(for_ends)) {
    world_.log.warning("ends_not_told", {{"count", static_cast<std::int64_t>(runs_->ended())},
                                         {"reason",
                                          "Redis did not take how these runs ended; the next krond of this "
                                          "state directory tells it"}});
  }
  if (for_ends > Nanoseconds(0)) member_->leave(std::min<Nanoseconds>(patience, Seconds(1)));
  link_->stop(std::min<Nanoseconds>(for_ends, Seconds(1)));
  member_.reset();
}

std::optional<Error> ClusterParts::refused() const { return member_ ? member_->refused() : std::nullopt; }

api::ClusterStatus ClusterParts::status() const {
  static constexpr std::array<const char*, 6> kWords{"done", "newer", "held", "ran", "refused", "unknown"};
  api::ClusterStatus status;
  status.redis = printable(url_);
  status.tasks_in_files = options_.tasks_in_files;
  status.link_up = link_->is_up();
  status.clock_offset = std::chrono::duration<double>(clock_.ahead_of_host()).count();
  const std::uint64_t connections = connections_;
  status.reconnects = connections > 0 ? connections - 1 : 0;
  status.lost_writes = lost_writes_;
  for (std::size_t i = 0; i < answers_.size(); ++i) status.answers.emplace_back(kWords.at(i), answers_.at(i));
  if (member_) member_->fill(status);
  constexpr double kFarOff = 1.0;
  if (std::abs(status.clock_offset) > kFarOff) {
    status.warnings.push_back(
        {false, "the clock of this machine differs from Redis's by more than a second; jobs run by Redis's"});
  }
  return status;
}

std::string ClusterParts::status_sentence() const {
  const std::string why = member_ ? member_->why_not_ready() : "";
  return why.empty() ? "" : "not ready: " + why;
}

}  // namespace kron::daemon
