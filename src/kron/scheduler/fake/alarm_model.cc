#include "kron/scheduler/fake/alarm_model.h"

#include <algorithm>
#include <utility>

namespace kron::testing {
namespace {

// Nothing that has ended before this step is late any more.
bool can_be_late(const LedgerStep& step, Instant period) {
  const JobState& periods = step.now.periods;
  if (!periods.last_handled || period > *periods.last_handled) return true;
  if (std::ranges::count(periods.open_periods, period) != 0) return true;
  for (const ActiveExecution& run : step.now.active) {
    if (run.trigger != Trigger::manual && run.period == period) return true;
  }
  for (const HistoryEntry& entry : step.history) {
    if (entry.trigger != Trigger::manual && entry.period == period) return true;
  }
  return false;
}

}  // namespace

void AlarmModel::owe(const AlarmTerms& terms, AlarmKind kind, Instant period, std::uint32_t number) {
  AlarmMessage message;
  message.sign.kind = kind;
  message.sign.period = period;
  message.first = first_.value();
  message.number = number;
  owed_.push_back({key_of(message), terms.to});
}

void AlarmModel::go_bad(const AlarmTerms& terms, AlarmKind kind, Instant period, Instant at) {
  if (std::ranges::count(terms.on, kind) == 0) return;
  if (last_ != period) ++bad_;
  last_ = period;
  if (!first_) first_ = period;
  const bool opens = !is_open_ && (bad_ >= terms.after || kind == AlarmKind::late);
  const bool repeats = is_open_ && terms.repeat && at - told_at_ >= *terms.repeat;
  if (!opens && !repeats) return;
  owe(terms, kind, period, std::exchange(times_, times_ + 1));
  is_open_ = true;
  told_at_ = at;
}

void AlarmModel::go_well(const AlarmTerms& terms, Instant period) {
  const bool is_wanted = std::ranges::count(terms.on, AlarmKind::recovered) != 0;
  if (is_open_ && is_wanted) owe(terms, AlarmKind::recovered, period, 0);
  forget();
}

std::vector<AlarmModel::Message> AlarmModel::take(const LedgerStep& step) {
  std::erase_if(owed_,
                [&](const Message& message) { return std::ranges::count(step.alarm_notes.paid, message.key) != 0; });
  const std::size_t before = owed_.size();
  if (!step.alarm_terms) {
    forget();
    return {};
  }
  for (const AlarmSign& sign : step.alarm_notes.signs) {
    if (can_be_late(step, sign.period)) go_bad(*step.alarm_terms, sign.kind, sign.period, sign.at);
  }
  for (const HistoryEntry& entry : step.history) {
    if (!entry.period || entry.passed_over || entry.trigger == Trigger::manual) continue;
    const Instant at = entry.completed_at;
    if (entry.outcome == Outcome::executed) {
      const bool has_failed = !entry.exit_code || entry.failed.value_or(*entry.exit_code != 0);
      if (has_failed) go_bad(*step.alarm_terms, AlarmKind::failed, *entry.period, at);
      if (!has_failed) go_well(*step.alarm_terms, *entry.period);
    } else if (entry.outcome == Outcome::missed) {
      go_bad(*step.alarm_terms, AlarmKind::missed, *entry.period, at);
    } else if (entry.outcome == Outcome::unschedulable && entry.reason != Reason::excluded) {
      go_bad(*step.alarm_terms, AlarmKind::unschedulable, *entry.period, at);
    }
  }
  return {owed_.begin() + static_cast<std::ptrdiff_t>(before), owed_.end()};
}

void AlarmModel::forget() {
  std::vector<Message> owed = std::move(owed_);
  *this = AlarmModel();
  owed_ = std::move(owed);
}

bool AlarmModel::is_told_by(const std::optional<Alarm>& alarm) const {
  const Alarm told = alarm.value_or(Alarm{});
  const auto is_same = [](const Message& ours, const AlarmMessage& theirs) {
    return ours.key == key_of(theirs) && ours.to == theirs.to;
  };
  return told.bad == bad_ && told.first == first_ && told.last == last_ && told.is_open == is_open_ &&
         told.told == times_ && std::ranges::equal(owed_, told.owed, is_same);
}

}  // namespace kron::testing
