// Looking at KronJobs, and the calls that come of it.
#include <algorithm>
#include <utility>

#include "kron/kube/wire.h"
#include "kron/operator/controller.h"
#include "kron/operator/names.h"

namespace kron::kronjobs {
namespace {

using kube::CallClass;

// A server that asks for more is asked again all the same: periods are due.
constexpr Seconds kLongestHold{10};
constexpr Seconds kLongestLeastPause{60};
constexpr Nanoseconds kLinkWokenEvery = Seconds(1);
// More than any KronJob needs; what makes so many calls in a row goes in a circle, and does so slowly.
constexpr int kMostCallsInARow = 64;
// Those of a crowd that wait; of some kilobytes each.
constexpr std::size_t kMostFound = 1000;
// Somebody undoes it as soon as it is done.
constexpr int kMostRepeats = 3;

template <class T>
bool is_a(const Step& step) {
  return std::holds_alternative<T>(step);
}

// What makes no sense twice in a row: the Job of a name, the gate of a uid.
std::string act_of(const Step& step) {
  if (const auto* create = std::get_if<Create>(&step)) return "create " + create->name;
  if (const auto* open = std::get_if<Open>(&step)) return "open " + open->uid;
  if (const auto* remove = std::get_if<Remove>(&step)) return "remove " + remove->uid;
  return {};
}

bool is_read(const Step& step) { return is_a<ReadJob>(step) || is_a<ReadKronJob>(step); }

}  // namespace

// In slices: thousands may be due, and the lease and the answers must be heard meanwhile. The first calls are under way
// while the others are looked at.
void Controller::look_at_ready() {
  const Nanoseconds began = world_.clock.monotonic();
  while (auto identity = queue_.next()) {
    look(*identity);
    release_calls();
    if (world_.clock.monotonic() - began >= options_.turn) return;
  }
}

void Controller::look(const std::string& identity) {
  if (progress_[identity].then) return plan(identity, CallClass::write);
  Reconciled found = reconciled(identity);
  if (is_a<Rest>(found.step) || !may_make(found.step)) return rest(identity, found);
  plan(identity, class_of(identity, found.step));
  keep(identity, std::move(found));
}

Reconciled Controller::reconciled(const std::string& identity) {
  world_.metrics.reconciled();
  if (const std::optional<Seen> seen = cache_.seen(identity)) return reconcile(*seen, queue_.turn(identity, now()));
  const CacheEntry* entry = std::as_const(cache_).find(identity);
  if (entry == nullptr || !entry->tombstone) return {kronjobs::Rest{}, {}};
  return reconcile_gone(entry->jobs, entry->tombstone->uid);
}

void Controller::keep(const std::string& identity, Reconciled found) {
  const CacheEntry* entry = std::as_const(cache_).find(identity);
  if (entry == nullptr || found_.size() >= kMostFound) return;
  found_.insert_or_assign(identity, Found{std::move(found), entry->revision, queue_.turn(identity, now())});
}

// Unless it is known what would be found: in a crowd most wait for their turn, and bodies of Jobs are not cheap.
Reconciled Controller::reconciled_anew(const std::string& identity) {
  const auto kept = found_.extract(identity);
  const CacheEntry* entry = std::as_const(cache_).find(identity);
  const bool is_same = kept && entry != nullptr && kept.mapped().revision == entry->revision &&
                       kept.mapped().turn == queue_.turn(identity, now());
  return is_same ? std::move(kept.mapped().reconciled) : reconciled(identity);
}

// Who ends begins nothing, and leaves nothing half done.
bool Controller::may_make(const Step& step) const {
  return !stopping_since_ || is_a<WriteStatus>(step) || is_a<Open>(step) || is_read(step);
}

void Controller::rest(const std::string& identity, const Reconciled& found) {
  found_.erase(identity);
  const auto progress = progress_.find(identity);
  if (progress != progress_.end()) {
    if (progress->second.waits) {
      limiter_.withdraw(*progress->second.waits);
      planned_.erase(*progress->second.waits);
    }
    progress_.erase(progress);
  }
  const auto* rest = std::get_if<kronjobs::Rest>(&found.step);
  if (rest == nullptr) return queue_.rest(identity, std::nullopt);
  // A time that has passed would be looked at for ever.
  const auto until = rest->until ? std::optional(std::max(*rest->until, now() + Seconds(1))) : std::nullopt;
  queue_.rest(identity, until);
  for (const Notice& notice : found.notices) tell_notice(identity, notice);
}

// What a run waits for goes before what only catches up: thousands of statuses must not make a period late.
CallClass Controller::class_of(const std::string& identity, const Step& step) const {
  if (is_a<Remove>(step) && std::get<Remove>(step).how == Propagation::background) return CallClass::remove;
  if (is_a<TryTemplate>(step)) return CallClass::remove;
  const auto* write = std::get_if<WriteStatus>(&step);
  const CacheEntry* entry = cache_.find(identity);
  if (write == nullptr || entry == nullptr || !entry->kron_job) return CallClass::write;
  const KronJobStatus& seen = entry->kron_job->status;
  const KronJobStatus& wanted = write->status;
  // That something fails is told before it is tried again.
  const bool is_awaited = entry->trouble || wanted.last != seen.last || wanted.waiting != seen.waiting ||
                          wanted.last_manual != seen.last_manual || wanted.starting.size() > seen.starting.size();
  return is_awaited ? CallClass::write : CallClass::remove;
}

// While a call waits for its turn, what becomes due or happens is looked at, and may make another call of it.
void Controller::plan(const std::string& identity, CallClass of) {
  Progress& progress = progress_[identity];
  if (!progress.waits || progress.waits_as != of) {
    if (progress.waits) {
      limiter_.withdraw(*progress.waits);
      planned_.erase(*progress.waits);
    }
    progress.waits = ++last_id_;
    progress.waits_as = of;
    planned_.emplace(last_id_, identity);
    const Nanoseconds monotonic = world_.clock.monotonic();
    if (progress.calls > 0) {
      limiter_.enqueue_first(of, last_id_, monotonic);
    } else {
      limiter_.enqueue(of, last_id_, monotonic);
    }
  }
  queue_.wait(identity, next_due(identity));
}

std::optional<Instant> Controller::next_due(const std::string& identity) const {
  const CacheEntry* entry = cache_.find(identity);
  if (entry == nullptr || !entry->kron_job || !entry->kron_job->status.next) return std::nullopt;
  const auto chosen = entry->kron_job->status.next->chosen;
  return chosen && *chosen > now() ? chosen : std::nullopt;
}

// Of a run that was started people hear when no other waits to be.
void Controller::release_calls() {
  limiter_.others_work(under_way_ > event_calls_.size() || queue_.has_ready());
  while (under_way_ < options_.calls) {
    const auto released = limiter_.release(world_.clock.monotonic(), options_.calls - under_way_);
    for (const kube::Limiter::Id id : released.dropped) {
      events_.erase(id);
      world_.metrics.event_dropped();
    }
    if (released.now.empty()) return;
    for (const kube::Limiter::Id id : released.now) {
      if (auto event = events_.extract(id)) {
        send_event(event.mapped());
      } else if (auto planned = planned_.extract(id)) {
        make_call(planned.mapped());
      }
    }
  }
}

// What is to be done is asked for only now: time has passed since it was planned, and things have happened.
void Controller::make_call(const std::string& identity) {
  Progress& progress = progress_[identity];
  progress.waits.reset();
  if (progress.then) {
    Step step = *std::exchange(progress.then, std::nullopt);
    return send(identity, std::move(step), {});
  }
  Reconciled found = reconciled_anew(identity);
  if (is_a<Rest>(found.step) || !may_make(found.step)) return rest(identity, found);
  Telling telling = telling_of(identity, found);
  send(identity, std::move(found.step), std::move(telling));
}

kube::ObjectMeta Controller::meta_of(const std::string& identity) const {
  const CacheEntry* entry = cache_.find(identity);
  if (entry != nullptr && entry->kron_job) return entry->kron_job->meta;
  const std::size_t slash = identity.find('/');
  return {.ns = identity.substr(0, slash), .name = identity.substr(slash + 1)};
}

void Controller::send(const std::string& identity, Step step, Telling telling) {
  Progress& progress = progress_[identity];
  ++progress.calls;
  ++under_way_;
  queue_.begin(identity);
  kube::Request request = request_of(step, meta_of(identity), options_.jobs);
  progress.under_way = world_.transport.send(
      std::move(request), kube::Lane::call,
      [this, identity, step = std::move(step), telling = std::move(telling)](const kube::Outcome& outcome) mutable {
        const Step made = std::move(step);  // the callback may be gone before this ends
        take(std::string(identity), made, std::move(telling), outcome);
      });
}

void Controller::take(const std::string& identity, const Step& step, Telling telling, const kube::Outcome& outcome) {
  --under_way_;
  Progress& progress = progress_[identity];
  progress.under_way.reset();
  const kube::Reply reply = kube::reply_of(outcome, left_out_of(step, std::as_const(cache_).kron_job(identity)));
  const auto* answer = std::get_if<kube::Answer>(&reply);
  const auto error = answer != nullptr ? kube::error_in(*answer) : std::nullopt;
  note_link(answer != nullptr);
  if (answer != nullptr && !error && is_a<Open>(step)) tell_opened(identity, std::get<Open>(step));

  Next next = take_answer(cache_, identity, step, reply, now(), world_.zones);

  const bool is_done = answer != nullptr && !error;
  if (is_done) {
    tell(identity, telling);
  } else if (answer == nullptr && is_a<WriteStatus>(step) && !telling.judged.empty()) {
    unconfirmed_.insert_or_assign(identity, std::move(telling));
  }
  if (is_a<ReadKronJob>(step) && (is_done || (error && error->code == 404))) settle_unconfirmed(identity);
  for (const Notice& notice : next.notices) tell_notice(identity, notice);
  if (is_done && is_a<TryTemplate>(step)) tell_ungated(identity);
  obey_retry_after(step, outcome, error);

  if (next.back_off) tell_failure(identity, step, outcome, error);
  if (const std::string act = act_of(step); !act.empty()) {
    progress.repeats = progress.act == act ? progress.repeats + 1 : 1;
    progress.act = act;
  }
  const bool is_in_vain = progress.repeats > kMostRepeats;
  if (is_done && !next.back_off && !is_read(step) && !is_in_vain) queue_.succeeded(identity);
  progress.then = std::move(next.then);
  progress.fails = progress.fails || next.back_off || is_in_vain;
  progress.is_link = progress.is_link || (next.back_off && answer == nullptr);
  if (answer == nullptr) ++progress.lost_answers;
  if (next.retry_after) {
    progress.least_pause = std::max<Nanoseconds>(progress.least_pause, std::min(*next.retry_after, kLongestLeastPause));
  }
  go_on(identity, progress);
}

void Controller::go_on(const std::string& identity, Progress& progress) {
  if (progress.then) return queue_.end(identity);
  // One answer that was lost is made up for by reading. Where all of them are, reading alone would go on for ever.
  if (progress.fails || progress.lost_answers > 1) return back_off(identity, progress);
  if (progress.calls >= kMostCallsInARow) {
    queue_.succeeded(identity);
    return back_off(identity, progress);
  }
  queue_.end(identity);
}

void Controller::back_off(const std::string& identity, Progress& progress) {
  queue_.back_off(
      identity, world_.clock.monotonic(),
      {.least = progress.least_pause, .is_link = progress.is_link, .jitter = random(), .until = next_due(identity)});
  // It is another attempt at the same, when it is the same again.
  progress = Progress{.act = std::move(progress.act), .repeats = progress.repeats};
}

void Controller::obey_retry_after(const Step& step, const kube::Outcome& outcome,
                                  const std::optional<kube::ApiError>& error) {
  if (!error || (error->code != 429 && error->code != 503)) return;
  const auto asked = std::max(error->retry_after, std::get<kube::Response>(outcome).retry_after);
  if (!asked) return;
  const bool can_wait = is_a<Remove>(step) || is_a<TryTemplate>(step);
  limiter_.hold(can_wait ? CallClass::remove : CallClass::write,
                world_.clock.monotonic() + std::min(*asked, kLongestHold));
}

// The first answer after none: what waits only because nobody answered need not wait any more.
void Controller::note_link(bool is_answered) {
  if (!is_answered) is_link_down_ = true;
  const Nanoseconds monotonic = world_.clock.monotonic();
  if (!is_answered || !is_link_down_ || monotonic - link_woken_ < kLinkWokenEvery) return;
  is_link_down_ = false;
  link_woken_ = monotonic;
  queue_.link_is_back();
}

}  // namespace kron::kronjobs
