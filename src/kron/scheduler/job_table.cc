#include "kron/scheduler/job_table.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace kron {
namespace {

// What most jobs have between two runs: nothing but when they were first seen and last handled.
bool is_little(const KnownJob& known) {
  const JobState& periods = known.periods;
  return known.active.empty() && known.last_boot_id.empty() && periods.open_periods.empty() &&
         periods.passed_over.empty() && !periods.first_seen_is_floor && !periods.suspended && !periods.schedule &&
         periods.failures_in_a_row == 0;
}

std::size_t mixed(std::initializer_list<std::uint64_t> parts) {
  std::uint64_t hash = 0;
  for (const std::uint64_t part : parts) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

// Of what usually differs. What differs in something else alone meets in one bucket, and is compared there.
std::size_t JobTable::HashOf::operator()(const Schedule& schedule) const {
  return mixed({schedule.seconds, schedule.minutes, std::uint64_t{schedule.hours} << 32 | schedule.days,
                std::uint64_t{schedule.months} << 16 | schedule.weekdays, schedule.nth_weekdays,
                static_cast<std::uint64_t>(schedule.every.count())});
}

std::size_t JobTable::HashOf::operator()(const Job& terms) const {
  return mixed({hash_of(terms.zone.name()), hash_of(terms.salt),
                static_cast<std::uint64_t>(terms.window.duration.count()),
                std::uint64_t{static_cast<std::uint8_t>(terms.window.mode)} << 8 |
                    static_cast<std::uint8_t>(terms.distribution.kind),
                static_cast<std::uint64_t>(terms.policy.deadline.count()),
                std::uint64_t{terms.constraints.only.hours} << 32 | terms.constraints.avoid.hours,
                std::uint64_t{terms.constraints.only.weekdays} << 32 | terms.constraints.avoid.weekdays});
}

// Many small additions must not each move all that is there.
void JobTable::reserve(std::size_t more) {
  const std::size_t wanted = slots_.size() + more;
  if (wanted > slots_.capacity()) slots_.reserve(std::max(wanted, slots_.capacity() + slots_.capacity() / 2));
  index_.reserve(index_.size() + more);
}

void JobTable::pack(Slot& slot, jobs::JobDefinition&& definition) {
  slot.identity = std::exchange(definition.job.identity, {});
  slot.action = std::move(definition.action);
  slot.schedule = schedules_.share(definition.job.schedule);
  definition.job.schedule = {};
  slot.terms = terms_.share(definition.job);
  slot.options = std::move(definition.options);
  slot.file = std::move(definition.file);
  slot.schedule_text = std::move(definition.schedule_text);
  slot.pause = std::move(definition.pause);
  slot.line = definition.line;
  slot.spelling = definition.spelling;
}

void JobTable::pack(Slot& slot, KnownJob&& known) {
  if (!is_little(known)) {
    if (slot.more == nullptr) slot.more = std::make_unique<KnownJob>();
    *slot.more = std::move(known);
    return;
  }
  slot.more.reset();
  slot.has_last_handled = known.periods.last_handled.has_value();
  slot.has_first_seen = known.periods.first_seen.has_value();
  slot.last_handled = known.periods.last_handled.value_or(Instant());
  slot.first_seen = known.periods.first_seen.value_or(Instant());
  slot.first_seen_reach = known.periods.first_seen_reach;
}

void JobTable::unpack(const Slot& slot, jobs::JobDefinition& definition) {
  definition.job = *slot.terms;
  definition.job.schedule = *slot.schedule;
  definition.job.identity = slot.identity;
  definition.action = slot.action;
  definition.options = slot.options;
  definition.file = slot.file;
  definition.schedule_text = slot.schedule_text;
  definition.pause = slot.pause;
  definition.line = slot.line;
  definition.spelling = slot.spelling;
}

void JobTable::unpack(const Slot& slot, KnownJob& known) {
  if (slot.more != nullptr) {
    known = *slot.more;
    return;
  }
  known = {};
  if (slot.has_last_handled) known.periods.last_handled = slot.last_handled;
  if (slot.has_first_seen) known.periods.first_seen = slot.first_seen;
  known.periods.first_seen_reach = slot.first_seen_reach;
}

JobTable::Number JobTable::add(jobs::JobDefinition&& definition, KnownJob&& known) {
  auto job = static_cast<Number>(slots_.size());
  if (free_.empty()) {
    slots_.emplace_back();
  } else {
    job = free_.back();
    free_.pop_back();
  }
  Slot& slot = slots_[job];
  index_.insert(hash_of(definition.job.identity), job);
  pack(slot, std::move(definition));
  pack(slot, std::move(known));
  slot.state = State::wanted;
  return job;
}

void JobTable::replace(Number job, jobs::JobDefinition definition) {
  Slot& slot = slots_[job];
  if (slot.state == State::removed) --removed_;
  slot.state = State::wanted;
  if (slot.awake != nullptr) slot.awake->definition = definition;
  pack(slot, std::move(definition));
}

void JobTable::remove(Number job) {
  slots_[job].state = State::removed;
  ++removed_;
}

void JobTable::erase(Number job) {
  Slot& slot = slots_[job];
  index_.erase(hash_of(slot.identity), job);
  --removed_;
  std::erase(awake_, job);
  slot = Slot();
  free_.push_back(job);
}

JobTable::Entry& JobTable::wake(Number job) {
  Slot& slot = slots_[job];
  if (slot.awake != nullptr) return *slot.awake;
  if (spare_.empty()) {
    slot.awake = std::make_unique<Entry>();
  } else {
    slot.awake = std::move(spare_.back());
    spare_.pop_back();
  }
  unpack(slot, slot.awake->definition);
  unpack(slot, slot.awake->known);
  awake_.push_back(job);
  return *slot.awake;
}

void JobTable::let_rest() {
  for (const Number job : awake_) {
    Slot& slot = slots_[job];
    slot.awake->is_kept = slot.awake->waiting != nullptr;
    if (slot.awake->is_kept) continue;
    pack(slot, std::move(slot.awake->known));
    spare_.push_back(std::move(slot.awake));
  }
  awake_.clear();
  if (spare_.size() > kMostAwake) spare_.resize(kMostAwake);
}

WaitingRun JobTable::take_waiting(Number job) {
  Entry& entry = wake(job);
  if (std::exchange(entry.is_kept, false)) awake_.push_back(job);
  return std::move(*std::exchange(entry.waiting, nullptr));
}

void JobTable::tidy() {
  schedules_.drop_unused();
  terms_.drop_unused();
}

std::optional<JobTable::Number> JobTable::find(std::string_view identity) const {
  return index_.find(hash_of(identity), [&](Number job) { return slots_[job].identity == identity; });
}

jobs::JobDefinition JobTable::definition(Number job) const {
  jobs::JobDefinition definition;
  unpack(slots_[job], definition);
  return definition;
}

KnownJob JobTable::known(Number job) const {
  if (const KnownJob* more = more_of(slots_[job])) return *more;
  KnownJob known;
  unpack(slots_[job], known);
  return known;
}

const KnownJob* JobTable::more_of(const Slot& slot) {
  return slot.awake != nullptr ? &slot.awake->known : slot.more.get();
}

bool JobTable::Glance::at(Number job) {
  const Slot& slot = table_.slots_[job];
  if (slot.state != State::wanted || more_of(slot) != nullptr) return false;
  job_ = &jobs_.try_emplace(slot.terms.get(), *slot.terms).first->second;
  job_->identity = slot.identity;
  job_->schedule = *slot.schedule;
  periods_.last_handled = slot.has_last_handled ? std::optional(slot.last_handled) : std::nullopt;
  periods_.first_seen = slot.has_first_seen ? std::optional(slot.first_seen) : std::nullopt;
  periods_.first_seen_reach = slot.first_seen_reach;
  return true;
}

bool JobTable::has_runs(Number job) const {
  const KnownJob* more = more_of(slots_[job]);
  return more != nullptr && !more->active.empty();
}

bool JobTable::has_open_or_passed_over(Number job) const {
  const KnownJob* more = more_of(slots_[job]);
  return more != nullptr && (!more->periods.open_periods.empty() || !more->periods.passed_over.empty());
}

std::optional<Instant> JobTable::last_handled(Number job) const {
  const Slot& slot = slots_[job];
  if (const KnownJob* more = more_of(slot)) return more->periods.last_handled;
  return slot.has_last_handled ? std::optional(slot.last_handled) : std::nullopt;
}

std::optional<Instant> JobTable::first_seen(Number job) const {
  const Slot& slot = slots_[job];
  if (const KnownJob* more = more_of(slot)) return more->periods.first_seen;
  return slot.has_first_seen ? std::optional(slot.first_seen) : std::nullopt;
}

}  // namespace kron
