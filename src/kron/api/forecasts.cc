#include "kron/api/forecasts.h"

#include <chrono>
#include <utility>

#include "kron/api/answer_tag.h"
#include "kron/api/paths.h"

namespace kron::api {
namespace {

std::string full_key(const Parts& parts, const CallPtr& call, const Forecasts::Question& question) {
  const auto minute = std::chrono::floor<std::chrono::minutes>(now(parts.clock)).time_since_epoch().count();
  return std::to_string(parts.scheduler.generation()) + " " + std::to_string(minute) + " " +
         std::to_string(static_cast<int>(right_of(call->request.principal))) + " " + question.key;
}

}  // namespace

void Forecasts::ask(const CallPtr& call, Question question) {
  auto asked = std::make_shared<Question>(std::move(question));
  parts_.on_loop([this, call, asked] { begin(call, std::move(*asked)); });
}

std::size_t Forecasts::under_way() const {
  const std::scoped_lock lock(mutex_);
  return under_way_.size();
}

std::size_t Forecasts::bytes_kept() const {
  const std::scoped_lock lock(mutex_);
  return bytes_kept_;
}

void Forecasts::begin(const CallPtr& call, Question question) {
  const bool may_be_known = call->request.method == "GET";
  if (may_be_known && call->is_known_by(tag_of_jobs(parts_, *call, question.same_for))) return;
  std::string key = full_key(parts_, call, question);
  if (auto forecast = known(key)) {
    // The loop does not spend its time on texts.
    const bool taken = parts_.aside([call, forecast, answer = question.answer] { answer(call, forecast); });
    if (!taken) call->refuse(too_busy());
    return;
  }
  bool is_new = false;
  const UnderWayPtr work = join(call, std::move(key), std::move(question), is_new);
  if (!work) return call->refuse(too_busy());
  call->on_gone([this, known = std::weak_ptr(work), asker = call.get()] {
    if (const UnderWayPtr left = known.lock()) leave(left, asker);
  });
  if (is_new) gather(work);
}

std::shared_ptr<const Forecast> Forecasts::known(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
    if (kept->key != key) continue;
    kept_.splice(kept_.begin(), kept_, kept);
    return kept->forecast;
  }
  return nullptr;
}

Forecasts::UnderWayPtr Forecasts::join(const CallPtr& call, std::string key, Question question, bool& is_new) {
  const std::scoped_lock lock(mutex_);
  auto found = under_way_.find(key);
  if (found == under_way_.end()) {
    if (under_way_.size() >= kMostUnderWay) return nullptr;
    auto work = std::make_shared<UnderWay>();
    work->key = key;
    work->question = std::move(question);
    work->generation = parts_.scheduler.generation();
    found = under_way_.emplace(std::move(key), std::move(work)).first;
    is_new = true;
  }
  found->second->askers.emplace(call.get(), call);
  return found->second;
}

void Forecasts::leave(const UnderWayPtr& work, const Call* call) {
  CallPtr gone;  // is let go when the lock is
  const std::scoped_lock lock(mutex_);
  const auto asker = work->askers.find(call);
  if (asker == work->askers.end()) return;
  gone = std::move(asker->second);
  work->askers.erase(asker);
  if (!work->askers.empty()) return;
  // Who asks the same from now on has it computed anew: this one stops somewhere in the middle.
  work->is_wanted = false;
  under_way_.erase(work->key);
}

// The definitions of all jobs, a few in each turn of the loop.
void Forecasts::gather(const UnderWayPtr& work) {
  if (!work->is_wanted || is_stopping_) return;
  auto found = parts_.scheduler.views(
      {.first = work->at, .most_views = kLooksAtOnce, .most_looks = kLooksAtOnce, .has_name = work->question.has_name});
  for (auto& view : found.views) {
    if (work->question.keeps && !work->question.keeps(view)) continue;
    work->definitions.push_back(std::move(view.definition));
  }
  if (work->definitions.size() > kMostJobs) {
    return refuse(work, {Code::refused, "there are more than " + std::to_string(kMostJobs) +
                                            " jobs; `kron simulate` on their files answers the same"});
  }
  if (found.next) {
    work->at = *found.next;
    return parts_.on_loop([this, work] { gather(work); });
  }
  // What was gathered while the jobs changed is of neither set.
  if (work->generation != parts_.scheduler.generation()) work->generation = 0;
  if (!parts_.ahead([this, work] { compute(work); })) refuse(work, too_busy());
}

void Forecasts::compute(const UnderWayPtr& work) {
  const LookLimit limit{.periods = kMostPeriodsAsked,
                        .is_wanted = [this, work = work.get()] { return work->is_wanted && !is_stopping_; }};
  if (!limit.is_wanted()) return;
  Made made = work->question.compute(work->definitions, limit);
  work->definitions = {};
  if (!made) return refuse(work, made.error());
  if (work->generation != 0) keep(work->key, *made);
  for (const CallPtr& call : finish(work)) work->question.answer(call, *made);
}

std::vector<CallPtr> Forecasts::finish(const UnderWayPtr& work) {
  const std::scoped_lock lock(mutex_);
  std::vector<CallPtr> askers;
  for (auto& [call, asker] : work->askers) askers.push_back(std::move(asker));
  work->askers.clear();
  const auto found = under_way_.find(work->key);
  if (found != under_way_.end() && found->second == work) under_way_.erase(found);
  return askers;
}

void Forecasts::refuse(const UnderWayPtr& work, const Error& error) {
  for (const CallPtr& call : finish(work)) call->refuse(error);
}

void Forecasts::keep(std::string key, std::shared_ptr<const Forecast> forecast) {
  const std::size_t bytes = forecast->bytes();
  if (bytes > kMostBytesOfOne) return;
  const std::scoped_lock lock(mutex_);
  bytes_kept_ += bytes;
  kept_.push_front({std::move(key), std::move(forecast)});
  while (kept_.size() > kMostKept || bytes_kept_ > kMostBytesKept) {
    bytes_kept_ -= kept_.back().forecast->bytes();
    kept_.pop_back();
  }
}

}  // namespace kron::api
