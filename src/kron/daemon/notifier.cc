#include "kron/daemon/notifier.h"

#include <algorithm>

#include "kron/base/rfc3339.h"
#include "kron/daemon/late_look.h"
#include "kron/json/alarm_json.h"

namespace kron::daemon {
namespace {

// 10 s, doubled up to an hour: nine pauses of 85 minutes together, and 23 of an hour each, are a day.
constexpr RetryPolicy kForADay{.max_attempts = 33, .backoff = Seconds(10), .most_backoff = Seconds(3600)};
constexpr Seconds kOneDelivery{120};
constexpr Seconds kBetweenSubmits{1};
constexpr Nanoseconds kNothingToDo = std::chrono::hours(1);
// The clock that jobs go by may be set while we wait.
constexpr Nanoseconds kLongestWait = std::chrono::minutes(1);

// Another try cannot help.
bool is_final(const Error& error) { return error.code == Code::invalid || error.code == Code::internal; }

}  // namespace

std::vector<NewTask> tasks_of(const std::string& identity, const AlarmMessage& message, const std::string& host) {
  std::vector<NewTask> tasks;
  for (const std::string& to : message.to) {
    tasks.push_back({.id = notify_task_id(identity, message, to),
                     .type = std::string(kNotifyTaskType),
                     .data = notify_payload(identity, message, to, host),
                     .retry = kForADay,
                     .timeout = kOneDelivery});
  }
  return tasks;
}

void Notifier::take(const Event& event) {
  if (const auto* owed = std::get_if<MessageOwed>(&event)) return submit({owed->identity, owed->message});
  if (late_.empty()) return;
  if (const auto* started = std::get_if<RunStarted>(&event)) return touch(started->identity);
  if (const auto* adopted = std::get_if<RunAdopted>(&event)) return touch(adopted->identity);
  if (const auto* ended = std::get_if<RunEnded>(&event)) return touch(ended->identity);
}

void Notifier::touch(const std::string& identity) {
  if (late_.contains(identity)) touched_.insert(identity);
}

void Notifier::prepare(const std::vector<jobs::JobDefinition>& definitions) {
  for (const jobs::JobDefinition& definition : definitions) {
    const std::optional<AlarmTerms>& terms = definition.options->notify;
    is_wanted_ = is_wanted_ || terms.has_value();
    if (!terms || !terms->late) continue;
    late_.try_emplace(definition.job.identity);
    touched_.insert(definition.job.identity);
  }
}

// What is on its way already is told again by a ledger that others share.
void Notifier::submit(Owed owed) {
  if (!on_their_way_.emplace(owed.identity, key_of(owed.message)).second) return;
  std::vector<NewTask> tasks = tasks_of(owed.identity, owed.message, world_.host);
  world_.submit(std::move(tasks), [this, owed = std::move(owed)](const auto& answers) {
    world_.on_loop([this, owed, answers] { take_answers(owed, answers); });
  });
}

void Notifier::take_answers(const Owed& owed, const std::vector<Result<SubmitAnswer>>& answers) {
  const std::string key = key_of(owed.message);
  on_their_way_.erase({owed.identity, key});
  const auto refused =
      std::ranges::find_if(answers, [](const auto& answer) { return !answer && !is_final(answer.error()); });
  if (refused != answers.end()) {
    // Said once for each reason.
    const std::string why = refused->error().message;
    if (std::exchange(waits_because_, why) != why) {
      world_.log.error("notification_waits", {{"identity", owed.identity}, {"reason", why}});
    }
    again_.push_back(owed);
    again_at_ = world_.clock.monotonic() + kBetweenSubmits;
    return;
  }
  waits_because_.clear();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    // A conflict is ours, too: another program, or another host, has spelled the same message in another way.
    const std::string period = rfc3339(owed.message.sign.period);
    const std::string task = notify_task_id(owed.identity, owed.message, owed.message.to[i]);
    const LogField to{"to", owed.message.to[i]};
    const LogField kind{"kind", name_of(owed.message.sign.kind)};
    if (answers[i]) {
      world_.log.info("notification_submitted", {{"identity", owed.identity},
                                                 kind,
                                                 {"periodId", period},
                                                 to,
                                                 {"task", task},
                                                 {"outcome", name_of(answers[i]->outcome)}});
    } else {
      world_.log.error("notification_refused", {{"identity", owed.identity},
                                                kind,
                                                {"periodId", period},
                                                to,
                                                {"task", task},
                                                {"reason", answers[i].error().message}});
    }
  }
  world_.note(owed.identity, {.paid = {key}});
}

void Notifier::look(const std::string& identity, Instant now) {
  const auto known = late_.find(identity);
  if (known == late_.end()) return;
  Watched& watched = known->second;
  if (watched.check) checks_.erase({*watched.check, identity});
  watched.check.reset();
  const auto view = world_.view(identity);
  if (!view || !view->definition.options->notify || !view->definition.options->notify->late) {
    late_.erase(known);
    return;
  }
  LateLook found = look_for_late(*view, now);
  std::set<Instant> told;
  AlarmNotes notes;
  for (AlarmSign& sign : found.signs) {
    told.insert(sign.period);
    if (!watched.told.contains(sign.period)) notes.signs.push_back(std::move(sign));
  }
  watched.told = std::move(told);
  watched.check = found.check;
  if (found.check) checks_.emplace(*found.check, identity);
  if (notes.empty()) return;
  world_.note(identity, std::move(notes));
  has_noted_ = true;
}

Nanoseconds Notifier::tick() {
  const Nanoseconds present = world_.clock.monotonic();
  if (!again_.empty() && present >= again_at_) {
    for (Owed& owed : std::exchange(again_, {})) submit(std::move(owed));
  }
  const Instant at = now(world_.clock);
  for (const std::string& identity : std::exchange(touched_, {})) look(identity, at);
  while (!checks_.empty() && checks_.begin()->first <= at) look(std::string(checks_.begin()->second), at);
  if (std::exchange(has_noted_, false)) return present;  // the scheduler's next turn writes it
  Nanoseconds next = present + kNothingToDo;
  if (!again_.empty()) next = again_at_;
  if (!checks_.empty()) {
    const Nanoseconds wait = std::min<Nanoseconds>(checks_.begin()->first - at, kLongestWait);
    next = std::min(next, present + wait);
  }
  return next;
}

}  // namespace kron::daemon
