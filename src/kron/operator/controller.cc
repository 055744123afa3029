#include "kron/operator/controller.h"

#include <algorithm>
#include <utility>

#include "kron/kube/wire.h"
#include "kron/operator/names.h"

namespace kron::kronjobs {
namespace {

constexpr Nanoseconds kForgetEvery = std::chrono::minutes(10);
constexpr Nanoseconds kClockJump = Seconds(1);
// A standby that has not seen the Lease for so long could not take it.
constexpr Nanoseconds kLeaseSeen = Seconds(15);
// For the lease to be given back.
constexpr Nanoseconds kReleasePatience = Seconds(5);

std::string collection(std::string_view group_version, std::string_view ns, std::string_view plural) {
  std::string path = "/apis/" + std::string(group_version);
  if (!ns.empty()) path += "/namespaces/" + std::string(ns);
  return path + "/" + std::string(plural);
}

}  // namespace

Controller::Controller(World world, Options options)
    : world_(world),
      options_(std::move(options)),
      kron_jobs_(world_.transport, world_.clock,
                 reflector_options(collection(kApiVersion, options_.ns, "kronjobs"), ""), kron_job_listener()),
      jobs_(world_.transport, world_.clock,
            reflector_options(collection(options_.jobs.group_version, options_.ns, options_.jobs.plural), kNameLabel),
            job_listener()),
      limiter_(options_.limits),
      queue_({}),
      reporter_{.instance = options_.instance} {
  if (options_.election) election_.emplace(*options_.election);
}

Controller::~Controller() {
  abandon();
  if (lease_call_) world_.transport.cancel(*lease_call_);
}

kube::Reflector::Options Controller::reflector_options(std::string path, std::string_view selector) const {
  return {.path = std::move(path), .selector = std::string(selector), .page = options_.page, .jitter = options_.jitter};
}

Controller::Wakeup Controller::tick() {
  const auto kron_jobs = kron_jobs_.tick();
  const auto jobs = jobs_.tick();
  step_election();
  follow_leadership();
  notice_clock();
  forget_old();
  if (is_working_) {
    if (!stopping_since_) queue_.advance(now(), world_.clock.monotonic());
    look_at_ready();
    release_calls();
  }
  if (stopping_since_) step_stop();
  world_.metrics.show(levels());
  return wakeup(kron_jobs, jobs);
}

void Controller::step_election() {
  if (!election_ || !wants_lease()) return;
  const Nanoseconds boot = world_.clock.boot_time();
  kube::Election::Step step = election_->next(boot, world_.clock.wall());
  if (const auto* call = std::get_if<kube::Election::Call>(&step)) {
    lease_call_ = world_.transport.send(call->request, kube::Lane::lease, [this](const kube::Outcome& outcome) {
      lease_call_.reset();
      note_link(std::holds_alternative<kube::Response>(outcome));
      election_->answered(kube::reply_of(outcome), world_.clock.boot_time());
    });
    step = election_->next(boot, world_.clock.wall());
  }
  if (const auto* rest = std::get_if<kube::Election::Rest>(&step)) election_until_ = rest->until;
}

// Who ends does not.
bool Controller::wants_lease() const { return !stopping_since_ || election_->state() == kube::Election::State::leader; }

bool Controller::leads() const { return !election_ || election_->is_leader(world_.clock.boot_time()); }

bool Controller::is_synced() const { return kron_jobs_.has_listed() && jobs_.has_listed(); }

// Only the leader acts, and only when it has seen both kinds: without the Jobs it could take a KronJob for idle.
void Controller::follow_leadership() {
  const bool is_leader = leads();
  if (is_leader && !std::exchange(was_leader_, true)) {
    world_.log.info("leader_began", {{"instance", options_.instance}});
  }
  if (is_working_ && !is_leader && !stopping_since_) {
    world_.log.error("lease_lost", {{"instance", options_.instance}, {"holder", election_->holder()}});
    abandon();
    return;
  }
  if (is_working_ || !is_leader || !is_synced() || stopping_since_ || is_abandoned_) return;
  is_working_ = true;
  Instant since = now();
  if (election_ && election_->handed_over()) {
    since = std::min(since, std::chrono::floor<Seconds>(*election_->handed_over()));
  }
  touch_all(since);
  world_.log.info("work_began", {{"kronjobs", static_cast<std::int64_t>(kron_jobs_.known())},
                                 {"jobs", static_cast<std::int64_t>(jobs_.known())}});
}

// What was asked for may still be done; whoever works next finds it.
void Controller::abandon() {
  for (const auto& [identity, progress] : progress_) {
    if (progress.under_way) world_.transport.cancel(*progress.under_way);
  }
  for (const kube::Transport::Id id : event_calls_) world_.transport.cancel(id);
  event_calls_.clear();
  under_way_ = 0;
  progress_.clear();
  found_.clear();
  planned_.clear();
  events_.clear();
  limiter_ = kube::Limiter(options_.limits);
  queue_.clear();
  is_working_ = false;
  is_abandoned_ = true;
}

// A clock that was set makes periods due, or not due any more, whatever the timers say.
void Controller::notice_clock() {
  const Nanoseconds offset = world_.clock.wall().time_since_epoch() - world_.clock.boot_time();
  const Nanoseconds before = clock_offset_.value_or(offset);
  clock_offset_ = offset;
  if (std::chrono::abs(offset - before) < kClockJump) return;
  world_.log.warning("clock_jumped", {{"seconds", std::chrono::duration_cast<Seconds>(offset - before).count()}});
  if (is_working_) touch_all(now());
}

void Controller::forget_old() {
  const Nanoseconds monotonic = world_.clock.monotonic();
  if (monotonic < forget_at_) return;
  forget_at_ = monotonic + kForgetEvery;
  const std::vector<std::string> before = cache_.identities();
  cache_.expire(now());
  for (const std::string& identity : before) {
    if (std::as_const(cache_).find(identity) == nullptr && !progress_.contains(identity)) queue_.forget(identity);
  }
}

void Controller::stop() {
  if (stopping_since_) return;
  stopping_since_ = world_.clock.wall();
  stop_at_ = world_.clock.monotonic() + options_.stop_patience;
}

// First what is under way, then the lease: who comes next finds everything recorded, and has nothing to wait for.
void Controller::step_stop() {
  const Nanoseconds monotonic = world_.clock.monotonic();
  if (is_working_) {
    const bool is_drained = under_way_ == 0 && limiter_.waiting() == 0 && !queue_.has_ready();
    if (!is_drained && monotonic < stop_at_) return;
    abandon();
    stop_at_ = monotonic + kReleasePatience;
  }
  if (is_ended_) return;
  if (election_) {
    election_->release(*stopping_since_);
    step_election();
    // A standby whose answer is on its way may be the leader in a moment, and must not take that with it.
    const bool is_over = election_->state() != kube::Election::State::leader && !lease_call_;
    if (!is_over && monotonic < stop_at_) return;
  }
  is_ended_ = true;
  world_.log.info("handed_over", {{"instance", options_.instance}});
}

Controller::State Controller::state() const {
  if (is_ended_) return State::ended;
  if (election_ && election_->state() == kube::Election::State::lost) return State::lost;
  return leads() ? State::leader : State::standby;
}

bool Controller::is_ready() const {
  const State state = this->state();
  if (state == State::leader) return is_synced();
  if (state != State::standby || !election_) return false;
  const auto seen = election_->seen_at();
  return seen && world_.clock.boot_time() - *seen <= kLeaseSeen;
}

metrics::OperatorLevels Controller::levels() const {
  return {.leader = state() == State::leader,
          .ready = is_ready(),
          .ungated = is_ungated_,
          .kron_jobs = kron_jobs_.known(),
          .jobs = jobs_.known(),
          .queue = queue_.ready() + limiter_.waiting(),
          .under_way = under_way_,
          .kron_job_watches = kron_jobs_.restarts(),
          .job_watches = jobs_.restarts()};
}

Controller::Wakeup Controller::wakeup(std::optional<Nanoseconds> kron_jobs, std::optional<Nanoseconds> jobs) const {
  const Nanoseconds monotonic = world_.clock.monotonic();
  Wakeup wakeup{.monotonic = forget_at_};
  const auto consider = [&](std::optional<Nanoseconds> at) {
    if (at) wakeup.monotonic = std::min(*wakeup.monotonic, *at);
  };
  consider(kron_jobs);
  consider(jobs);
  // While the machine sleeps only the boot clock goes on; then the lease is late anyway, and the loop hears of it.
  if (election_ && wants_lease()) consider(monotonic + (election_until_ - world_.clock.boot_time()));
  if (stopping_since_ && !is_ended_) consider(stop_at_);
  if (!is_working_) return wakeup;
  if (queue_.has_ready()) consider(monotonic);
  if (under_way_ < options_.calls) consider(limiter_.next(monotonic));
  if (stopping_since_) return wakeup;
  consider(queue_.next_retry());
  wakeup.wall = queue_.next_time();
  return wakeup;
}

// What an answer is followed by is begun before anything is heard: who deletes each Job as it appears would otherwise
// be heard between its creation and its record, and have it created again and again.
bool Controller::is_at_work() const { return under_way_ > 0 || queue_.has_ready(); }

void Controller::touch(std::string_view identity) {
  if (is_working_ && !identity.empty()) queue_.touch(identity, now());
}

void Controller::touch_all(Instant since) {
  for (const std::string& identity : cache_.identities()) queue_.touch(identity, since);
}

kube::Reflector::Listener Controller::kron_job_listener() {
  return {.on_object =
              [this](const Node& object) {
                const std::string name = identity_of(kube::text_at(object, {"metadata", "namespace"}),
                                                     kube::text_at(object, {"metadata", "name"}));
                Result<KronJobView> view = view_kron_job(object, world_.zones, cache_.kron_job(name));
                if (!view) return world_.log.warning("object_unreadable", {{"message", view.error().message}});
                const std::string identity = view->identity;
                cache_.put(*std::move(view), now());
                touch(identity);
              },
          .on_gone =
              [this](const kube::Reflector::Gone& gone) {
                const std::string identity = identity_of(gone.ns, gone.name);
                std::optional<KronJobView> last;
                if (gone.last != nullptr) {
                  if (Result<KronJobView> view = view_kron_job(*gone.last, world_.zones)) last = *std::move(view);
                }
                cache_.remove_kron_job(identity, gone.version, now(), last ? &*last : nullptr);
                touch(identity);
              },
          .on_listed = [this](std::string_view version) { check_kron_jobs(version); },
          .on_trouble =
              [this](std::string_view message) {
                world_.log.warning("watch_restarted", {{"resource", "kronjobs"}, {"message", message}});
              },
          .is_known = [this](const kube::ObjectMeta& meta) { return cache_.has_kron_job(meta); },
          .is_busy = [this] { return is_at_work(); }};
}

kube::Reflector::Listener Controller::job_listener() {
  return {.on_object =
              [this](const Node& object) {
                Result<JobView> view = view_job(object);
                if (!view) return world_.log.warning("object_unreadable", {{"message", view.error().message}});
                const kube::ObjectMeta meta = view->meta;
                touch(cache_.keeper_of(meta.ns, meta.name));  // it may change hands
                cache_.put(*std::move(view));
                touch(cache_.keeper_of(meta.ns, meta.name));
              },
          .on_gone =
              [this](const kube::Reflector::Gone& gone) {
                const std::string keeper = cache_.keeper_of(gone.ns, gone.name);
                cache_.remove_job(gone.ns, gone.name, gone.uid, gone.version);
                touch(keeper);
              },
          .on_listed = [this](std::string_view version) { check_jobs(version); },
          .on_trouble =
              [this](std::string_view message) {
                world_.log.warning("watch_restarted", {{"resource", options_.jobs.plural}, {"message", message}});
              },
          .is_known = [this](const kube::ObjectMeta& meta) { return cache_.has_job(meta); },
          .is_busy = [this] { return is_at_work(); }};
}

// The answers to our own calls have put objects into the cache that no watch may ever have shown: what a list does not
// have, and is not newer than it, is gone.
void Controller::check_kron_jobs(std::string_view version) {
  for (const std::string& identity : cache_.identities()) {
    const CacheEntry* entry = std::as_const(cache_).find(identity);
    if (!entry->kron_job || kron_jobs_.knows(entry->kron_job->meta.ns, entry->kron_job->meta.name)) continue;
    cache_.remove_kron_job(identity, version, now());
    touch(identity);
  }
}

void Controller::check_jobs(std::string_view version) {
  for (const std::string& identity : cache_.identities()) {
    std::vector<kube::ObjectMeta> unknown;
    for (const JobView& job : std::as_const(cache_).find(identity)->jobs) {
      if (!jobs_.knows(job.meta.ns, job.meta.name)) unknown.push_back(job.meta);
    }
    for (const kube::ObjectMeta& job : unknown) cache_.remove_job(job.ns, job.name, job.uid, version);
    if (!unknown.empty()) touch(identity);
  }
}

}  // namespace kron::kronjobs
