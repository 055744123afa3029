// What the controller tells of what it does: lines of the log, events of the cluster, metrics.
#include <algorithm>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/kube/wire.h"
#include "kron/operator/controller.h"

namespace kron::kronjobs {
namespace {

constexpr std::size_t kMostEventsWaiting = 1000;
constexpr Nanoseconds kFailureEvery = Seconds(1);

std::string_view name_of_step(const Step& step) {
  constexpr std::string_view kNames[] = {"create", "dry-run",    "write status",   "open",
                                         "remove", "read a Job", "read a KronJob", "rest"};
  static_assert(std::size(kNames) == std::variant_size_v<Step>);
  return kNames[step.index()];
}

std::string failure_text(const kube::Outcome& outcome, const std::optional<kube::ApiError>& error) {
  if (error) return error->message;
  const auto* broken = std::get_if<kube::Broken>(&outcome);
  return broken != nullptr ? broken->message : std::string("the API server sent something that cannot be read");
}

}  // namespace

Controller::Telling Controller::telling_of(const std::string& identity, const Reconciled& found) const {
  Telling telling{.notices = found.notices};
  const auto* write = std::get_if<WriteStatus>(&found.step);
  const CacheEntry* entry = cache_.find(identity);
  if (write == nullptr || entry == nullptr || !entry->kron_job) return telling;
  const std::vector<PeriodNote>& before = entry->kron_job->status.recent;
  for (const PeriodNote& note : write->status.recent) {
    if (std::ranges::find(before, note) == before.end()) telling.judged.push_back(note);
  }
  telling.starting = write->status.starting;
  return telling;
}

void Controller::tell(const std::string& identity, const Telling& telling) {
  for (const Notice& notice : telling.notices) tell_notice(identity, notice);
  for (const PeriodNote& note : telling.judged) {
    if (!note.outcome) continue;
    world_.metrics.period_ended(name_of(*note.outcome), note.reason);
    // One that no gate of ours holds has started already.
    const bool is_gated =
        std::ranges::find(telling.starting, std::optional(note.period), &Starting::period) != telling.starting.end();
    if (*note.outcome == Outcome::executed && !is_gated && note.chosen) {
      world_.metrics.job_started(world_.clock.wall() - *note.chosen);
    }
  }
}

void Controller::settle_unconfirmed(const std::string& identity) {
  const auto found = unconfirmed_.find(identity);
  if (found == unconfirmed_.end()) return;
  const Telling telling = std::move(found->second);
  unconfirmed_.erase(found);
  const CacheEntry* entry = std::as_const(cache_).find(identity);
  if (entry == nullptr || !entry->kron_job) return;
  const std::vector<PeriodNote>& recent = entry->kron_job->status.recent;
  if (std::ranges::find(recent, telling.judged.front()) != recent.end()) tell(identity, telling);
}

void Controller::tell_notice(const std::string& identity, const Notice& notice) {
  const auto verdict = notice_limit_.judge(identity, notice, world_.clock.monotonic());
  if (verdict == NoticeLimit::Verdict::repeated) return;
  const LogField fields[] = {{"job", identity}, {"reason", notice.reason}, {"message", notice.message}};
  const LogLevel level = notice.is_warning ? LogLevel::warning : LogLevel::info;
  world_.log.write(level, "kronjob_notice", fields);
  if (verdict != NoticeLimit::Verdict::told || events_.size() >= kMostEventsWaiting) return;
  const kube::Limiter::Id id = ++last_id_;
  events_.emplace(id, EventToTell{meta_of(identity), notice, world_.clock.wall()});
  limiter_.enqueue(kube::CallClass::event, id, world_.clock.monotonic());
}

// Nobody waits for its answer, and it is not sent again.
void Controller::send_event(const EventToTell& event) {
  ++under_way_;
  kube::Request request = event_request(event.kron_job, event.notice, event.at, reporter_);
  const auto id = std::make_shared<kube::Transport::Id>();
  *id = world_.transport.send(std::move(request), kube::Lane::call, [this, id](const kube::Outcome&) {
    --under_way_;
    event_calls_.erase(*id);
  });
  event_calls_.insert(*id);
}

void Controller::tell_opened(const std::string& identity, const Open& opened) {
  const CacheEntry* entry = std::as_const(cache_).find(identity);
  if (entry == nullptr) return;
  const auto job = std::ranges::find_if(entry->jobs, [&](const JobView& j) { return j.meta.uid == opened.uid; });
  if (job == entry->jobs.end() || !job->chosen) return;
  world_.metrics.job_started(world_.clock.wall() - *job->chosen);
}

void Controller::tell_failure(const std::string& identity, const Step& step, const kube::Outcome& outcome,
                              const std::optional<kube::ApiError>& error) {
  ++failures_untold_;
  const Nanoseconds monotonic = world_.clock.monotonic();
  if (failure_told_ && monotonic - *failure_told_ < kFailureEvery) return;
  failure_told_ = monotonic;
  const std::int64_t others = std::exchange(failures_untold_, 0) - 1;
  world_.log.warning("call_failed", {{"job", identity},
                                     {"step", name_of_step(step)},
                                     {"code", error ? error->code : 0},
                                     {"message", failure_text(outcome, error)},
                                     {"others", others}});
}

void Controller::tell_ungated(const std::string& identity) {
  const CacheEntry* entry = std::as_const(cache_).find(identity);
  if (is_ungated_ || entry == nullptr || !entry->trial || entry->trial->gate != GateKind::ungated) return;
  is_ungated_ = true;
  world_.log.warning("ungated", {{"job", identity},
                                 {"message",
                                  "the API server does not know spec.suspend of Jobs (before 1.22): the name is the "
                                  "only lock, and a Job that is deleted before it is recorded may run twice"}});
}

}  // namespace kron::kronjobs
