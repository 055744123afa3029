#include "kron/daemon/cluster_member.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include "kron/cluster/cluster_zone.h"
#include "kron/daemon/redis_check.h"
#include "kron/env/thread_start.h"

namespace kron::daemon {
namespace {

constexpr Nanoseconds kGreetAgain = Seconds(5);
constexpr Nanoseconds kReadHosts = Seconds(2);
constexpr Nanoseconds kAskHosts = Seconds(3);
constexpr Nanoseconds kRest = Seconds(1);

// A beat that is this late is missed; the contract's 45 s for 30.
Seconds stale_after(Seconds cadence) { return cadence + cadence / 2; }

std::string_view compat_of(cluster::Dialect dialect) {
  return dialect == cluster::Dialect::cronken ? "cronken" : "seed";
}

std::vector<api::ClusterStatus::Host> hosts_in(const RedisValue& pairs, double now) {
  std::vector<api::ClusterStatus::Host> hosts;
  for (std::size_t i = 0; i + 1 < pairs.items.size(); i += 2) {
    const auto entry = cluster::parse_host_entry(pairs.items[i + 1].text);
    if (!entry) continue;
    hosts.push_back({.instance = pairs.items[i].text,
                     .host = entry->host,
                     .ip = entry->ip,
                     .version = entry->version,
                     .compat = std::string(compat_of(entry->mode)),
                     .clock_offset = entry->clock_offset,
                     .is_draining = entry->is_draining,
                     .runs = entry->runs,
                     .beat_seconds_ago = std::max(0.0, now - entry->beat)});
  }
  std::ranges::sort(hosts, {}, &api::ClusterStatus::Host::instance);
  return hosts;
}

}  // namespace

// What a host learns when it meets the cluster.
struct ClusterMember::Greeting {
  RedisFacts facts;
  std::string zone;
  std::string address;
};

Result<std::unique_ptr<ClusterMember>> ClusterMember::create(World world, Rules rules) {
  auto aside = with_thread("asking Redis", [] { return std::make_unique<WorkThread>(); });
  if (!aside) return fail(aside.error());
  auto lists = with_thread("reading jobs from Redis", [] { return std::make_unique<WorkThread>(); });
  if (!lists) return fail(lists.error());
  return std::unique_ptr<ClusterMember>(
      new ClusterMember(std::move(world), std::move(rules), *std::move(aside), *std::move(lists)));
}

ClusterMember::ClusterMember(World world, Rules rules, std::unique_ptr<WorkThread> aside,
                             std::unique_ptr<WorkThread> lists)
    : world_(std::move(world)), rules_(std::move(rules)), aside_(std::move(aside)), lists_(std::move(lists)) {}

// What still works aside may use the parts that it was asked by.
ClusterMember::~ClusterMember() {
  subscriber_.reset();
  alive_.reset();
  lists_.reset();
  aside_.reset();
}

cluster::Aside ClusterMember::aside(WorkThread& thread) {
  return {.run = [&thread](cluster::Aside::Work work) { return thread.run(std::move(work)); },
          .to_loop = world_.to_loop};
}

void ClusterMember::link_is_up() {
  greet();
  world_.look_again();
}

void ClusterMember::greet() {
  if (std::exchange(is_greeting_, true)) return;
  // Only a host that comes anew must be of the cluster's zone: later an operator may have changed that.
  const bool is_new = hosts_ == nullptr;
  auto ask = [&world = world_, given = is_new ? rules_.options.default_timezone : "",
              local = is_new ? rules_.local_zone : "", name_space = rules_.options.name_space]() -> Result<Greeting> {
    Result<RedisFacts> facts = ask_facts(world.link);
    if (!facts) return fail(facts.error());
    if (const std::string why = why_unusable(*facts, name_space); !why.empty()) return fail(Code::refused, why);
    Result<std::string> zone =
        cluster::cluster_zone(world.link, world.keys, given.empty() ? std::nullopt : std::optional(given), local);
    if (!zone) return fail(zone.error());
    return Greeting{*std::move(facts), *std::move(zone), world.local_address()};
  };
  const bool is_taken = aside_->run([this, ask, alive = std::weak_ptr(alive_)] {
    auto greeting = std::make_shared<Result<Greeting>>(ask());
    world_.to_loop([this, greeting, alive] {
      if (!alive.expired()) take(*greeting);
    });
  });
  if (!is_taken) is_greeting_ = false;
}

void ClusterMember::take(const Result<Greeting>& greeting) {
  is_greeting_ = false;
  if (!greeting) {
    const Error& error = greeting.error();
    const std::string why = world_.explained(error.message);
    // Before the first job, a host whose zone is another one refuses to start; later it keeps what it has.
    if (error.code == Code::conflict && !hosts_) refused_ = Error{Code::refused, why};
    if (problem_ != why) world_.log.error("cluster_not_usable", {{"reason", why}});
    if (!hosts_) problem_ = why;
    greet_at_ = world_.clock.monotonic() + kGreetAgain;
    return;
  }
  warn(warnings_about(greeting->facts));
  const bool has_new_zone = !zone_.empty() && zone_ != greeting->zone;
  zone_ = greeting->zone;
  problem_.clear();
  if (has_new_zone) make_jobs();
  if (hosts_) return;
  const ClusterOptions& options = rules_.options;
  hosts_ = std::make_unique<cluster::Hosts>(
      cluster::Hosts::World{.link = world_.link,
                            .keys = world_.keys,
                            .log = world_.log,
                            .aside = aside(*aside_),
                            .present =
                                [this] {
                                  return cluster::Hosts::Present{world_.clock_offset(), is_draining_, world_.runs()};
                                },
                            .on_name = [this](const std::string& instance) { take_name(instance); }},
      cluster::Hosts::Options{.host = options.host,
                              .ip = greeting->address,
                              .owner = rules_.owner,
                              .version = rules_.version,
                              .mode = options.dialect,
                              .cadence = options.heartbeat_cadence,
                              .stale = stale_after(options.heartbeat_cadence)});
  reaper_ = std::make_unique<cluster::Reaper>(
      cluster::Reaper::World{.link = world_.link, .keys = world_.keys, .log = world_.log, .aside = aside(*aside_)},
      cluster::Reaper::Options{.cadence = options.heartbeat_cadence,
                               .stale = stale_after(options.heartbeat_cadence),
                               .dialect = options.dialect,
                               .general_results = options.general_results_limit,
                               .results_of_a_job = options.perjob_results_limit,
                               .last_lines = options.max_finalized_output_lines,
                               .outcomes = options.outcomes_limit});
  hosts_->tick(world_.clock.monotonic());
}

void ClusterMember::warn(std::vector<api::ClusterStatus::Warning> warnings) {
  if (::geteuid() == 0 && !rules_.signatures.key) {
    warnings.insert(warnings.begin(),
                    {true,
                     "krond runs as root, and whoever may write to Redis has their commands run by it: sign the jobs "
                     "(`kron cluster sign`) and give --jobs-hmac-key, or run krond as a user"});
  }
  for (const auto& warning : warnings) {
    const bool is_known =
        std::ranges::any_of(warnings_, [&](const auto& old) { return old.message == warning.message; });
    if (is_known) continue;
    const LogField fields[] = {{"reason", warning.message}};
    const LogLevel level = warning.is_error ? LogLevel::error : LogLevel::warning;
    world_.log.write(level, "cluster_warning", fields);
  }
  warnings_ = std::move(warnings);
}

void ClusterMember::take_name(const std::string& instance) {
  world_.log.info("cluster_joined", {{"instance", instance},
                                     {"namespace", rules_.options.name_space},
                                     {"timezone", zone_},
                                     {"compat", compat_of(rules_.options.dialect)}});
  world_.on_name(instance);
  events_ = std::make_unique<cluster::EventHandler>(
      actions(), cluster::EventHandler::Host{rules_.options.host, instance}, world_.clock, world_.log);
  if (!jobs_) make_jobs();
  if (!subscriber_) subscribe();
}

void ClusterMember::make_jobs() {
  jobs_ = std::make_unique<cluster::JobList>(cluster::JobList::World{.link = world_.link,
                                                                     .keys = world_.keys,
                                                                     .clock = world_.clock,
                                                                     .log = world_.log,
                                                                     .terms = world_.terms,
                                                                     .aside = aside(*lists_),
                                                                     .prefetch = world_.prefetch,
                                                                     .put = world_.put,
                                                                     .drop = world_.drop,
                                                                     .loaded = world_.loaded},
                                             cluster::JobRules{.zones = zones_,
                                                               .zone = zones_.find(zone_).value_or(TimeZone()),
                                                               .name_space = rules_.options.name_space,
                                                               .signatures = rules_.signatures,
                                                               .shell = rules_.options.job_shell,
                                                               .tasks_in_redis = !rules_.options.tasks_in_files});
  if (is_draining_) jobs_->drain();
  if (subscriber_ && not_heard_.empty()) jobs_->reload(cluster::JobList::Cause::subscribed);
}

cluster::EventHandler::Actions ClusterMember::actions() {
  return {.set_paused = [this](std::string job,
                               cluster::JobList::Pause pause) { jobs_->set_paused(std::move(job), std::move(pause)); },
          .terminate = world_.terminate,
          .kill = world_.kill,
          .add = [this](std::string job, std::string text) { jobs_->add(std::move(job), std::move(text)); },
          .remove = [this](std::string job) { jobs_->remove(std::move(job)); },
          .reload = [this] { reload([hold = hold_events()](const Status&) {}); },
          .trigger = world_.trigger,
          .validate = [this](std::vector<std::string> names) { jobs_->validate(std::move(names)); },
          .drain =
              [this] {
                is_draining_ = true;
                jobs_->drain();
              },
          .is_draining = [this] { return is_draining_; }};
}

void ClusterMember::subscribe() {
  const auto on_loop = [this, alive = std::weak_ptr(alive_)](std::function<void()> work) {
    world_.to_loop([alive, work = std::move(work)] {
      if (!alive.expired()) work();
    });
  };
  cluster::Subscriber::Handlers handlers{
      .on_subscribed =
          [this, on_loop] {
            if (world_.wake_tasks) world_.wake_tasks("");  // what was said while nobody listened is lost
            on_loop([this] {
              not_heard_.clear();
              const bool is_first = !std::exchange(was_subscribed_, true);
              jobs_->reload(is_first ? cluster::JobList::Cause::boot : cluster::JobList::Cause::subscribed,
                            [hold = hold_events()](const Status&) {});
            });
          },
      .on_message =
          [this, on_loop](RedisMessage message) {
            if (message.channel == world_.keys.wake()) return world_.wake_tasks(std::move(message.payload));
            on_loop([this, payload = std::move(message.payload)]() mutable { hear(std::move(payload)); });
          },
      .on_lost = [this, on_loop](const std::string& why) { on_loop([this, why] { not_heard_ = why; }); }};
  not_heard_ = "the events of the cluster are not subscribed to yet";
  std::vector channels{world_.keys.events()};
  if (world_.wake_tasks) channels.push_back(world_.keys.wake());
  auto subscriber = with_thread("the cluster's events", [&] {
    return std::make_unique<cluster::Subscriber>(world_.new_subscription(), std::move(channels), handlers, world_.log);
  });
  if (!subscriber) {
    not_heard_ = subscriber.error().message;
    world_.log.error("cluster_not_usable", {{"reason", not_heard_}});
    greet_at_ = world_.clock.monotonic() + kGreetAgain;
    return;
  }
  subscriber_ = *std::move(subscriber);
}

// One event after the other: what follows a reload means the jobs that it reads.
void ClusterMember::hear(std::string payload) {
  heard_.push_back(std::move(payload));
  work_off_events();
}

void ClusterMember::work_off_events() {
  while (holds_ == 0 && !heard_.empty()) {
    const std::string payload = std::move(heard_.front());
    heard_.pop_front();
    events_->handle(payload);
  }
}

// Until the last copy is gone, on whatever thread, and whether or not what it waited for came to its end.
std::shared_ptr<void> ClusterMember::hold_events() {
  ++holds_;
  return {nullptr, [this, alive = std::weak_ptr(alive_)](void*) {
            if (alive.expired()) return;  // it goes with the member, or after it
            world_.to_loop([this, alive] {
              if (alive.expired()) return;
              --holds_;
              work_off_events();
            });
          }};
}

// The zone may be another one since `kron cluster timezone`.
void ClusterMember::reload(cluster::JobList::Done done) {
  if (!jobs_) {
    if (done) done(fail(Code::unreachable, why_not_ready()));
    return;
  }
  const bool is_taken = aside_->run([this, done, alive = std::weak_ptr(alive_)] {
    const auto zone = cluster::cluster_zone(world_.link, world_.keys, std::nullopt, "");
    world_.to_loop([this, done, alive, zone = zone.value_or("")] {
      if (alive.expired()) return;
      if (!zone.empty() && std::exchange(zone_, zone) != zone) make_jobs();
      jobs_->reload(cluster::JobList::Cause::requested, done);
    });
  });
  if (!is_taken && done) done(fail(Code::unreachable, "too much waits for Redis already; ask again in a moment"));
}

Nanoseconds ClusterMember::tick() {
  const Nanoseconds present = world_.clock.monotonic();
  Nanoseconds next = present + kRest;
  if (greet_at_ != Nanoseconds(0) && world_.link.is_up()) {
    if (present >= greet_at_) {
      greet_at_ = Nanoseconds(0);
      if (hosts_ && !hosts_->instance().empty() && !subscriber_) subscribe();
      greet();
    } else {
      next = std::min(next, greet_at_);
    }
  }
  if (hosts_) next = std::min(next, hosts_->tick(present));
  if (reaper_) next = std::min(next, reaper_->tick(present));
  if (jobs_) next = std::min(next, jobs_->tick(present).value_or(next));
  if (hosts_ && present >= read_hosts_at_) read_hosts();
  return next;
}

void ClusterMember::read_hosts() {
  read_hosts_at_ = world_.clock.monotonic() + kReadHosts;
  if (!world_.link.is_up()) return;
  (void)aside_->run([this, alive = std::weak_ptr(alive_)] {
    const auto replies = world_.link.ask({{"HGETALL", world_.keys.hosts()}}, kAskHosts);
    if (replies.size() != 1 || !replies[0].reply.is_reply()) return;
    const double now = std::chrono::duration<double>(world_.clock.wall().time_since_epoch()).count();
    world_.to_loop([this, alive, hosts = hosts_in(replies[0].reply.value, now)]() mutable {
      if (!alive.expired()) seen_hosts_ = std::move(hosts);
    });
  });
}

void ClusterMember::leave(Nanoseconds timeout) {
  subscriber_.reset();
  if (hosts_ && !hosts_->instance().empty()) hosts_->leave(timeout);
}

std::string ClusterMember::why_not_ready() const {
  if (!world_.link.is_up()) {
    const std::string why = world_.why_down();
    return "Redis does not answer" + (why.empty() ? "" : ": " + world_.explained(why));
  }
  if (const std::string why = world_.why_forbidden(); !why.empty()) return why;
  if (!problem_.empty()) return problem_;
  if (!jobs_) return "this host has not joined the cluster yet";
  if (!not_heard_.empty()) return "events are not heard: " + world_.explained(not_heard_);
  return jobs_->is_loaded() ? "" : "the jobs are not loaded yet";
}

void ClusterMember::fill(api::ClusterStatus& status) const {
  status.host = rules_.options.host;
  status.instance = instance();
  status.compat = compat_of(rules_.options.dialect);
  status.name_space = rules_.options.name_space;
  status.timezone = zone_;
  status.is_draining = is_draining_;
  status.why_not_ready = why_not_ready();
  status.warnings = warnings_;
  if (hosts_ && rules_.options.dialect == cluster::Dialect::seed) {
    for (const std::string& foreign : hosts_->foreign()) {
      status.warnings.push_back({true, "cronken runs on " + foreign +
                                           " in this cluster, and krond writes what it cannot read: start all krond "
                                           "with --cluster-compat cronken"});
    }
  }
  status.hosts = seen_hosts_;
}

}  // namespace kron::daemon
